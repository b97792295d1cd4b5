"""Feeds against real engines: order, resuming, who owns memory, and how things end."""

from __future__ import annotations

import gc
import inspect
import json
import os
import re
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zrecord
from tests import budget
from tests.feeds import LABELS, RECORDS, damaged, indices, run
from zrecord import _engine, _epochs
from zrecord.errors import CorruptDataError, FeedError, FeedTimeoutError, LauncherError

ROOT = Path(__file__).resolve().parents[2]
SEED = budget.seed()


@pytest.fixture(scope="module")
def shared_feeds() -> Iterator[list[zrecord.Feed]]:
    feeds: list[zrecord.Feed] = []
    yield feeds
    for feed in feeds:
        feed.close()


@pytest.fixture
def endless(data: Path, shared_feeds: list[zrecord.Feed]) -> zrecord.Feed:
    """A running feed without an end, of eight batches of ten records. No batch is referenced. Tests share it one by one."""
    gc.collect()
    engine = shared_feeds[-1]._engine if shared_feeds else None
    if engine is None or len(engine._leases):
        shared_feeds.append(zrecord.feed(data, batch_size=10, depth=8, epochs=None, seed=SEED))
        next(shared_feeds[-1])
    return shared_feeds[-1]


def feed_of_all_epochs(feed: zrecord.Feed) -> Iterator[zrecord.Batch]:
    for _ in feed.remaining_epochs():
        yield from feed


def pid_of(feed: zrecord.Feed) -> int:
    assert feed._engine is not None
    return feed._engine._process.pid


