"""Every type of field, in NumPy by the feed and in Arrow by the command's stream."""

from __future__ import annotations

import base64
import json
import signal
import socket
import subprocess
from datetime import date, datetime, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import zrecord
from tests.conftest import Once
from zrecord import _launcher

RECORDS = 10
FIELDS = {
    "b": "bool",
    "i8": "i8",
    "u16": "u16",
    "i32": "i32",
    "u64": "u64",
    "f16": "f16",
    "bf": "bf16",
    "f64": "f64",
    "d": "date",
    "ts": "timestamp",
    "tn": "timestamp_ntz",
    "d9": "decimal(9,2)",
    "d18": "decimal(18,3)",
    "d38": "decimal(38,5)",
    "by": "bytes",
    "tx": "utf8:zstd",
    "img": "u8:2,3",
    "bt": "bool:3",
    "fl": "f32:-1",
    "fm": "i16:-1,2",
    "dec": "decimal(9,2):-1",
}
ABSENT = {"i32": 3, "tx": 4, "img": 5, "fl": 6}


def record(i: int) -> dict[str, Any]:
    """A record as JSON."""
    return {
        "b": i % 2 == 0,
        "i8": -i,
        "u16": 60000 + i,
        "i32": i,
        "u64": 2**63 + i,
        "f16": i / 2,
        "bf": float(i),
        "f64": i / 8,
        "d": f"2024-01-1{i}",
        "ts": f"2024-01-01T00:00:0{i}Z",
        "tn": f"2024-01-01T00:00:0{i}",
        "d9": f"-{i}.25",
        "d18": f"-{i}.125",
        "d38": f"-{10**20 + i}.00001",
        "by": base64.b64encode(bytes(range(i))).decode(),
        "tx": "ä" * i,
        "img": [[i, 1, 2], [3, 4, 5]],
        "bt": [True, False, i % 2 == 0],
        "fl": [i / 2] * i,
        "fm": [[i, -j] for j in range(i % 4)],
        "dec": [f"{i}.25"] * (i % 3),
    }


def stored(field: str, i: int) -> Any:
    """What a reader is to see; ``None`` if it is absent."""
    if ABSENT.get(field) == i:
        return None
    value = record(i)[field]
    if field == "by":
        return base64.b64decode(value)
    if field == "d":
        return date.fromisoformat(value)
    if field in ("ts", "tn"):
        return datetime(2024, 1, 1, 0, 0, i, tzinfo=timezone.utc if field == "ts" else None)
    if field in ("d9", "d18", "d38"):
        return Decimal(value)
    if field == "dec":
        return [Decimal(v) for v in value]
    return value


@pytest.fixture(scope="session")
def data(command_line: Path, once: Once) -> Path:
    def write(directory: Path) -> None:
        path = directory / "store"
        _launcher.run(["create", str(path), *(f"--field={name}:{dtype}" for name, dtype in FIELDS.items())])
        with (directory / "lines").open("w") as lines:
            for i in range(RECORDS):
                values = record(i)
                values.update({field: None for field, absent in ABSENT.items() if absent == i})
                lines.write(json.dumps(values) + "\n")
        _launcher.run(["append", str(path), "--jsonl", str(directory / "lines")])

    return once("types", write) / "store"


def test_numpy_has_every_type(data: Path) -> None:
    with zrecord.feed(data, sampler="sequential", batch_size=7) as feed:
        for number, batch in enumerate(feed):
            assert list(batch) == list(FIELDS)
            for field, values in batch.items():
                for at, i in enumerate(range(number * 7, min(RECORDS, number * 7 + 7))):
                    expected = stored(field, i)
                    assert batch.absent(field)[at] == (expected is None)
                    if expected is None:
                        assert not np.any(values[at]) if field != "tx" else values[at] == ""
                    elif field == "bf":
                        assert (values[at : at + 1].astype("u4") << 16).view("f4")[0] == expected
                    elif field in ("ts", "tn"):
                        assert values[at].item() == expected.replace(tzinfo=None)
                    elif field in ("by", "tx"):
                        assert values[at] == expected
                    else:
                        assert np.asarray(values[at]).tolist() == expected
    with pytest.raises(KeyError):
        batch.absent("no-such")


