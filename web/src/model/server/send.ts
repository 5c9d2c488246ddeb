// Who answers the page's questions. All that the page and its workers want to know they ask for by a
// path of the API: from a server, from an archive in the page (archive.ts), or from somebody at the
// other end of a port (relay.ts).

export interface Asked {
  range: readonly [first: number, end: number] | null; // of bytes; an answer with all will do
  signal: AbortSignal | null;
  posted?: Posted; // what goes with it; not everybody takes that (`Offer`)
}

export interface Posted {
  json: string;
  key: string; // of `StoreAnswer.write`
}

/** Asks for a path, such as `/api/store`. It fails where no answer comes. */
export type Send = (path: string, asked: Asked) => Promise<Response>;

/** `place`: the address of the server's folder of runs, without a slash at its end: a server may have
 * several of them, each below a path of its own. */
export function fromServer(place: string): Send {
  return (path, { range, signal, posted }) => {
    if (posted) {
      const headers = { "Content-Type": "application/json", "X-Dynascope-Write": posted.key };
      return fetch(place + path, { method: "POST", body: posted.json, headers, signal });
    }
    const headers: Record<string, string> = range
      ? { Range: `bytes=${range[0]}-${range[1] - 1}` }
      : {};
    return fetch(place + path, { headers, signal });
  };
}
