"""Writes that are killed, interrupted, forked and repeated: the old version or the new one, and each record once."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import zrecord
from tests import budget
from zrecord._write import engine as engines
from zrecord._write.engine import EngineLost, Session, engine

pytestmark = pytest.mark.usefixtures("command_line")

MANY = 200_000


@pytest.fixture
def path(tmp_path: Path) -> Path:
    zrecord.create(tmp_path / "table", {"x": np.arange(3)})
    return tmp_path / "table"


def shards(path: Path) -> int:
    """The directories of shards, whether a version names them or not."""
    return len(list((path / "shard").iterdir()))


def wait_until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 120
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"


def test_an_engine_that_is_killed_before_the_commit_commits_nothing(path: Path) -> None:
    w = zrecord.writer(path)
    w.write({"x": np.arange(MANY)})
    running = engine()
    os.kill(running.process.pid, signal.SIGKILL)
    wait_until(lambda: running.is_lost)
    with pytest.raises(zrecord.WriteError, match="nothing was committed"):
        w.commit()
    assert zrecord.open(path).version == 0
    assert zrecord.append(path, {"x": np.arange(2)}).length == 5


def test_an_engine_that_is_killed_before_it_reads_the_commit_commits_nothing(path: Path) -> None:
    w = zrecord.writer(path)
    w.write({"x": np.arange(MANY)})
    pid = engine().process.pid
    os.kill(pid, signal.SIGSTOP)
    threading.Timer(0.3, os.kill, (pid, signal.SIGKILL)).start()
    with pytest.raises(zrecord.CommitOutcomeUnknown, match="transaction=") as e:
        w.commit()
    assert zrecord.open(path).version == 0
    again = zrecord.append(path, {"x": np.arange(MANY)}, transaction=e.value.transaction)
    assert (again.version, again.length, again.repeated) == (1, MANY + 3, False)


def test_an_answer_that_is_lost_leaves_a_write_that_can_be_repeated(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wait = Session.wait

    def lose(self: Session, timeout: float | None = None) -> Any:
        answer = wait(self, timeout)
        if answer.kind == engines.DONE:
            os.kill(self.engine.process.pid, signal.SIGKILL)
            raise EngineLost
        return answer

    with monkeypatch.context() as patch:
        patch.setattr(Session, "wait", lose)
        with pytest.raises(zrecord.CommitOutcomeUnknown) as e:
            zrecord.append(path, {"x": np.arange(5)})
    assert zrecord.open(path).version == 1
    zrecord.append(path, {"x": np.arange(7)})
    for _ in range(2):
        again = zrecord.append(path, {"x": np.arange(5)}, transaction=e.value.transaction)
        assert (again.version, again.length, again.records, again.repeated) == (1, 8, 0, True)
    assert zrecord.open(path).version == 2 and shards(path) == 3


def test_a_creation_whose_answer_is_lost_can_be_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with zrecord.writer(tmp_path / "new", "create") as w:
        transaction = w.transaction
        w.write({"x": np.arange(5)})
    again = zrecord.create(tmp_path / "new", {"x": np.arange(5)}, transaction=transaction)
    assert again.repeated and again.version == 0
    with pytest.raises(zrecord.DatasetExistsError):
        zrecord.create(tmp_path / "new", {"x": np.arange(5)})


def _kill(pid: int) -> None:
    # One that was killed after its last answer is gone when the next append finds out.
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def test_kills_at_any_moment_of_an_append_leave_each_record_once(path: Path) -> None:
    random = budget.random()
    wanted = list(range(3))
    seconds = 0.1
    for value in range(1000, 1000 + budget.of(25)):
        kill = threading.Timer(float(random.uniform(0, 1.2 * seconds)), _kill, [engine().process.pid])
        transaction = None
        kill.start()
        while True:
            begun = time.monotonic()
            try:
                zrecord.append(path, {"x": np.array([value])}, transaction=transaction)
                break
            except zrecord.CommitOutcomeUnknown as e:
                transaction = e.transaction
            except zrecord.WriteError as e:
                assert "nothing was committed" in str(e)
            # The engine that is started now is as slow as the next one that is killed.
            engine()
            begun = time.monotonic()
        kill.cancel()
        kill.join()
        seconds = time.monotonic() - begun
        wanted.append(value)
    assert sorted(zrecord.open(path)["x"][:].tolist()) == wanted
    assert zrecord.verify(path).sound


WRITER = """
import sys, time
import numpy as np, zrecord
w = zrecord.writer(sys.argv[1])
print(w.transaction, flush=True)
w.write({"x": np.arange(200_000)})
print(zrecord._write.engine.engine().process.pid, flush=True)
if sys.argv[2] == "commit":
    w.commit()
    print("committed", flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize("commits", ["commit", "sleep"])
def test_a_process_that_is_killed_leaves_the_old_version_or_the_new_and_no_litter(commits: str, path: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", WRITER, str(path), commits], stdout=subprocess.PIPE, text=True)
    assert process.stdout
    transaction = process.stdout.readline().strip()
    pid = int(process.stdout.readline())
    if commits == "commit":
        time.sleep(float(budget.random().uniform(0, 0.1)))
    process.kill()
    process.wait()
    process.stdout.close()
    wait_until(lambda: not is_running(pid))
    before = zrecord.open(path).version or 0
    assert before == 0 or commits == "commit"
    assert shards(path) == before + 1
    again = zrecord.append(path, {"x": np.arange(200_000)}, transaction=transaction)
    assert (again.version, again.repeated, again.length) == (1, before == 1, 200_003)


def test_a_process_that_ends_without_a_commit_leaves_nothing(path: Path) -> None:
    script = WRITER.replace("time.sleep(60)", "")
    done = subprocess.run([sys.executable, "-c", script, str(path), "end"], capture_output=True, text=True, check=True)
    assert not is_running(int(done.stdout.splitlines()[1]))
    assert zrecord.open(path).version == 0 and shards(path) == 1


INTERRUPTED = """
import sys
import numpy as np, zrecord
def batches():
    print("writing", flush=True)
    while True:
        yield {"x": np.arange(100_000)}
try:
    zrecord.append(sys.argv[1], batches())
except KeyboardInterrupt:
    print("interrupted", zrecord.append(sys.argv[1], {"x": np.arange(1)}).length, flush=True)
"""


def test_an_interrupt_aborts_the_write_and_leaves_the_engine_usable(path: Path) -> None:
    wanted = 3
    for _ in range(budget.of(10)):
        process = subprocess.Popen([sys.executable, "-c", INTERRUPTED, str(path)], stdout=subprocess.PIPE, text=True)
        assert process.stdout and process.stdout.readline() == "writing\n"
        time.sleep(float(budget.random().uniform(0, 0.5)))
        process.send_signal(signal.SIGINT)
        try:
            said, _ = process.communicate(timeout=60)
        finally:
            process.kill()  # It would write for ever.
        wanted += 1
        assert said == f"interrupted {wanted}\n"
    assert len(zrecord.open(path)) == wanted and shards(path) == wanted - 2


def test_an_interrupted_commit_says_how_to_repeat_it(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wait = Session.wait

    def interrupt(self: Session, timeout: float | None = None) -> Any:
        answer = wait(self, timeout)
        if answer.kind == engines.DONE and timeout is None:
            self.answers.put(answer)
            raise KeyboardInterrupt
        return answer

    with monkeypatch.context() as patch:
        patch.setattr(Session, "wait", interrupt)
        with pytest.raises(KeyboardInterrupt) as e:
            zrecord.append(path, {"x": np.arange(5)})
    cause = e.value.__cause__
    assert isinstance(cause, zrecord.CommitOutcomeUnknown) and "it is version 1" in str(cause)
    assert zrecord.append(path, {"x": np.arange(5)}, transaction=cause.transaction).repeated


def test_an_exception_of_a_generator_aborts_the_write(path: Path) -> None:
    def batches() -> Iterator[dict[str, Any]]:
        yield {"x": np.arange(MANY)}
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        zrecord.append(path, batches())
    assert zrecord.open(path).version == 0 and shards(path) == 1


def test_a_fork_has_an_engine_of_its_own(path: Path) -> None:
    w = zrecord.writer(path)
    w.write({"x": np.arange(10)})
    pid = engine().process.pid
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            with pytest.raises(zrecord.WriteError, match="belongs to the process that began it"):
                w.write({"x": np.arange(10)})
            zrecord.append(path, {"x": np.arange(5)})
            assert engine().process.pid != pid
            os.write(write, b"done")
        finally:
            engines._close()
            os._exit(0)
    os.waitpid(child, 0)
    os.close(write)
    assert os.read(read, 10) == b"done"
    os.close(read)
    assert engine().process.pid == pid
    done = w.commit()
    assert done is not None and done.length == 18


def _append(path: Path, value: int) -> None:
    zrecord.append(path, {"x": np.full(10, value)})


def test_processes_of_multiprocessing_write(path: Path) -> None:
    for method in ("fork", "spawn"):
        context: Any = multiprocessing.get_context(method)
        processes = [context.Process(target=_append, args=(path, i)) for i in range(2)]
        for process in processes:
            process.start()
        for process in processes:
            process.join()
            assert process.exitcode == 0
    assert len(zrecord.open(path)) == 43


def test_threads_append_at_once(path: Path) -> None:
    rounds = budget.of(50)
    failures = []

    def append(thread: int) -> None:
        try:
            for i in range(rounds):
                zrecord.append(path, {"x": np.full(7, thread * 1000 + i)})
        except BaseException as e:
            failures.append(e)

    threads = [threading.Thread(target=append, args=(n,)) for n in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    values, counts = np.unique(zrecord.open(path)["x"][3:], return_counts=True)
    assert len(values) == 4 * rounds and (counts == 7).all()


def test_an_engine_that_ended_when_idle_is_started_again(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engines._close()
    monkeypatch.setattr(engines, "_IDLE_SECONDS", 1)
    monkeypatch.setattr(engines, "_FRESH_SECONDS", 0.5)
    assert zrecord.append(path, {"x": np.arange(1)}).length == 4
    with zrecord.writer(path) as w:
        w.write({"x": np.arange(1)})
        pid = engine().process.pid
        time.sleep(2.5)
        assert is_running(pid), "a write that is open keeps the engine"
        w.write({"x": np.arange(1)})
    wait_until(lambda: not is_running(pid))
    assert zrecord.append(path, {"x": np.arange(1)}).length == 7
    assert engine().process.pid != pid
    engines._close()


def test_a_frame_that_breaks_the_protocol_ends_the_engine_without_a_commit(path: Path) -> None:
    w = zrecord.writer(path)
    w.write({"x": np.arange(MANY)})
    engine().process.write(b"\xff" * 32)
    with pytest.raises(zrecord.WriteError, match="is none of protocol 1; install versions that belong together"):
        for _ in range(2400):  # two minutes
            w.write({"x": np.arange(1000)})
            time.sleep(0.05)
    assert zrecord.open(path).version == 0
    wait_until(lambda: shards(path) == 1)


@pytest.mark.parametrize(
    "places",
    [b"", b"\xff" * 40, (1 << 40).to_bytes(8, "little") * 5, b"\1" + bytes(39)],
    ids=["nothing", "negative", "too many", "too short"],
)
def test_a_batch_that_breaks_the_protocol_fails_its_write_only(places: bytes, path: Path) -> None:
    other = zrecord.writer(path)
    other.write({"x": np.arange(10)})
    w = zrecord.writer(path)
    w.write({"x": np.arange(10)})
    attempt = w._open()

    def fill(region: Any) -> int:
        region.bytes[: len(places)] = np.frombuffer(places, np.uint8)
        return len(places)

    attempt.session.send(engines.BATCH, 64, fill)
    with pytest.raises(ValueError, match="A batch"):
        while True:
            w.write({"x": np.arange(10)})
            time.sleep(0.01)
    done = other.commit()
    assert done is not None and (done.version, done.length) == (1, 13)
    assert shards(path) == 2


def test_a_commit_that_lands_while_it_is_repeated_takes_effect_once(path: Path) -> None:
    first = zrecord.writer(path)
    transaction = first.transaction
    first.write({"x": np.arange(5)})
    again = zrecord.writer(path, transaction=transaction)
    late = zrecord.writer(path, transaction=transaction)
    late.write({"x": np.arange(5)})
    first.commit()
    # One has its base before, and one after the version of the first attempt.
    again.write({"x": np.arange(5)})
    for repeated in (again, late):
        done = repeated.commit()
        assert done is not None and (done.version, done.length, done.repeated) == (1, 8, True)
    assert zrecord.open(path).version == 1 and shards(path) == 2


def test_an_engine_that_another_thread_has_ended_leaves_a_write_that_can_be_repeated(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lose(self: Session, timeout: float | None = None) -> Any:
        self.engine.kill()
        raise EngineLost

    w = zrecord.writer(path)
    w.write({"x": np.arange(5)})
    monkeypatch.setattr(Session, "wait", lose)
    with pytest.raises(zrecord.CommitOutcomeUnknown, match="transaction=") as e:
        w.commit()
    monkeypatch.undo()
    assert zrecord.append(path, {"x": np.arange(5)}, transaction=e.value.transaction).length == 8


def test_an_interrupt_while_the_first_is_answered_says_how_to_repeat_the_commit(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    w = zrecord.writer(path)
    w.write({"x": np.arange(5)})

    def interrupt(self: Session, timeout: float | None = None) -> Any:
        raise KeyboardInterrupt

    running = engine()
    monkeypatch.setattr(Session, "wait", interrupt)
    with pytest.raises(KeyboardInterrupt) as e:
        w.commit()
    monkeypatch.undo()
    assert isinstance(e.value.__cause__, zrecord.CommitOutcomeUnknown) and not is_running(running.process.pid)


def _filled(region: Any) -> int:
    region.bytes.fill(7)
    return 8


def test_memory_of_an_engine_that_has_ended_is_no_other_file(path: Path, tmp_path: Path) -> None:
    running = engine()
    descriptor = running.process.memory
    running.close()
    other = tmp_path / "other"
    file = os.open(other, os.O_RDWR | os.O_CREAT)
    os.dup2(file, descriptor)
    try:
        with contextlib.suppress(EngineLost):
            running.send(engines.BATCH, 1, 1 << 20, _filled)
        assert other.stat().st_size == 0
    finally:
        for number in {file, descriptor}:
            os.close(number)
