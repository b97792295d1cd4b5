"""Tables behind a URL that are written from Python, by the engine."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import zrecord
from tests.remotes import SECRET
from zrecord._write import engine as engines

pytestmark = pytest.mark.usefixtures("command_line")


def test_tables_on_s3_are_written_and_changed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import fsspec
    from moto.server import ThreadedMotoServer

    monkeypatch.chdir(tmp_path)
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        endpoint = f"http://{host}:{port}"
        options = {"key": "AKIAEXAMPLE", "secret": SECRET, "client_kwargs": {"endpoint_url": endpoint}}
        fsspec.filesystem("s3", **options).mkdir("writes")
        # An engine has the credentials of the environment in which it began.
        engines._close()
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAEXAMPLE")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
        there = {"endpoint": endpoint}
        url = "s3://writes/a/table"
        zrecord.create(url, {"x": np.arange(1000), "t": [str(i) for i in range(1000)]}, engine_options=there)
        done = zrecord.append(url, [{"x": 7, "t": "seven"}], engine_options=there)
        zrecord.update(url, [3], {"t": ["three"]}, version=done.version, engine_options=there)
        data = zrecord.open(url, storage_options=options)
        assert len(data) == 1001 and data[1000] == {"x": 7, "t": "seven"} and data[3]["t"] == "three"
        assert zrecord.verify(url, engine_options=there).sound
        with pytest.raises(zrecord.DatasetExistsError):
            zrecord.create(url, {"x": np.arange(3)}, engine_options=there)
        with pytest.raises(zrecord.StorageError, match="other") as e:
            zrecord.create("s3://other/table", {"x": np.arange(3)}, engine_options=there)
        assert SECRET not in str(e.value)
        assert not list(tmp_path.iterdir())
    finally:
        server.stop()
        engines._close()
