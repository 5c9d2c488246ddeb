"""What the site has beside the files of docs/, and what becomes of a page's text before it is HTML.

MkDocs calls the functions that begin with `on_`.
"""

from pathlib import Path
from typing import Any

from api_reference import PACKAGES, page
from forge_markdown import anchor, prepared, with_guided_links
from home_page import home
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from palette_css import palette_css
from repository_links import PAGES, ROOT, linked_files, site_place, with_site_links

from dynascope.sandbox.one_file import playground

HERE = Path(__file__).parents[1]
ASSETS = {
    "assets/icon.svg": ROOT / "web/public/icon.svg",
    "assets/style.css": HERE / "style.css",
    "assets/playground.js": HERE / "playground.js",
    "assets/from-disk.js": HERE / "from-disk.js",
}
_OWN = "website/"  # where the pages are that only the site has


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    config.mdx_configs.setdefault("toc", {})["slugify"] = anchor
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add pages from elsewhere, files that pages lead to, the API and the playground."""

    def add(place: str, content: str | bytes) -> None:
        files.append(File.generated(config, place, content=content))

    for place, file in ASSETS.items():
        add(place, file.read_bytes())
    for name, place in PAGES.items():
        add(place, with_site_links(name, read(name)))
    for name in sorted(linked_from_pages(files)):
        add(site_place(name), (ROOT / name).read_bytes())
    for name, (whole, guide) in PACKAGES.items():
        package = ROOT / "src" / whole.replace(".", "/")
        add(f"reference/{name}.md", page(package, whole, guide))
    add("assets/palette.css", palette_css())
    add("playground.md", with_site_links(".", read("website/playground.md"), "playground.md"))
    add("play.html", playground())
    return files


def linked_from_pages(files: Files) -> set[str]:
    """Files outside docs/ that are no page themselves."""
    inside = [
        f"docs/{file.src_uri}"
        for file in files
        if file.abs_src_path and file.is_documentation_page()
    ]
    found = {name for file in (*inside, *PAGES) for name in linked_files(file, read(file))}
    return {name for name in found if not name.startswith("docs/") and name not in PAGES}


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, **_: Any) -> str:
    name = page.file.src_uri
    if page.file.generated_by is None:
        markdown = with_site_links(f"docs/{name}", markdown)
    if name == "index.md":
        readme = with_site_links("README.md", read("README.md"))
        template = with_site_links(".", read("website/home.md"), "index.md")
        page.meta.update({"title": "Home", "hide": ["navigation", "toc"]})
        markdown = home(template, readme, markdown)
    if name == "guided.md":
        markdown = with_guided_links(markdown, "playground.html")
    return prepared(markdown)


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")
