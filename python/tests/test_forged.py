"""Forged datasets, whose checksums are all right, have the verdicts that the engine comes to as well."""

from __future__ import annotations

import json
from typing import Any

import pytest

import zrecord
from tests.conftest import GOLDEN
from zrecord._open import Verify

FORGED = GOLDEN / "forged"
VERDICTS: dict[str, dict[str, Any]] = json.loads((FORGED / "verdicts.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("verify", ["first", "always", "never"])
@pytest.mark.parametrize("name", VERDICTS)
def test_every_reader_comes_to_the_verdict(name: str, verify: Verify) -> None:
    def read() -> dict[str, list[Any]]:
        dataset = zrecord.open(FORGED / name, verify=verify)
        values = {field: dataset[field][:] for field in dataset.fields}
        return {field: list(values[field]) for field in values if field == "text"}

    if VERDICTS[name]["verdict"] == "sound":
        assert read() == VERDICTS[name]["values"]
    else:
        with pytest.raises(zrecord.CorruptDataError):
            read()


def test_all_that_is_forged_has_a_verdict() -> None:
    assert sorted(path.name for path in FORGED.iterdir() if path.is_dir()) == sorted(VERDICTS)
