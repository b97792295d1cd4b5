"""Prints what was measured as Markdown tables, with the figures that are asked for: report.py RESULTS CASE LATENCY.

Each row has medians of the turns of a contestant. `round trips` are the requests that began after the one before had
ended, of the longest such row. LATENCY is in milliseconds, 0 without the proxy.
"""

from __future__ import annotations

import re
import statistics
import sys
from pathlib import Path
from typing import NamedTuple

GATHER_BYTES_MIB = 16.0
ROUND_TRIPS_OF_GATHER = 1.3


class Row(NamedTuple):
    """Medians of a contestant, in the columns of Meter.java."""

    seconds: float
    client: float
    server: float
    proxy: float
    requests: float
    sent: float
    uploaded: float | None
    in_turn: float | None
    at_once: float | None
    least_requests: float
    least_mib: float
    turns: int
    remarks: tuple[str, ...]


Table = dict[str, Row]


def median(values: list[str]) -> float | None:
    return None if "-" in values else statistics.median(map(float, values))


def read(results: Path) -> dict[str, Table]:
    turns: dict[tuple[str, str], list[list[str]]] = {}
    for line in results.read_text().splitlines():
        case, contestant, *columns = line.split("\t")
        turns.setdefault((case, contestant), []).append(columns)
    cases: dict[str, Table] = {}
    for (case, contestant), lines in turns.items():
        columns = [list(column) for column in zip(*lines)]
        remarks = tuple(remark for remark in columns.pop() if remark != "-")
        cases.setdefault(case, {})[contestant] = Row(*map(median, columns), len(lines), remarks)  # type: ignore[arg-type]
    return cases


def number(value: float | None, form: str) -> str:
    return "–" if value is None else format(value, form)


def print_case(case: str, table: Table) -> None:
    heads = "seconds | MiB/s | client CPU (s) | server CPU (s) | proxy CPU (s) | requests | sent (MiB) | uploaded (MiB)"
    print(f"\n| {case} | {heads} | round trips | at once | turns | remarks |\n|{'---|' * 13}")
    for contestant, row in table.items():
        cells = [
            f"{row.seconds:.3f}",
            f"{row.least_mib / row.seconds:,.0f}",
            f"{row.client:.2f}",
            f"{row.server:.2f}",
            f"{row.proxy:.2f}",
            f"{row.requests:,.0f}",
            f"{row.sent:,.2f}",
            number(row.uploaded, ",.2f"),
            number(row.in_turn, ".0f"),
            number(row.at_once, ".0f"),
            str(row.turns),
            "; ".join(row.remarks),
        ]
        print(f"| {contestant} | " + " | ".join(cells) + " |")
    print()


def asked(what: str, measured: float, relation: str, figure: float) -> None:
    holds = measured >= figure if relation == "≥" else measured <= figure
    print(f"{what}: {measured:.3g} (asked: {relation} {figure:.3g}){'' if holds else ' MISSED'}")


def plain(table: Table) -> dict[str, float]:
    """Returns the rates of the plain requests, in MiB/s."""
    return {name: row.least_mib / row.seconds for name, row in table.items() if name.startswith("plain")}


def rate(table: Table, name: str) -> float:
    return table[name].least_mib / table[name].seconds


def figures(case: str, table: Table, latency: float) -> None:
    ours = [name for name in table if name.startswith("zrecord")]
    if case in ("spark-scan", "spark-write"):
        beside = rate(table, "zrecord by Spark") / list(plain(table).values())[-1]
        asked(f"{case}: zrecord beside plain requests with as many connections", beside, "≥", 0.9)
        if case == "spark-scan":
            asked("spark-scan: zrecord beside Parquet", rate(table, ours[0]) / rate(table, "parquet by Spark"), "≥", 2)
    elif case == "first-record":
        for name in ours:
            trips = table[name].in_turn
            if trips is not None:
                asked(f"{name}: round trips", trips, "≤", 4 if "planning" in name else 5)
            if latency:
                print(f"{name}: {table[name].seconds * 1000 / latency:.2f} times the latency")
    elif case == "gather":
        best = max(plain(table).values())
        bound = ROUND_TRIPS_OF_GATHER * latency / 1000 + GATHER_BYTES_MIB / best
        for name in table:
            if not name.startswith("plain"):
                asked(f"{name}: seconds beside {ROUND_TRIPS_OF_GATHER} round trips and the bytes", table[name].seconds, "≤", bound)
    elif case in ("epoch", "second-epoch"):
        for name, row in table.items():
            if not name.startswith("plain") and not row.remarks and case == "epoch":
                print(f"{name}: {rate(table, name) / max(plain(table).values()):.2f} of plain requests")
            if "second epoch" in name and "local table" in table:
                print(f"{name}: {rate(table, name) / rate(table, 'local table'):.2f} of the local table")


def print_requests(cases: dict[str, Table]) -> None:
    heads = "requests | at least | times | moved (MiB) | of values | times"
    print(f"\n| case | contestant | {heads} |\n|{'---|' * 8}")
    for case, table in cases.items():
        for contestant, row in table.items():
            moved = row.uploaded if case == "spark-write" and row.uploaded is not None else row.sent
            times = f"{moved / row.least_mib:.3f}" if row.least_mib else "–"
            cells = f"{row.requests:,.0f} | {row.least_requests:,.0f} | {row.requests / max(1, row.least_requests):.2f}"
            print(f"| {case} | {contestant} | {cells} | {moved:,.2f} | {row.least_mib:,.2f} | {times} |")
    print()


def main(results: Path, case: str, latency: float) -> None:
    cases = read(results)
    if case == "requests":
        print_requests(cases)
    elif case in cases:
        table = {name: cases[case][name] for name in sorted(cases[case], key=lambda name: (plain_last(name), name))}
        print_case(case, table)
        figures(case, table, latency)


def plain_last(name: str) -> tuple[bool, int]:
    connections = re.search(r"(\d+) connection", name)
    return name.startswith("plain"), int(connections[1]) if connections else 0


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], float(sys.argv[3]))