def wait_for_end(pid: int) -> None:
    """Waits until a process has ended that need not be a child."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    ended = poll.poll(120_000)
    os.close(descriptor)
    assert ended, f"process {pid} is still there"


def test_order_is_that_of_the_specification(data: Path, images: np.ndarray[Any, Any], orders: dict[str, Any]) -> None:
    with zrecord.feed(data, batch_size=100, seed=SEED, epochs=2) as feed:
        assert len(feed) == 11
        number = 0
        for batch in feed_of_all_epochs(feed):
            first = number % 11 * 100
            expected = [orders["shuffle"](RECORDS, SEED, number // 11, p) for p in range(first, min(RECORDS, first + 100))]
            assert batch.epoch == number // 11
            assert batch.number == number
            assert batch.index.tolist() == expected
            np.testing.assert_array_equal(batch["image"], images[expected])
            np.testing.assert_array_equal(batch["label"], LABELS[expected])
            assert batch.state == feed.state_dict()
            number += 1
    assert number == 22


def test_without_an_end_the_epochs_follow_each_other(data: Path, orders: dict[str, Any]) -> None:
    with zrecord.feed(data, fields=["label"], batch_size=400, seed=SEED, epochs=None) as feed:
        assert len(feed) == 3
        for number in range(20):
            batch = next(feed)
            first = number % 3 * 400
            epoch = number // 3
            assert batch.epoch == epoch
            expected = [orders["shuffle"](RECORDS, SEED, epoch, p) for p in range(first, min(RECORDS, first + 400))]
            assert batch.index.tolist() == expected


def test_all_samplers(data: Path, orders: dict[str, Any]) -> None:
    def check(count: int, order: Any, **options: Any) -> None:
        with zrecord.feed(data, fields=["label"], batch_size=64, seed=SEED, num_samples=count, **options) as feed:
            assert indices(feed) == [order(p) for p in range(count)], options

    check(300, lambda p: p, sampler="sequential")
    check(300, lambda p: orders["random"](RECORDS, SEED, 0, p), sampler="random")
    check(300, lambda p: 100 + 3 * p, sampler="sequential", from_=100, to=1000, step=3)
    check(300, lambda p: RECORDS - 1 - p, sampler="sequential", step=-1)
    check(300, lambda p: orders["global_draw"](RECORDS, 64, SEED, 0, p), sampler="global")
    check(300, lambda p: orders["sliding"](RECORDS, 50, 20, p), sampler="sliding", window=50, stride=20)
    bounds = [*range(0, RECORDS, 100), RECORDS]
    check(
        300,
        lambda p: orders["block_shuffle"](bounds, 2, SEED, 0, p),
        sampler="blockShuffle",
        block_length=100,
        mixed=2,
    )
    table = orders["alias_table"](LABELS.astype(float).tolist())
    check(300, lambda p: orders["weighted"](table, SEED, 0, p), sampler="weighted", weights_field="label")
    some = [5, 3, 900, 3]
    check(4, lambda p: some[p], sampler="sequential", indices=some)
    check(4, lambda p: some[orders["shuffle"](4, SEED, 0, p)], sampler="shuffle", indices=some)


@pytest.mark.parametrize("sampler", ["stratified", "balanced"])
def test_classes_are_even_in_every_batch(data: Path, sampler: str) -> None:
    options: dict[str, Any] = {"sampler": sampler, "labels_field": "label", "batch_size": 70, "num_samples": 700}
    with zrecord.feed(data, fields=["label"], seed=SEED, **options) as feed:
        for batch in feed:
            counts = np.bincount(batch["label"], minlength=7)
            assert counts.min() >= 9
            assert counts.max() <= 11


def test_resumes_exactly_after_any_batch_with_other_settings(data: Path) -> None:
    states = []
    with zrecord.feed(data, fields=["label"], batch_size=100, seed=SEED, epochs=2) as feed:
        states.append(feed.state_dict())
        batches = []
        for batch in feed_of_all_epochs(feed):
            batches.append(batch.index.tolist())
            states.append(feed.state_dict())
    numbers = [11, 22, 0, *budget.random().integers(1, 22, budget.of(5)).tolist()]
    with zrecord.feed(data, fields=["label"], batch_size=37, seed=SEED, epochs=2, depth=9, threads=1) as feed:
        # Loading again, after some of it was used as well, begins anew.
        feed.load_state_dict(states[5])
        next(feed)
        for number in numbers:
            state = json.loads(json.dumps(states[number]))
            feed.load_state_dict(state)
            assert feed.state_dict() == state
            assert indices(feed) == [i for batch in batches[number:] for i in batch]


def test_begins_and_ends_where_it_is_told(data: Path, orders: dict[str, Any]) -> None:
    order = [orders["shuffle"](RECORDS, SEED, 3, p) for p in range(RECORDS)]
    with zrecord.feed(data, fields=["label"], batch_size=100, seed=SEED, epoch=3, start_position=250) as feed:
        first = next(feed)
        assert (first.epoch, first.number) == (3, 35)
        state = feed.state_dict()
        assert first.index.tolist() + indices(feed) == order[250:]
        # The state says where, the other arguments where it ends.
        feed.load_state_dict(state)
        assert indices(feed) == order[350:]
    with zrecord.feed(data, batch_size=100, seed=SEED, epoch=3, epochs=None, stop_before_batch=35) as feed:
        assert indices(feed) == order[:200]
    with zrecord.feed(data, seed=SEED, start_position=RECORDS + 1) as feed, pytest.raises(ValueError, match="0 to 1003"):
        next(feed)


def test_batches_come_as_they_are_completed(data: Path) -> None:
    options: dict[str, Any] = {"fields": ["label"], "batch_size": 10, "max_bytes": 200, "loader_priority": 4, "threads": 4}
    with zrecord.feed(data, as_completed=True, **options) as feed:
        found = [i for _ in range(30) for i in next(feed).index.tolist()]
        state = feed.state_dict()
    with zrecord.feed(data, as_completed=True, **options) as feed:
        feed.load_state_dict(state)
        assert sorted(found + indices(feed)) == list(range(RECORDS))


def test_a_state_of_another_sampler_is_refused(data: Path) -> None:
    with zrecord.feed(data, sampler="stratified", labels_field="label", batch_size=70) as feed:
        state = feed.state_dict()
    with zrecord.feed(data) as feed, pytest.raises(ValueError, match=r"order of shuffle.*that of stratified"):
        feed.load_state_dict(state)
        next(feed)
    with (
        zrecord.feed(data, sampler="stratified", labels_field="label", batch_size=71) as feed,
        pytest.raises(ValueError, match=r"batchSize=71.*batchSize=70"),
    ):
        feed.load_state_dict(state)
        next(feed)


def test_parameters_of_samplers_have_the_names_that_they_have_in_java() -> None:
    source = ROOT / "engine" / "feed" / "src" / "main" / "java" / "io" / "zrecord" / "feed" / "spec" / "SamplerParameter.java"
    texts: list[str] = re.findall(r"^  [A-Z_]+\(\"(\w+)\"", source.read_text("utf-8"), re.MULTILINE)
    assert len(texts) == 18
    snakes = {"".join("_" + c.lower() if c.isupper() else c for c in text) for text in texts}
    keywords = snakes - {"from"} | {"from_"}
    others = {
        *("path", "fields", "indices", "drop_remainder", "epochs", "stop_before_batch", "pad", "bad_records"),
        *("as_completed", "depth", "max_bytes", "threads", "loader_priority", "version", "verify", "timeout", "writable"),
        "engine_options",
    }
    assert set(inspect.signature(zrecord.feed).parameters) == keywords | others


def test_every_sampler_is_in_the_documentation_of_the_function() -> None:
    source = ROOT / "engine" / "feed" / "src" / "main" / "java" / "io" / "zrecord" / "feed" / "spec" / "SamplerName.java"
    names = re.findall(r"^  [A-Z_]+\(\"(\w+)\"", source.read_text("utf-8"), re.MULTILINE)
    assert len(names) == 9
    assert zrecord.feed.__doc__
    assert re.findall(r"^    - ``(\w+)``:", zrecord.feed.__doc__, re.MULTILINE) == names


def test_a_state_of_another_seed_is_refused(data: Path) -> None:
    with zrecord.feed(data, seed=1) as feed:
        state = feed.state_dict()
    with zrecord.feed(data, seed=2) as feed, pytest.raises(ValueError, match="seed"):
        feed.load_state_dict(state)
        next(feed)


TRAINER = """
import json, os, sys, zrecord
path, checkpoint, seed = sys.argv[1:]
feed = zrecord.feed(path, fields=["label"], batch_size=10, seed=int(seed))
for batch in feed:
    sys.stdin.readline()
    seen = json.dumps({"state": feed.state_dict(), "index": batch.index.tolist()})
    with open(checkpoint + ".new", "a") as file:
        file.write(seen + "\\n")
    print(feed._engine._process.pid, flush=True)
