"""Interrupts at any moment inside ``next`` lose no batch, double none and hang nothing."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zrecord
from tests import budget
from tests.feeds import LABELS, RECORDS, indices, run
from zrecord.errors import FeedError

SEED = budget.seed()

# An interrupt is Python's own, but comes only while the feed is asked, so that the program itself loses nothing: in a ``for``
# nothing runs between the return of ``__next__`` and the first statement of the body.
INTERRUPTED = """
import json, os, random, signal, sys, threading, time
import zrecord

path, seed, wanted, depth, way = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), sys.argv[5]
armed = False
interrupts = 0
ended = threading.Event()

def handle(number, frame):
    global interrupts
    if armed:
        interrupts += 1
        signal.default_int_handler(number, frame)

def interrupt():
    r = random.Random(seed)
    while not ended.wait(r.uniform(0.002, 0.006)):
        os.kill(os.getpid(), signal.SIGINT)

signal.signal(signal.SIGINT, handle)
feed = zrecord.feed(path, fields=["label"], batch_size=5, epochs=None, seed=seed, depth=depth, threads=1)
numbers, epochs, wrong = [], [], []
seen = set()

def use(batch):
    numbers.append(batch.number)
    epochs.append(batch.epoch)
    if (batch.index % 7 != batch["label"]).any():
        wrong.append(batch.number)
    seen.update((batch.epoch, int(i)) for i in batch.index)
    if way == "views":
        held.append(batch["label"][1:])
        if len(held) == depth - 1:
            held.clear()

held = []
use(next(feed))
timer = threading.Thread(target=interrupt, daemon=True)
timer.start()
while interrupts < wanted:
    try:
        armed = True
        for batch in feed:
            armed = False
            use(batch)
            if interrupts >= wanted:
                break
            armed = True
        armed = False
    except KeyboardInterrupt:
        armed = False
ended.set()
timer.join()
whole = [e for e in range(max(epochs)) if sum((e, i) in seen for i in range(1003)) != 1003]
print(json.dumps({"numbers": numbers, "epochs": epochs, "wrong": wrong, "missing": whole, "interrupts": interrupts}))
feed.close()
"""


@pytest.mark.parametrize("depth, way", [(2, "drop"), (4, "views"), (8, "drop"), (9, "views")])
def test_interrupts_in_a_loop_neither_lose_nor_repeat_a_batch(data: Path, depth: int, way: str) -> None:
    said = run(INTERRUPTED, data, SEED, budget.of(1000), depth, way)
    assert said.returncode == 0, said.stderr
    assert said.stderr == ""  # nor did Python swallow one in a callback
    found = json.loads(said.stdout)
    assert found["interrupts"] >= budget.of(1000)
    assert found["numbers"] == list(range(len(found["numbers"])))
    assert found["epochs"] == sorted(found["epochs"])
    assert found["wrong"] == []
    assert found["missing"] == []


ONE_BY_ONE = """
import json, os, random, signal, sys, threading
import zrecord

path, seed, wanted = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
armed = False
ended = threading.Event()

def handle(number, frame):
    if armed:
        signal.default_int_handler(number, frame)

def interrupt():
    r = random.Random(seed)
    while not ended.wait(r.uniform(0.002, 0.006)):
        os.kill(os.getpid(), signal.SIGINT)

signal.signal(signal.SIGINT, handle)
feed = zrecord.feed(path, fields=["label"], batch_size=5, epochs=None, seed=seed, depth=3, threads=1)
used = next(feed)
timer = threading.Thread(target=interrupt, daemon=True)
timer.start()
resumed = []
for _ in range(wanted):
    try:
        armed = True
        while True:
            batch = next(feed)  # may be interrupted after its return and before the assignment
            used = batch
    except KeyboardInterrupt:
        armed = False
    feed.load_state_dict(used.state)
    resumed.append(next(feed).number - used.number)
