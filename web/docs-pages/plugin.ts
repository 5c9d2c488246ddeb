// Puts the documentation beside the client, so that its links work without a network.

import { readdir, readFile } from "node:fs/promises";
import type { Plugin } from "vite";
import { coloursOf, FONTS, type ThemeName } from "../src/model/theme";
import { docsPage, type DocsPage } from "./markdown";

/** `folder`: of the documentation. */
export function docsPages(folder: string): Plugin {
  return {
    name: "docs-pages",
    apply: "build",
    async buildStart() {
      for (const name of await pagesIn(folder)) this.addWatchFile(`${folder}/${name}`);
    },
    async generateBundle() {
      const style = await readFile(new URL("docs.css", import.meta.url), "utf8");
      this.emitFile({ type: "asset", fileName: "docs/docs.css", source: colours() + style });
      for (const name of await pagesIn(folder)) {
        const page = await docsPage(await readFile(`${folder}/${name}`, "utf8"));
        const fileName = `docs/${name.replace(/\.md$/, ".html")}`;
        this.emitFile({ type: "asset", fileName, source: whole(page) });
      }
    },
  };
}

async function pagesIn(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((name) => name.endsWith(".md"));
}

function whole({ title, body }: DocsPage): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <title>${title} · dynascope</title>
    <link rel="icon" type="image/svg+xml" href="../icon.svg" />
    <link rel="stylesheet" href="docs.css" />
  </head>
  <body>
    <nav><a href="index.html">Documentation</a> <a href="glossary.html">Glossary</a></nav>
    <main>${body}</main>
  </body>
</html>
`;
}

/** The sandbox's colours, in the theme of the system. */
function colours(): string {
  const variables = (theme: ThemeName): string =>
    Object.entries(coloursOf(theme))
      .flatMap(([name, value]) => (typeof value === "string" ? [`--${name}: ${value};`] : []))
      .join(" ");
  return `:root { ${variables("light")} --font: ${FONTS.text}; --mono: ${FONTS.mono}; }
@media (prefers-color-scheme: dark) { :root { ${variables("dark")} } }
`;
}
