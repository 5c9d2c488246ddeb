// The project's documentation as HTML. Markdown is parsed by the formatter's own parser, so that
// nothing else need be installed; only what our pages use is written.

import { parsers } from "prettier/plugins/markdown";

/** A node of the parsed text; each kind has some of these. */
interface Node {
  type: string;
  children?: Node[];
  value?: string;
  depth?: number;
  url?: string;
  alt?: string | null;
  ordered?: boolean | null;
  align?: (string | null)[];
}

export interface DocsPage {
  title: string;
  body: string;
  anchors: string[];
}

export async function docsPage(markdown: string): Promise<DocsPage> {
  const parse = parsers.markdown.parse as (text: string, options: object) => unknown;
  const root = (await parse(markdown, {})) as Node;
  const anchors: string[] = [];
  const body = inside(root, anchors);
  const heading = root.children?.find(({ type, depth }) => type === "heading" && depth === 1);
  return { title: heading ? textOf(heading) : "dynascope", body, anchors };
}

function inside({ children = [] }: Node, anchors: string[]): string {
  return children.map((child) => html(child, anchors)).join("");
}

const PLAIN: Readonly<Record<string, string>> = {
  paragraph: "p",
  emphasis: "em",
  strong: "strong",
  blockquote: "blockquote",
  listItem: "li",
};

function html(node: Node, anchors: string[]): string {
  const { type, value = "" } = node;
  const plain = PLAIN[type];
  if (plain) return `<${plain}>${inside(node, anchors)}</${plain}>`;
  switch (type) {
    case "text":
      return escaped(value);
    case "inlineCode":
      return `<code>${escaped(value)}</code>`;
    case "code":
      return `<pre tabindex="0"><code>${escaped(value)}</code></pre>`;
    case "heading":
      return heading(node, anchors);
    case "link":
      return link(node, anchors);
    case "list":
      return node.ordered
        ? `<ol>${inside(node, anchors)}</ol>`
        : `<ul>${inside(node, anchors)}</ul>`;
    case "table":
      return tableOf(node, anchors);
    case "thematicBreak":
      return "<hr>";
    case "break":
      return "<br>";
    case "image":
    case "html": // pictures and remarks for the repository's pages
      return "";
    default:
      throw new Error(`docs: expected markdown that can be written as HTML, but got a ${type}.`);
  }
}

function heading(node: Node, anchors: string[]): string {
  const anchor = anchorOf(textOf(node));
  anchors.push(anchor);
  return `<h${node.depth} id="${escaped(anchor)}">${inside(node, anchors)}</h${node.depth}>`;
}

/** As forges spell it. */
export function anchorOf(title: string): string {
  return title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_\- ]/gu, "")
    .replaceAll(" ", "-");
}

/** Pages beside this one are linked; what lies elsewhere in the repository is not served. */
function link(node: Node, anchors: string[]): string {
  const { url = "" } = node;
  const text = inside(node, anchors);
  if (/^https?:/.test(url)) return `<a href="${escaped(url)}" rel="noreferrer">${text}</a>`;
  const beside = /^([\w-]+)\.md(#.*)?$/.exec(url);
  if (beside) return `<a href="${beside[1]}.html${escaped(beside[2] ?? "")}">${text}</a>`;
  return url.startsWith("#") ? `<a href="${escaped(url)}">${text}</a>` : text;
}

function tableOf({ children = [], align = [] }: Node, anchors: string[]): string {
  const row = (cells: Node, tag: string): string =>
    (cells.children ?? [])
      .map((cell, i) => `<${tag}${sideOf(align[i])}>${inside(cell, anchors)}</${tag}>`)
      .join("");
  const [head, ...rows] = children;
  const body = rows.map((each) => `<tr>${row(each, "td")}</tr>`).join("");
  const above = head && textOf(head).trim() ? `<thead><tr>${row(head, "th")}</tr></thead>` : "";
  return `<div class="table"><table>${above}<tbody>${body}</tbody></table></div>`;
}

const sideOf = (align: string | null | undefined): string =>
  align === "right" ? ' class="right"' : "";

function textOf({ value = "", children = [] }: Node): string {
  return value + children.map(textOf).join("");
}

function escaped(text: string): string {
  const signs: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
  return text.replace(/[&<>"]/g, (sign) => signs[sign]!);
}
