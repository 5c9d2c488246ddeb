// The page's address: it says the whole view, a moment after that has changed. An address from
// elsewhere (a link, the history, typing) wins over what was still to be written.

const SOON = 50; // milliseconds
const APART = 320; // between two changes: Safari allows a hundred in half a minute

let known = location.hash; // as it was last read or written here
let place: string | null = null; // to which it leads: "back" goes from place to place
let pending: { fragment: string; at: string } | null = null;
let timer = 0; // 0: nothing is to be written
let written = -Infinity; // when it last was

export function followAddress(follow: () => void): void {
  addEventListener("hashchange", () => {
    if (location.hash === known) return;
    pending = null;
    known = location.hash;
    place = null; // the next to be written is this one
    follow();
  });
}

/** Whether the page has an address that people see: one that lies in a frame as text has none. */
const hasAddress = location.protocol !== "about:";

/** `at`: the run or page that is seen; the history has an entry for each. */
export function writeAddress(fragment: string, at: string): void {
  if (!hasAddress) return;
  pending = { fragment, at };
  timer ||= setTimeout(write, Math.max(SOON, written + APART - performance.now()));
}

function write(): void {
  timer = 0;
  if (!pending || location.hash !== known) return; // a newer one is there, its event on its way
  const { fragment, at } = pending;
  if (place === null || place === at) history.replaceState(null, "", fragment);
  else history.pushState(null, "", fragment);
  place = at;
  written = performance.now();
  known = location.hash; // browsers escape more than is necessary
}
