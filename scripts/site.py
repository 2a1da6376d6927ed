"""Builds the documentation as a searchable site: `make site`, into dist/site.

Zensical gets the Markdown pages as they are in the repository, in the same folders, so that links between pages
hold. The navigation is that of docs/README.md. A link to a file that is no page leads to REPOSITORY, the address of the
code where it is published, or else becomes plain text. Broken links fail the build.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from service.distribution import VERSION, find_commit

TOP = Path(__file__).parents[1]
BUILD = TOP / "build/site"
PAGES = BUILD / "pages"
SITE = TOP / "dist/site"
BUILT = "built"
"""A folder below that of the configuration, as Zensical asks for."""
HOME = "docs/README.md"
IMAGES = (".svg", ".webp", ".png")
HTML_IMAGE = re.compile(r"""\b(?:src|srcset)="([^":]+)\"""")
LINK = re.compile(r"\[(?P<text>(?:[^\[\]]|\[[^\]]*\]\([^)]*\))*)\]\((?P<target>[^()\s]+)\)")
LINKED = re.compile(r"\]\(([^()\s#]+\.md)[^()\s]*\)")
FENCE = re.compile(r"^\s*```")

MARKDOWN = """
[project.theme]
font = false
features = ["navigation.indexes", "navigation.sections", "search.highlight", "toc.follow"]
[[project.theme.palette]]
media = "(prefers-color-scheme: light)"
scheme = "default"
toggle = {icon = "lucide/sun", name = "Dark"}
[[project.theme.palette]]
media = "(prefers-color-scheme: dark)"
scheme = "slate"
toggle = {icon = "lucide/moon", name = "Light"}
[project.markdown_extensions.toc]
permalink = true
slugify = {object = "pymdownx.slugs.slugify", kwds = {case = "lower"}}
[project.markdown_extensions.tables]
[project.markdown_extensions.md_in_html]
[project.markdown_extensions.pymdownx.highlight]
[project.markdown_extensions.pymdownx.superfences]
"""
"""Addresses of headings are those of GitHub."""


def main(repository: str) -> None:
    """Write the pages and the configuration, and have Zensical build the site."""
    shutil.rmtree(PAGES, ignore_errors=True)
    listed = subprocess.check_output(["git", "ls-files", "-z", "*.md"], cwd=TOP, text=True)
    pages = {name for name in listed.split("\0") if name and not name.startswith(".")}
    for name in sorted(pages):
        _write_page(name, pages, repository)
    configuration = BUILD / "zensical.toml"
    configuration.write_text(_configuration())
    zensical = BUILD / "venv/bin/zensical"
    subprocess.run([zensical, "build", "--clean", "--strict", "-f", configuration], check=True)
    shutil.rmtree(SITE, ignore_errors=True)
    shutil.copytree(BUILD / BUILT, SITE)


def _write_page(name: str, pages: set[str], repository: str) -> None:
    """Copy a page with the images it shows; links that leave the pages are rewritten."""

    def rewrite(found: re.Match[str]) -> str:
        target, _, fragment = found["target"].partition("#")
        if not target or "://" in target or target.startswith("mailto:"):
            return found[0]
        file = os.path.normpath(Path(name).parent / target)
        if file in pages:
            return found[0]
        if file.endswith(IMAGES):
            _copy_image(file)
            return found[0]
        if not repository:
            return found["text"]
        kind = "tree" if (TOP / file).is_dir() else "blob"
        return f"[{found['text']}]({repository}/{kind}/{find_commit()}/{file}{'#' * bool(fragment)}{fragment})"

    fenced = False
    lines = []
    text = (TOP / name).read_text()
    for source in HTML_IMAGE.findall(text):
        _copy_image(os.path.normpath(Path(name).parent / source))
    for line in text.splitlines():
        fenced ^= bool(FENCE.match(line))
        lines.append(line if fenced else LINK.sub(rewrite, line))
    page = PAGES / name
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text("\n".join(lines) + "\n")


def _copy_image(name: str) -> None:
    copied = PAGES / name
    copied.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(TOP / name, copied)


def _configuration() -> str:
    """Return Zensical's settings; JSON's strings and lists are TOML's, too."""
    settings = {
        "site_name": "token-service",
        "site_description": "An OAuth 2.0 and OpenID Connect token service on Redis",
        "copyright": f"Version {VERSION}, commit {find_commit()}",
        "docs_dir": PAGES.name,
        "site_dir": BUILT,
        "use_directory_urls": False,
    }
    lines = [f"{key} = {json.dumps(value)}" for key, value in settings.items()]
    sections = ", ".join(
        f"{{{json.dumps(title)} = {json.dumps(pages)}}}" for title, pages in _navigation().items()
    )
    return "\n".join(("[project]", *lines, f"nav = [{sections}]", MARKDOWN))


def _navigation() -> dict[str, list[str]]:
    """Return the pages below each heading of the list of documents, each page once."""
    found: dict[str, list[str]] = {}
    seen: set[str] = set()
    _, *sections = re.split(r"^## ", (TOP / HOME).read_text(), flags=re.MULTILINE)
    for section in sections:
        title, _, text = section.partition("\n")
        names = [os.path.normpath(f"docs/{target}") for target in LINKED.findall(text)]
        found[title] = [name for name in dict.fromkeys(names) if name not in seen]
        seen.update(names)
    return found


if __name__ == "__main__":
    main(*sys.argv[1:])
