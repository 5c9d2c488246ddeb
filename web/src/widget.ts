// In a notebook's own page: the sandbox in a frame, whose questions go to Python. The module that the
// widget's model (`sandbox/notebook.py`) brings along, as anywidget wants it.

import { ReadableError } from "./model/errors";
import { answerThrough, askThrough, type FromAnswerer, type Port } from "./model/server/relay";
import type { ToAnswerer } from "./model/server/relay";
import type { Send } from "./model/server/send";
import type { LinkedView } from "./state/linked-view";

/** What anywidget gives, as far as it is needed here. */
interface WidgetModel {
  get(name: string): unknown;
  set(name: string, value: unknown): void;
  save_changes(): void;
  send(content: unknown): void;
  on(event: string, listener: (...given: never[]) => void): void;
  off(event: string, listener: (...given: never[]) => void): void;
}

interface Client {
  page: string;
  kernel: ArrayBuffer;
}

const PATIENCE = 30_000; // milliseconds until Python is thought to be gone
const GONE = "Python does not answer: start the notebook's kernel and run this cell again.";
const KERNEL = "/kernel.wasm";

/** Page and kernel, once for all cells of this window. */
const clients: Map<string, Promise<Client>> = ((
  globalThis as unknown as Record<symbol, Map<string, Promise<Client>>>
)[Symbol.for("dynascope.clients")] ??= new Map<string, Promise<Client>>());

function render({ model, el }: { model: WidgetModel; el: HTMLElement }): () => void {
  const python = askPython(model);
  const frame = document.createElement("iframe");
  // Forms, since a form that may not be sent does not even ask the page; its policy lets none leave.
  frame.setAttribute("sandbox", "allow-scripts allow-downloads allow-forms");
  frame.title = "dynascope";
  const resize = (): void =>
    void (frame.style.cssText = `width: 100%; height: ${Number(model.get("height"))}px; border: 0`);
  resize();
  model.on("change:height", resize);
  let unlink = (): void => undefined;
  clientOf(String(model.get("client")), python.send).then(
    ({ page, kernel }) => {
      const send: Send = (path, asked) =>
        path === KERNEL ? Promise.resolve(new Response(kernel.slice(0))) : python.send(path, asked);
      frame.addEventListener("load", () => {
        unlink();
        unlink = connect(frame, model, send);
      });
      frame.srcdoc = page;
      el.append(frame);
    },
    (error: Error) => el.append(error.message),
  );
  return () => {
    unlink();
    python.close();
    model.off("change:height", resize);
  };
}

function clientOf(name: string, send: Send): Promise<Client> {
  const known = clients.get(name) ?? fetchClient(send);
  clients.set(name, known);
  known.catch(() => clients.delete(name)); // the next cell asks again
  return known;
}

async function fetchClient(send: Send): Promise<Client> {
  const bytes = async (path: string): Promise<ArrayBuffer> =>
    (await send(path, { range: null, signal: AbortSignal.timeout(PATIENCE) })).arrayBuffer();
  try {
    const [page, kernel] = await Promise.all([bytes("/page.html"), bytes(KERNEL)]);
    return { page: new TextDecoder().decode(page), kernel };
  } catch {
    throw new ReadableError(GONE);
  }
}

/** Gives the frame who answers it and who follows its view; what it returns ends that. */
function connect(frame: HTMLIFrameElement, model: WidgetModel, send: Send): () => void {
  const [answers, view] = [new MessageChannel(), new MessageChannel()];
  answerThrough(answers.port1, send);
  const link = view.port1;
  const tell = (): void => link.postMessage(viewOf(model));
  link.onmessage = ({ data }: MessageEvent<LinkedView>) => {
    for (const [name, value] of Object.entries(data))
      if (JSON.stringify(model.get(name)) !== JSON.stringify(value)) model.set(name, value);
    model.save_changes();
  };
  model.on("change:epoch", tell);
  model.on("change:marked", tell);
  frame.contentWindow?.postMessage(null, "*", [answers.port2, view.port2]);
  tell();
  return () => {
    model.off("change:epoch", tell);
    model.off("change:marked", tell);
    answers.port1.close();
    link.close();
  };
}

function viewOf(model: WidgetModel): LinkedView {
  return {
    epoch: Number(model.get("epoch")),
    marked: model.get("marked") as LinkedView["marked"],
  };
}

/** Questions to Python, as messages of the widget. */
function askPython(model: WidgetModel): { send: Send; close: () => void } {
  const name = crypto.randomUUID(); // of this view: the model's messages reach all of them
  const port: Port<ToAnswerer, FromAnswerer> = {
    postMessage: (message) => model.send({ ...message, view: name }),
    onmessage: null,
  };
  const receive = (
    said: { id: number; view: string; status?: number; failed?: string },
    [body]: DataView[],
  ): void => {
    if (said.view !== name) return;
    const data: FromAnswerer =
      said.failed === undefined && body
        ? { id: said.id, status: said.status ?? 200, body: bytesOf(body) }
        : { id: said.id, failed: said.failed ?? GONE };
    port.onmessage?.({ data } as MessageEvent<FromAnswerer>);
  };
  model.on("msg:custom", receive);
  return { send: askThrough(port), close: () => model.off("msg:custom", receive) };
}

const bytesOf = ({ buffer, byteOffset, byteLength }: DataView): ArrayBuffer =>
  buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer;

export default { render };