"""


def test_a_trainer_that_is_killed_goes_on_with_the_rest_and_leaves_no_engine(
    data: Path, tmp_path: Path, orders: dict[str, Any]
) -> None:
    checkpoint = tmp_path / "checkpoint"
    words = [sys.executable, "-c", TRAINER, str(data), str(checkpoint), str(SEED)]
    trainer = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert trainer.stdin and trainer.stdout
    trainer.stdin.write(b"\n" * 80)  # it waits before the end, however late it is killed
    trainer.stdin.flush()
    for _ in range(20):
        engine = int(trainer.stdout.readline())
    trainer.kill()
    trainer.wait()
    trainer.stdin.close()
    trainer.stdout.close()
    wait_for_end(engine)
    seen = [json.loads(line) for line in checkpoint.with_suffix(".new").read_text().splitlines() if line.endswith("}")]
    before = [i for batch in seen for i in batch["index"]]
    assert 200 <= len(before) <= 800
    with zrecord.feed(data, fields=["label"], batch_size=10, seed=SEED) as feed:
        feed.load_state_dict(seen[-1]["state"])
        after = indices(feed)
    assert before + after == [orders["shuffle"](RECORDS, SEED, 0, p) for p in range(RECORDS)]


@pytest.mark.parametrize("world_size", [2, 3])
def test_ranks_share_all_records_and_resume_as_another_number_of_ranks(data: Path, world_size: int) -> None:
    def rank(number: int, count: int, state: dict[str, Any] | None = None) -> list[tuple[list[int], dict[str, Any]]]:
        with zrecord.feed(data, batch_size=10, seed=SEED, rank=number, world_size=count, remainder="pad") as feed:
            if state:
                feed.load_state_dict(state)
            return [(batch.index.tolist(), feed.state_dict()) for batch in feed]

    ranks = [rank(r, world_size) for r in range(world_size)]
    assert len({len(batches) for batches in ranks}) == 1
    assert {i for batches in ranks for batch, _ in batches for i in batch} == set(range(RECORDS))
    used = [i for batches in ranks for batch, _ in batches[:4] for i in batch]
    states = [batches[3][1] for batches in ranks]
    assert all(state == states[0] for state in states)
    rest = [i for batch, _ in rank(0, 1, states[0]) for i in batch]
    assert sorted(used + rest) == list(range(RECORDS))


def test_batches_that_are_held_are_not_overwritten(data: Path, images: np.ndarray[Any, Any]) -> None:
    with zrecord.feed(data, batch_size=10, depth=4) as feed:
        first = next(feed)
        index, part = first.index, first["image"][2:5, 1]
        del first
        for _ in feed:
            pass
        # Only a view of a view is left, and the engine has ended.
        np.testing.assert_array_equal(part, images[index[2:5], 1])


def test_memory_is_not_used_again_while_a_view_is_there(endless: zrecord.Feed) -> None:
    held = [next(endless)["image"][:, 0] for _ in range(7)]
    expected = [np.array(view) for view in held]
    for _ in range(90):
        next(endless)
    for view, copy in zip(held, expected):
        np.testing.assert_array_equal(view, copy)


def drop_while_waiting(feed: zrecord.Feed, drop: Callable[[], Any], monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Lets another thread drop batches when the feed waits for the third time. Returns the numbers of its waits so far."""
    assert feed._engine is not None
    poll, waits = feed._engine._poll, list[int]()

    class Poll:
        def poll(self, timeout: float) -> Any:
            waits.append(len(waits))
            if len(waits) == 3:
                dropping = threading.Thread(target=drop)
                dropping.start()
                dropping.join()
            return poll.poll(timeout)

    monkeypatch.setattr(feed._engine, "_poll", Poll())
    return waits