ended.set()
timer.join()
print(json.dumps(resumed))
"""


def test_the_state_of_the_batch_that_was_used_last_resumes_after_it_whatever_was_interrupted(data: Path) -> None:
    said = run(ONE_BY_ONE, data, SEED, budget.of(20))
    assert said.returncode == 0, said.stderr
    assert json.loads(said.stdout) == [1] * budget.of(20)


def test_an_interrupt_while_the_engine_starts_or_is_awaited_loses_nothing(data: Path) -> None:
    with zrecord.feed(data, fields=["label"], batch_size=100, seed=SEED, depth=2) as feed:
        interrupts = 0
        found: list[int] = []
        timer = threading.Timer(0.05, signal.raise_signal, [signal.SIGINT])
        timer.start()
        while len(found) < 11:
            try:
                found.append(next(feed).number)
            except KeyboardInterrupt:
                interrupts += 1
        timer.join()
        assert interrupts == 1
        assert found == list(range(11))


def test_a_consumer_that_reads_ahead_saves_the_state_of_what_it_has_used(data: Path) -> None:
    with zrecord.feed(data, fields=["label"], batch_size=100, seed=SEED, depth=8) as feed:
        ahead = [next(feed) for _ in range(5)]
        states = [batch.state for batch in ahead]
        rest = [batch.index.tolist() for batch in ahead] + [batch.index.tolist() for batch in feed]
    assert states[4] != states[1]
    for used in (0, 1, 4):
        with zrecord.feed(data, fields=["label"], batch_size=100, seed=SEED) as feed:
            feed.load_state_dict(json.loads(json.dumps(states[used])))
            assert [batch.index.tolist() for batch in feed] == rest[used + 1 :]


def test_an_interrupted_loop_can_be_written_again_while_its_traceback_is_kept(data: Path) -> None:
    """As in a notebook, which keeps the traceback of the last cell."""
    with zrecord.feed(data, fields=["label"], batch_size=100, seed=SEED) as feed:
        kept: list[BaseException] = []
        found: list[int] = []
        for batch in feed:
            found.append(batch.number)
            if len(found) == 4:
                break
        engine = feed._engine
        assert engine is not None
        peek = engine.peek

        def interrupted(timeout: float) -> Any:
            raise KeyboardInterrupt

        try:
            for batch in feed:
                found.append(batch.number)
                engine.peek = interrupted  # type: ignore[method-assign]
        except KeyboardInterrupt as e:
            kept.append(e)
        engine.peek = peek  # type: ignore[method-assign]
        found += [batch.number for batch in feed]
        assert found == list(range(11))
        assert kept[0].__traceback__ is not None


def test_a_feed_that_four_threads_use_doubles_no_batch(data: Path) -> None:
    found: list[list[int]] = []
    refused: list[str] = []
    with zrecord.feed(data, fields=["label"], batch_size=10, seed=SEED, epochs=20, depth=16) as feed:
        next(feed)

        def use() -> None:
            while True:
                try:
                    batch = next(feed)
                except StopIteration:
                    return
                except FeedError as e:
                    refused.append(str(e))
                    continue
                assert (batch.index % 7 == batch["label"]).all()
                found.append([batch.number, *batch.index.tolist()])

        threads = [threading.Thread(target=use) for _ in range(4)]
        before = sys.getswitchinterval()
        # A switch wherever Python allows one.
        sys.setswitchinterval(1e-6)
        try:
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        finally:
            sys.setswitchinterval(before)
    assert sorted(batch[0] for batch in found) == list(range(1, 20 * 101))
    assert np.bincount([i for batch in found for i in batch[1:]]).sum() == 20 * RECORDS - 10
    assert all("in use: another thread" in message for message in refused)


def test_a_call_during_another_thread_s_call_is_refused(data: Path) -> None:
    with zrecord.feed(data, fields=["label"], batch_size=10, seed=SEED, depth=4) as feed:
        first = next(feed)
        assert feed._engine is not None
        waits, goes_on = threading.Event(), threading.Event()
        poll = feed._engine._poll

        class Poll:
            def poll(self, timeout: float) -> Any:
                waits.set()
                goes_on.wait(60)
                return poll.poll(timeout)

        feed._engine._poll = Poll()  # type: ignore[assignment]
        held: list[zrecord.Batch] = []

        def ask() -> None:
            while not waits.is_set():
                held[:] = [next(feed)]

        asking = threading.Thread(target=ask)
        asking.start()
        assert waits.wait(60)
        with pytest.raises(FeedError, match=r"in use: another thread.*belongs to one thread at a time"):
            next(feed)
        with pytest.raises(FeedError, match="in use: another thread"):
            feed.load_state_dict(first.state)
        goes_on.set()
        asking.join()
        numbers = [held[0].number] + [batch.number for batch in feed]
        assert numbers == list(range(numbers[0], 101))


@pytest.mark.parametrize("is_handler", [True, False])
def test_a_close_during_a_call_ends_it_and_takes_nothing_from_other_feeds(data: Path, is_handler: bool) -> None:
    feed = zrecord.feed(data, fields=["label"], batch_size=10, seed=SEED, depth=2)
    held = [next(feed), next(feed)]
    others: list[zrecord.Feed] = []

    def close(*_: object) -> None:
        feed.close()
        others.append(zrecord.feed(data, fields=["label"], batch_size=100, seed=SEED))
        assert next(others[0]).number == 0  # has the numbers of the files that were closed

    before = signal.signal(signal.SIGUSR1, close)
    timer = threading.Timer(0.5, (lambda: signal.raise_signal(signal.SIGUSR1)) if is_handler else close)
    timer.start()
    try:
        with pytest.raises(FeedError, match="The feed was closed while it was asked for a batch"):
            next(feed)
    finally:
        timer.join()
        signal.signal(signal.SIGUSR1, before)
    with others[0] as other:
        assert [batch.number for batch in other] == list(range(1, 11))
    assert [batch.number for batch in held] == [0, 1]


def test_arrays_may_be_dropped_by_any_thread_and_after_the_end(data: Path, images: np.ndarray[Any, Any]) -> None:
    def hold_one() -> zrecord.Batch:
        with zrecord.feed(data, batch_size=10, depth=4) as feed:
            return next(feed)

    batch = hold_one()
    np.testing.assert_array_equal(batch["image"], images[batch.index])
    dropping = threading.Thread(target=batch.clear)
    dropping.start()
    dropping.join()
    program = (
        "import os, signal, sys, zrecord\n"
        "feed = zrecord.feed(sys.argv[1], batch_size=10, depth=4)\n"
        "held = [next(feed) for _ in range(3)]\n"
        "os.kill(feed._engine._process.pid, signal.SIGKILL)\n"
        "feed._engine._process.wait()\n"
        "held.clear()\n"
    )
    said = run(program, data)
    assert (said.returncode, said.stderr) == (0, "")


def test_what_another_thread_drops_during_a_call_goes_back_at_once(data: Path) -> None:
    with zrecord.feed(data, fields=["label"], batch_size=10, seed=SEED, depth=8) as feed:
        held = [next(feed) for _ in range(8)]
        engine = feed._engine
        assert engine is not None
        os.kill(engine._process.pid, signal.SIGSTOP)
        found: list[int] = []
        asking = threading.Thread(target=lambda: found.append(next(feed).number))
        asking.start()
        for _ in range(3):
            held.pop()
            guard = time.monotonic() + 120
            while engine._leases._dropped:
                assert time.monotonic() < guard
                time.sleep(0.01)
        assert asking.is_alive()
        os.kill(engine._process.pid, signal.SIGCONT)
        asking.join()
        assert found == [8]


def test_the_labels_of_all_records_come_once(data: Path) -> None:
    start = time.monotonic()
    with zrecord.feed(data, fields=["label"], batch_size=64, seed=SEED) as feed:
        assert sorted(indices(feed)) == list(range(len(LABELS)))
        statistics = feed.statistics()
    assert (statistics.batches, statistics.records, statistics.bytes) == (16, RECORDS, 4 * RECORDS)
    assert 0 <= statistics.last_wait_seconds <= statistics.wait_seconds <= time.monotonic() - start
    assert 0 <= statistics.ready_batches <= 16