def test_padded_values_are_one_array(data: Path) -> None:
    pad: dict[str, int | str] = {"fl": "longest", "fm": 3, "by": "cut:2"}
    with zrecord.feed(data, fields=list(pad), sampler="sequential", batch_size=8, pad=pad) as feed:
        batch = next(feed)
    assert [batch[field].shape for field in pad] == [(8, 7), (8, 3, 2), (8, 2)]
    assert np.asarray(batch["fl"])[3].tolist() == [1.5, 1.5, 1.5, 0, 0, 0, 0]
    assert np.asarray(batch["fm"])[2].tolist() == [[2, 0], [2, -1], [0, 0]]
    assert np.asarray(batch["by"])[:4].tolist() == [[0, 0], [0, 0], [0, 1], [0, 1]]


def command(data: Path, *options: str) -> list[str]:
    return [*_launcher.command(), "feed", str(data), "--sampler=sequential", "--batch-size=7", *options]


def check(stream: Any) -> None:
    reader = pa.ipc.open_stream(stream)
    metadata = reader.schema.metadata
    assert metadata[b"zrecord.seed"] == b"42"
    assert metadata[b"zrecord.sampler"] == b"sequential"
    assert reader.schema.names == ["_index", *FIELDS]
    assert reader.schema.field("img").type.extension_name == "arrow.fixed_shape_tensor"
    assert reader.schema.field("img").type.shape == [2, 3]
    rows = []
    states = []
    for _ in range(2):
        batch, said = reader.read_next_batch_with_custom_metadata()
        batch.validate(full=True)
        assert said[b"zrecord.epoch"] == b"0"
        states.append(json.loads(said[b"zrecord.next"]))
        rows += [{name: batch.column(name)[i].as_py() for name in batch.schema.names} for i in range(batch.num_rows)]
    with pytest.raises(StopIteration):
        reader.read_next_batch()
    assert [state["groups"][0]["position"] for state in states] == [7, 0]
    for i, row in enumerate(rows):
        assert row.pop("_index") == i
        for field, value in row.items():
            expected = stored(field, i)
            if field == "bf":
                assert np.array([value], "u4") << 16 == np.array([expected], "f4").view("u4")
            elif field == "img" and expected:
                assert value == [v for row in expected for v in row]
            else:
                assert value == expected, (field, i)


def test_arrow_has_every_type(data: Path) -> None:
    with subprocess.Popen(command(data), stdout=subprocess.PIPE, stderr=subprocess.PIPE) as engine:
        assert engine.stdout and engine.stderr
        check(engine.stdout)
        assert engine.stderr.read() == b""
    assert engine.returncode == 0


def test_a_stream_is_longer_than_what_is_in_memory_at_a_time(data: Path) -> None:
    said = subprocess.run(command(data, "--epochs=50", "--depth=2"), capture_output=True, check=True)
    table = pa.ipc.open_stream(said.stdout).read_all()
    assert table["_index"].to_pylist() == list(range(RECORDS)) * 50


def test_arrow_through_a_socket(data: Path, tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "s"))
        listening.listen()
        with subprocess.Popen(command(data, "--socket", str(tmp_path / "s"))) as engine:
            listening.settimeout(60)
            connection, _ = listening.accept()
            with connection, connection.makefile("rb") as stream:
                check(stream)
        assert engine.returncode == 0


def test_a_padded_field_is_a_list_in_arrow(data: Path) -> None:
    options = ["--field=fl", "--field=by", "--pad=fl=9", "--pad=by=longest"]
    said = subprocess.run(command(data, *options), capture_output=True, check=True)
    table = pa.ipc.open_stream(said.stdout).read_all()
    assert [len(value) for value in table["by"].to_pylist()] == [6] * 7 + [9] * 3
    assert [value if value is None else len(value) for value in table["fl"].to_pylist()] == [9] * 6 + [None] + [9] * 3


def test_a_stream_that_is_not_read_to_its_end_ends_quietly(data: Path) -> None:
    with subprocess.Popen(command(data, "--epochs=0"), stdout=subprocess.PIPE, stderr=subprocess.PIPE) as engine:
        assert engine.stdout and engine.stderr
        pa.ipc.open_stream(engine.stdout).read_next_batch()
        engine.stdout.close()
        assert engine.wait(60) == 0
        assert engine.stderr.read() == b""


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_stream_quietly(data: Path, sent: signal.Signals) -> None:
    # A shell script starts background processes with interrupts ignored, and children inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with subprocess.Popen(command(data, "--epochs=0"), stdout=subprocess.PIPE, stderr=subprocess.PIPE) as engine:
        assert engine.stdout and engine.stderr
        pa.ipc.open_stream(engine.stdout).read_next_batch()
        engine.send_signal(sent)
        assert engine.wait(60) == 128 + sent
        assert engine.stderr.read() == b""
