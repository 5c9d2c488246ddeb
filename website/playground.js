// The playground in its frame: the page's address says which view, as that of the file alone does.
(() => {
  const frame = document.getElementById("playground-frame");
  const alone = document.getElementById("alone");
  const waiting = document.getElementById("waiting");
  const file = alone.getAttribute("href");

  // From disk, a browser may not let this page look into the frame.
  const shownView = () => {
    try {
      return frame.contentWindow.location.hash;
    } catch {
      return location.hash;
    }
  };

  frame.addEventListener("load", () => { waiting.hidden = true; });
  frame.src = file + location.hash;
  window.addEventListener("hashchange", () => { frame.src = file + location.hash; });
  alone.addEventListener("click", () => { alone.href = file + shownView(); });
})();