def test_a_batch_that_another_thread_drops_is_waited_for(data: Path) -> None:
    with zrecord.feed(data, batch_size=10, depth=2) as feed:
        for _ in range(budget.of(20)):
            held = [next(feed), next(feed)]
            with pytest.MonkeyPatch.context() as monkeypatch:
                waits = drop_while_waiting(feed, held.clear, monkeypatch)
                next(feed)
            assert len(waits) >= 3


def test_holding_all_batches_is_an_error_and_no_deadlock(endless: zrecord.Feed, monkeypatch: pytest.MonkeyPatch) -> None:
    held = [next(endless) for _ in range(8)]
    with monkeypatch.context() as impatient:
        impatient.setattr(_engine, "_OWNED_SECONDS", 0.2)
        with pytest.raises(FeedError, match="All 8 batches of the feed are still referenced"):
            next(endless)
    held.pop(0)
    next(endless)
    del held
    # A batch in a cycle is dropped only by the collector, which the feed asks before it gives up, however late that is.
    monkeypatch.setattr(_engine, "_OWNED_SECONDS", 0)
    gc.disable()
    try:
        for _ in range(50):
            cycle: list[Any] = [next(endless)]
            cycle.append(cycle)
            del cycle
    finally:
        gc.enable()


def test_arrays_are_read_only_unless_asked_for(data: Path, endless: zrecord.Feed) -> None:
    with pytest.raises(ValueError, match="read-only"):
        next(endless)["image"][0] = 0
    with zrecord.feed(data, batch_size=10, writable=True, sampler="sequential") as feed:
        for number, batch in enumerate(feed):
            assert batch["label"][0] == LABELS[number * 10]
            batch["label"][:] = -1


