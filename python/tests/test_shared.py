"""One dataset that threads and forked processes share."""

from __future__ import annotations

import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import zrecord
from tests import budget
from tests.conftest import GOLDEN
from tests.values import exact
from zrecord._open import Verify

TABLES = ("v2/table", "v2-patches", "v2-blocks")


def answers(data: zrecord.Dataset, random: np.random.Generator, rounds: int) -> list[tuple[Any, Any]]:
    """Reads at random places in each way, and returns what was asked for and a form of the answer."""
    found: list[tuple[Any, Any]] = []
    names = list(data.fields)
    for _ in range(rounds):
        name = str(random.choice(names))
        key: Any = [
            int(random.integers(len(data))),
            random.integers(0, len(data), 5),
            slice(*sorted(random.integers(0, len(data), 2).tolist())),
        ][random.integers(3)]
        found.append(((name, key), exact(data[name][key])))
    return found


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("verify", ["first", "always"])
def test_threads_get_the_values_that_one_gets(name: str, verify: Verify) -> None:
    alone = zrecord.open(GOLDEN / name)
    for turn in range(budget.of(20)):
        data = zrecord.open(GOLDEN / name, verify=verify)
        start = threading.Barrier(6)

        def read(thread: int, turn: int = turn, data: Any = data, start: Any = start) -> list[tuple[Any, Any]]:
            start.wait()
            return answers(data, budget.random(turn, thread), 15)

        with ThreadPoolExecutor(6) as pool:
            for found in pool.map(read, range(6)):
                for (field, key), value in found:
                    assert exact(alone[field][key]) == value, (field, key)


def run_in_child(child: Any) -> int:
    """Runs a function in a forked process, and returns its exit code: 0 if all was right."""
    process = os.fork()
    if process == 0:
        signal.alarm(120)  # a child that waits for a lock of its parent would wait for ever
        code = 1
        try:
            child()
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("name", TABLES)
def test_processes_that_are_forked_while_threads_read_get_their_values(name: str) -> None:
    alone = zrecord.open(GOLDEN / name)
    for turn in range(budget.of(20)):
        data = zrecord.open(GOLDEN / name)
        ends = threading.Event()

        def read(thread: int, turn: int = turn, data: Any = data, ends: Any = ends) -> None:
            random = budget.random(turn, thread)
            while not ends.is_set():
                answers(data, random, 1)

        def child(turn: int = turn, data: Any = data) -> None:
            for (field, key), value in answers(data, budget.random(turn, 99), 20):
                assert exact(alone[field][key]) == value

        with ThreadPoolExecutor(3) as pool:
            reading = [pool.submit(read, thread) for thread in range(3)]
            try:
                codes = [run_in_child(child) for _ in range(3)]
            finally:
                ends.set()
            for one in reading:
                one.result()
        assert codes == [0, 0, 0]


def test_a_child_that_fails_is_seen() -> None:
    def child() -> None:
        raise SystemExit

    assert run_in_child(child) == 1
