"""Measures one turn of a contestant in Python, as Meter.java does in Java, and adds a line to the same file of results."""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

BUCKET = "bench"
VALUE_BYTES = 64 << 10
RANGE_BYTES = 8 << 20
QUIET_SECONDS = 0.03
TICKS = os.sysconf("SC_CLK_TCK")
MIB = 1 << 20


class Usage(NamedTuple):
    """What the server and the proxy have used since they started; see Usage.java."""

    client: float
    server: float
    proxy: float
    requests: int
    written: int


def processor_seconds(pid: str) -> float:
    if pid == "none":
        return 0.0
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def usage() -> Usage:
    log = Path(os.environ["REMOTE_ACCESS_LOG"])
    length = -1
    while length != log.stat().st_size:
        length = log.stat().st_size
        time.sleep(QUIET_SECONDS)
    server = os.environ["REMOTE_SERVER_PID"]
    io = dict(line.split(": ") for line in Path(f"/proc/{server}/io").read_text().splitlines())
    own = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return Usage(
        sum(used.ru_utime + used.ru_stime for used in own),
        processor_seconds(server),
        processor_seconds(os.environ["REMOTE_PROXY_PID"]),
        log.read_bytes().count(b"\n"),
        int(io["wchar"]) - length,
    )


def measure(
    case: str, contestant: str, least_requests: int, least_bytes: int, work: Callable[[], None], remark: Callable[[], str] = lambda: "-"
) -> float:
    """Returns the seconds that the work took."""
    before = usage()
    start = time.perf_counter()
    work()
    seconds = time.perf_counter() - start
    used = [after - was for was, after in zip(before, usage())]
    columns = [
        case,
        contestant,
        f"{seconds:.4f}",
        f"{used[0]:.3f}",
        f"{used[1]:.2f}",
        f"{used[2]:.2f}",
        used[3],
        f"{used[4] / MIB:.3f}",
        "-",
        "-",
        "-",
        least_requests,
        f"{least_bytes / MIB:.3f}",
        remark(),
    ]
    with open(os.environ["REMOTE_RESULTS"], "a") as results:
        print(*columns, sep="\t", file=results)
    return seconds