def test_a_damaged_record_is_an_error_that_names_it(data: Path, tmp_path: Path) -> None:
    copy = damaged(data, tmp_path)
    (chunk,) = copy.glob("shard/*/*.zr")
    with zrecord.feed(copy, batch_size=10) as feed:
        with pytest.raises(CorruptDataError, match=str(chunk.name)):
            list(feed)
        with pytest.raises(CorruptDataError):
            next(feed)
    with zrecord.feed(copy, batch_size=10, bad_records="skip_record") as feed:
        # One checksum covers a unit of 4 KiB, and 342 images of 12 bytes touch this unit.
        lost = sorted(set(range(RECORDS)) - set(indices(feed)))
        assert lost == list(range(lost[0], lost[0] + 342))


def test_one_text_is_no_list_of_fields(data: Path) -> None:
    with pytest.raises(ValueError, match=r"fields is the text 'label', which is not a list; give \['label'\]"):
        zrecord.feed(data, fields="label")


def test_wrong_arguments_are_errors_with_the_engine_s_message(data: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no-such"):
        next(zrecord.feed(data, fields=["no-such"]))
    with pytest.raises(ValueError, match="--window does not go with the sampler shuffle"):
        next(zrecord.feed(data, window=3))
    with pytest.raises(ValueError, match="nothing"):
        next(zrecord.feed(tmp_path / "nothing"))


def test_engines_end(data: Path) -> None:
    feed = zrecord.feed(data, batch_size=10)
    next(feed)
    pid = pid_of(feed)
    feed.close()
    feed.close()
    wait_for_end(pid)
    with pytest.raises(FeedError, match="is closed"):
        next(feed)
    with pytest.raises(FeedError, match="is closed"):
        iter(feed)

    dropped = zrecord.feed(data, batch_size=10)
    next(dropped)
    pid = pid_of(dropped)
    del dropped
    gc.collect()
    wait_for_end(pid)

    with pytest.raises(ZeroDivisionError), zrecord.feed(data, batch_size=10) as raising:
        for batch in raising:
            pid = pid_of(raising)
            batch.number // 0
    wait_for_end(pid)


def test_a_fork_neither_uses_nor_keeps_the_engine(data: Path) -> None:
    feed = zrecord.feed(data, batch_size=10)
    next(feed)
    pid = pid_of(feed)
    ready, done = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(done)
        try:
            list(feed)
            code = 1
        except FeedError:
            code = 0
        os.read(ready, 1)
        os._exit(code)
    os.close(ready)
    next(feed)
    feed.close()
    wait_for_end(pid)
    os.close(done)
    assert os.waitpid(child, 0)[1] == 0


def test_a_fork_keeps_no_engine_while_another_feed_has_ended(data: Path) -> None:
    program = (
        "import os, stat, sys, zrecord\n"
        "ended = zrecord.feed(sys.argv[1], batch_size=500, drop_remainder=True)\n"
        "while next(ended, None) is not None: pass\n"
        "feed = zrecord.feed(sys.argv[1], batch_size=10)\n"
        "next(feed)\n"
        "pipe = feed._engine._leases._pipe.fileno()\n"
        "child = os.fork()\n"
        "if child == 0: os._exit(stat.S_ISFIFO(os.fstat(pipe).st_mode))\n"
        "sys.exit(os.waitpid(child, 0)[1])\n"
    )
    said = run(program, data)
    assert (said.returncode, said.stderr) == (0, "")


def test_a_stalled_engine_times_out_and_may_go_on(data: Path) -> None:
    with zrecord.feed(data, batch_size=10, depth=2, timeout=120) as feed:
        next(feed)
        os.kill(pid_of(feed), signal.SIGSTOP)
        os.waitpid(pid_of(feed), os.WUNTRACED)
        feed._timeout = 0.3
        with pytest.raises(FeedTimeoutError, match=r"No batch came within 0.3 s"):
            for _ in range(4):
                next(feed)
        os.kill(pid_of(feed), signal.SIGCONT)
        feed._timeout = 120
        assert next(feed).number >= 1


def test_an_engine_that_dies_is_an_error(data: Path) -> None:
    with zrecord.feed(data, batch_size=10, depth=2) as feed:
        next(feed)
        os.kill(pid_of(feed), signal.SIGKILL)
        with pytest.raises(FeedError, match="ended with exit code -9"):
            list(feed)


def test_what_is_no_engine_is_an_error(monkeypatch: pytest.MonkeyPatch, data: Path) -> None:
    monkeypatch.setenv("ZRECORD_COMMAND", "sh -c 'exec sleep 1000'")
    monkeypatch.setattr(_epochs, "_START_SECONDS", 0.1)
    monkeypatch.setattr(_engine, "_CLOSE_SECONDS", 0.1)  # what does not end by itself is killed
    with pytest.raises(FeedTimeoutError):
        next(zrecord.feed(data, timeout=0.1))
    monkeypatch.setenv("ZRECORD_COMMAND", "sh -c 'for a; do case $a in --messages=*) echo I am sh > ${a#*=};; esac; done' x")
    with pytest.raises(LauncherError, match="does not speak the protocol"):
        next(zrecord.feed(data))
    monkeypatch.setenv("ZRECORD_COMMAND", "/no/such/command")
    with pytest.raises(LauncherError, match="Cannot run /no/such/command"):
        next(zrecord.feed(data))


def descriptors() -> set[tuple[str, str]]:
    """The open descriptors with what they name, without sockets: clients of other tests close theirs when they like."""
    found = set()
    for entry in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):  # it was closed since, as that of the list is
            found.add((entry.name, str(entry.readlink())))
    return {(number, name) for number, name in found if not name.startswith("socket:")}


