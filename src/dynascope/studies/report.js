"use strict";
// The report's only script. A point is a link to `runs/SOURCE/#v=1&run=ID&t=EPOCH`. Where
// `dynascope show` serves the page, following it opens the run; a page from disk shows the command
// that does so.
(() => {
  const ADDRESS = /^runs\/([\w.-]+)\/#v=1&run=([0-9a-f]+)&t=(\d+)$/;
  const served = document.documentElement.hasAttribute("data-served");
  const box = document.getElementById("run-box");
  const [title, command, copy, close] = ["h2", ".command", ".copy", ".close"].map((each) =>
    box.querySelector(each),
  );
  let opener = null;

  const told = (link) => {
    const [, source, id, epoch] = ADDRESS.exec(link.getAttribute("href")) ?? [];
    return id && { source, id, epoch };
  };

  /** The folder of this page, as a shell takes it. */
  const folder = () => {
    if (location.protocol !== "file:") return "FOLDER";
    const path = decodeURIComponent(location.pathname.replace(/\/[^/]*$/, ""));
    return path.replace(/^\/([A-Za-z]:)/, "$1") || ".";
  };

  const quoted = (text) => (/^[\w\/:.,@%+#~-]+$/.test(text) ? text : `'${text.replace(/'/g, "'\\''")}'`);

  const show = (link) => {
    const run = told(link);
    opener = link;
    title.textContent = `Run ${run.id.slice(0, 8)} of ${run.source}, epoch ${run.epoch}`;
    const where = `${folder()}/runs/${run.source}#${run.id}@${run.epoch}`;
    command.textContent = `dynascope show ${quoted(where)}`;
    copy.textContent = "Copy";
    box.hidden = false;
    copy.focus({ preventScroll: true });
  };

  const hide = () => {
    box.hidden = true;
    opener?.focus({ preventScroll: true });
  };

  const copied = async () => {
    try {
      await navigator.clipboard.writeText(command.textContent);
      copy.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(command); // to be copied by hand
      copy.textContent = "Press Ctrl-C";
    }
  };

  const pointOf = (event) => event.target.closest?.("a.run") ?? null;

  addEventListener("click", (event) => {
    const link = pointOf(event);
    if (!link || served) return;
    event.preventDefault();
    show(link);
  });

  // Which run a point is, as its tooltip and its name; written when somebody comes near.
  const name = (event) => {
    const link = pointOf(event);
    const run = link && !link.hasAttribute("aria-label") && told(link);
    if (!run) return;
    const text = `run ${run.id.slice(0, 8)}, epoch ${run.epoch}`;
    link.setAttribute("aria-label", text);
    const tip = document.createElementNS(link.namespaceURI, "title");
    link.prepend(tip);
    tip.textContent = text;
  };
  addEventListener("pointerover", name);
  addEventListener("focusin", name);

  // A thousand points are one stop of the Tab key; arrows go from point to point.
  for (const figure of document.querySelectorAll("figure")) {
    const points = [...figure.querySelectorAll("a.run")];
    points.slice(1).forEach((point) => point.setAttribute("tabindex", "-1"));
    figure.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      const at = points.indexOf(pointOf(event));
      if (!step || at < 0) return;
      event.preventDefault();
      points[(at + step + points.length) % points.length].focus();
    });
  }

  copy.addEventListener("click", copied);
  close.addEventListener("click", hide);
  addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !box.hidden) hide();
  });
})();
