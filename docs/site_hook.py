"""Adds to the site what is no page below docs: the README as its first page, the Javadoc that docs/build made, and plots."""

import re
import sys
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

sys.path.insert(0, str(Path(__file__).resolve().parent))
import plots

ROOT = Path(__file__).resolve().parent.parent
JAVADOC = ROOT / "target" / "javadoc"
LINK = re.compile(r"\[([^\]]+)\]\(([^)]+)\)")


def _in_site(link: re.Match[str]) -> str:
    """Links of the README as seen from docs; files that the site does not have are named without a link."""
    text, target = link.groups()
    if target.startswith(("http", "#")):
        return link.group()
    return f"[{text}]({target[len('docs/') :]})" if target.startswith("docs/") else f"`{target}`"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    files.append(File.generated(config, "index.md", content=LINK.sub(_in_site, readme)))
    if not (JAVADOC / "index.html").is_file():
        raise SystemExit(f"There is no Javadoc in {JAVADOC}; run docs/build, which makes it first")
    for path in sorted(JAVADOC.rglob("*")):
        if path.is_file():
            name = f"javadoc/{path.relative_to(JAVADOC).as_posix()}"
            files.append(File.generated(config, name, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    return plots.drawn(markdown)