def test_no_descriptor_is_left(data: Path) -> None:
    def use() -> None:
        with zrecord.feed(data, batch_size=10) as feed:
            next(feed)

    use()
    gc.collect()
    before = descriptors()
    running = {engine for engine in _engine._running if engine._process.returncode is None}  # that tests share
    use()
    gc.collect()
    assert descriptors() - before == set()
    assert {engine for engine in _engine._running if engine._process.returncode is None} == running


def test_the_end_comes_also_to_who_keeps_all_batches(data: Path) -> None:
    batches = list(zrecord.feed(data, batch_size=200, depth=6))
    assert sum(len(batch["label"]) for batch in batches) == RECORDS


def test_a_batch_that_another_thread_drops_makes_room(endless: zrecord.Feed, monkeypatch: pytest.MonkeyPatch) -> None:
    held = [next(endless) for _ in range(8)]
    waits = drop_while_waiting(endless, held.pop, monkeypatch)
    assert len(next(endless)["label"]) == 10
    assert len(waits) >= 3


@pytest.mark.parametrize("indices", [np.arange(10) > 5, [1.5, 2.5], [[1], [2]]])
def test_indices_are_whole_numbers(data: Path, indices: Any) -> None:
    with pytest.raises(ValueError, match="whole numbers"):
        zrecord.feed(data, indices=indices)


def test_a_feed_has_at_least_an_epoch(data: Path) -> None:
    with pytest.raises(ValueError, match="1 or more"):
        zrecord.feed(data, epochs=0)
