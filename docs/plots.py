"""Makes plots of the tables of docs/benchmarks.md, for the marks `<!-- plot: NAME -->` of pages.

A plot is SVG without a script. Its colours are those of the theme, so a plot follows the light and
the dark scheme. A table or a row that is missing ends the build.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from pathlib import Path

BENCHMARKS = Path(__file__).resolve().parent / "benchmarks.md"
MARK = re.compile(r"^<!-- plot: ([a-z-]+) -->$", re.MULTILINE)
WIDTH, LABELS, VALUES = 720, 300, 90
BAR, STEP, TOP = 16, 26, 34


@dataclass(frozen=True)
class Bar:
    label: str
    value: float
    text: str
    is_ours: bool


def table(heading: str) -> list[list[str]]:
    """The rows of the first table after a heading, without its rule."""
    _, found, after = BENCHMARKS.read_text(encoding="utf-8").partition(f"# {heading}\n")
    if not found:
        raise ValueError(f"docs/benchmarks.md has no heading {heading!r}")
    lines = after[after.index("|") :].split("\n\n", 1)[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if not line.startswith("|--")]


def row(rows: list[list[str]], name: str) -> list[str]:
    for cells in rows:
        if cells[0] == name:
            return cells
    raise ValueError(f"docs/benchmarks.md has no row {name!r}")


def number(text: str) -> float:
    match = re.match(r"[\d,.]+", text)
    if not match:
        raise ValueError(f"docs/benchmarks.md has {text!r} where a number should be")
    return float(match.group().rstrip(",.").replace(",", ""))


def plain(text: str) -> str:
    return text.replace("`", "")


def draw(title: str, bars: list[Bar]) -> str:
    longest = max(bar.value for bar in bars)
    room = WIDTH - LABELS - VALUES
    height = TOP + STEP * len(bars)
    parts = [
        f'<svg class="plot" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(title)}" xmlns="http://www.w3.org/2000/svg">',
        f'<text class="plot-title" x="0" y="16">{escape(title)}</text>',
    ]
    for place, bar in enumerate(bars):
        y = TOP + STEP * place
        width = max(1.5, room * bar.value / longest)
        kind = "plot-ours" if bar.is_ours else "plot-other"
        parts += [
            f'<text x="{LABELS - 8}" y="{y + 13}" text-anchor="end">{escape(bar.label)}</text>',
            f'<rect class="{kind}" x="{LABELS}" y="{y}" width="{width:.1f}" height="{BAR}"/>',
            f'<text x="{LABELS + width + 6:.1f}" y="{y + 13}">{escape(bar.text)}</text>',
        ]
    return "\n".join([*parts, "</svg>"])


def gathers() -> str:
    rows = table("Reads by index with Spark")
    names, cells = rows[0], row(rows, "fetched")
    bars = [
        Bar(
            ("zrecord, " if place < 3 else "") + plain(names[place]), number(cells[place]), f"{number(cells[place]):g} s", place < 3
        )
        for place in (1, 2, 3)
    ]
    return draw("Seconds to fetch 10,000 random records of 10 million of 1 KiB with Spark; less is better", bars)


def epochs() -> str:
    shorter = {
        ", indexed by a permutation": ", a permutation",
        "indexing of an np.memmap by a permutation": "np.memmap, a permutation",
        "over an np.memmap, whole batches": "over np.memmap",
        "the same by record": "PyTorch over np.memmap, by record",
        "over zrecord, whole batches": "over zrecord",
    }
    bars = []
    for cells in table("Shuffled epochs")[1:]:
        label = plain(cells[0])
        for long, short in shorter.items():
            label = label.replace(long, short)
        value = number(cells[1])
        bars.append(Bar(label, value, f"{value:,.0f}", "zrecord" in label))
    return draw("Records of 784 bytes that Python takes a second, shuffled, in batches of 256; more is better", bars)


PLOTS: dict[str, Callable[[], str]] = {"gathers": gathers, "epochs": epochs}


def drawn(markdown: str) -> str:
    """The text of a page with its plots."""

    def plot(match: re.Match[str]) -> str:
        if match.group(1) not in PLOTS:
            raise ValueError(f"There is no plot {match.group(1)!r}; docs/plots.py has {', '.join(PLOTS)}")
        return PLOTS[match.group(1)]()

    return MARK.sub(plot, markdown)
