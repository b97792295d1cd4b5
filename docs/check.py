"""Checks the pages and the built site: links, anchors, the length of lines, marks of blocks, and figures of the README."""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

sys.path.insert(0, str(Path(__file__).resolve().parent / "pages"))
import run

ROOT = Path(__file__).resolve().parent.parent
SITE = ROOT / "target" / "site"
COLUMNS = 100
PAGES = [
    *ROOT.glob("*.md"),
    *ROOT.glob("docs/*.md"),
    *ROOT.glob("docs/[a-z]*/**/*.md"),
    *ROOT.glob("integration-tests/*/README.md"),
    ROOT / "python" / "README.md",
]
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")


class Page(HTMLParser):
    """The links and the anchors of an HTML page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if value is None:
                continue
            if name == "id" or (tag == "a" and name == "name"):
                self.anchors.add(value)
            elif name in ("href", "src") and tag != "base":
                self.links.add(value)


def broken_in_site() -> list[str]:
    """Links of the site to files or anchors that it does not have; those to elsewhere are checked for their form only."""
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in SITE.rglob("*.html")}
    broken = []
    for path, page in pages.items():
        # The javadoc tool checks its own anchors, and its page of constants names one that it does not write.
        is_javadoc = path.is_relative_to(SITE / "javadoc")
        for link in sorted(page.links):
            parts = urlsplit(link)
            if parts.scheme in ("http", "https"):
                if "." not in (parts.hostname or ""):
                    broken.append(f"{path.relative_to(SITE)}: {link} names no host")
                continue
            if parts.scheme in ("mailto", "data", "javascript"):
                continue
            # The page 404.html does not know where it is shown, so its links are from the root.
            base = SITE if parts.path.startswith("/") else path.parent
            target = (base / unquote(parts.path).lstrip("/")).resolve() if parts.path else path
            if target.is_dir():
                target /= "index.html"
            if not target.is_file():
                broken.append(f"{path.relative_to(SITE)}: there is no {link}")
            elif parts.fragment and target in pages and not is_javadoc and unquote(parts.fragment) not in pages[target].anchors:
                broken.append(f"{path.relative_to(SITE)}: {link} has no such anchor")
    return broken


def broken_in_sources() -> list[str]:
    """Links of Markdown files to files that the repository does not have, for those who read them there."""
    broken = []
    for page in PAGES:
        for link in LINK.findall(page.read_text(encoding="utf-8")):
            parts = urlsplit(link)
            is_generated = parts.path.startswith("../javadoc/")
            if parts.path and not parts.scheme and not is_generated and not (page.parent / unquote(parts.path)).exists():
                broken.append(f"{page.relative_to(ROOT)}: there is no {link}")
    return broken


def long_lines() -> list[str]:
    return [
        f"{page.relative_to(ROOT)}:{number}: {len(line)} columns; wrap it at {COLUMNS}"
        for page in PAGES
        for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1)
        if len(line) > COLUMNS and not line.startswith("|")
    ]


def unmarked_blocks() -> list[str]:
    """Blocks of pages that docs/run-pages can neither run nor leave out."""
    problems = []
    for page in run.pages_to_run():
        try:
            marks, blocks = run.blocks_of(page)
        except run.PageError as error:
            problems.append(str(error))
            continue
        is_run = not any(mark.startswith("not run: ") for mark in marks)
        problems += [
            f"{page.relative_to(ROOT)}:{block.line}: docs/run-pages cannot run a block in {block.language!r}; mark the block"
            for block in blocks
            if is_run and not block.marks and block.language not in run.LANGUAGES
        ]
    return problems


def figures_of_readme() -> list[str]:
    """Figures in the first table of the README that docs/benchmarks.md does not have."""
    benchmarks = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    millions = {f"{int(number.replace(',', '')) / 1e6:.1f}" for number in re.findall(r"\d{1,3},\d{3},\d{3}", benchmarks)}
    known = millions | set(re.findall(r"\d+\.\d+", benchmarks))
    table = (ROOT / "README.md").read_text(encoding="utf-8").split("\n\n|", 1)[1].split("\n\n", 1)[0]
    return [
        f"README.md: {figure} is no figure of docs/benchmarks.md"
        for figure in re.findall(r"\d+\.\d+", table)
        if figure not in known
    ]


def main() -> None:
    problems = broken_in_sources() + long_lines() + unmarked_blocks() + figures_of_readme() + broken_in_site()
    for problem in problems:
        print(problem, file=sys.stderr)
    if problems:
        sys.exit(f"{len(problems)} problems in the documentation")
    print(f"The site is in {SITE.relative_to(ROOT)}: {sum(1 for _ in SITE.rglob('*.html'))} pages, every link leads somewhere")


if __name__ == "__main__":
    main()
