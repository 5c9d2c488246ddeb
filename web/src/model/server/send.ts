// Who answers the page's questions. All that the page and its workers want to know they ask for by a
// path of the API: from a server, from an archive in the page (archive.ts), or from somebody at the
// other end of a port (relay.ts).

export interface Asked {
  range: readonly [first: number, end: number] | null; // of bytes; an answer with all will do
  signal: AbortSignal | null;
}

/** Asks for a path, such as `/api/store`. It fails where no answer comes. */
export type Send = (path: string, asked: Asked) => Promise<Response>;

/** `origin`: "" is the page's own. */
export function fromServer(origin = ""): Send {
  return (path, { range, signal }) => {
    const headers: Record<string, string> = range
      ? { Range: `bytes=${range[0]}-${range[1] - 1}` }
      : {};
    return fetch(origin + path, { headers, signal });
  };
}
