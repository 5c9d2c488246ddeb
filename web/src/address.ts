// The page's address: it says the whole view, a moment after that has changed. An address from
// elsewhere (a link, the history, typing) wins over what was still to be written.

const PAUSE = 150; // milliseconds: browsers allow some hundred changes in half a minute

let known = location.hash; // as it was last read or written here
let timer = 0;

export function followAddress(follow: () => void): void {
  addEventListener("hashchange", () => {
    if (location.hash === known) return;
    clearTimeout(timer);
    known = location.hash;
    follow();
  });
}

export function writeAddress(fragment: string): void {
  clearTimeout(timer);
  timer = setTimeout(() => {
    if (location.hash !== known) return; // a newer one is there, its event on its way
    history.replaceState(null, "", fragment);
    known = location.hash; // browsers escape more than is necessary
  }, PAUSE);
}
