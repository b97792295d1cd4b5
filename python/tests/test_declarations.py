"""What a table says of itself: the engine's golden table of it."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

import zrecord
from tests.conftest import GOLDEN
from zrecord import Constraint, Declarations, Identity, OrderField
from zrecord._declarations import read_declarations
from zrecord._sealed import JsonObject

TABLE = GOLDEN / "v2-declarations"
IDENTITY = GOLDEN / "v2-identity"
COMMENT = "images, Ünïcode"
ALL = Declarations(
    COMMENT,
    {"empty": "", "owner": "the team", "zrecord.isolation": "snapshot"},
    (OrderField(2, "descending", "first"), OrderField(1, "ascending", "last")),
    (
        Constraint("positive", "check", (1,), "label >= 0", enforced=True),
        Constraint("early", "check", (2,), "when < 5000"),
        Constraint("pk", "primaryKey", (1, 2)),
        Constraint("uq", "unique", (2,)),
        Constraint("fk", "foreignKey", (1,), references=("db.labels", ("id",))),
        Constraint("fk2", "foreignKey", (3,), references=("db.splits", ())),
    ),
)


def test_every_version_has_its_declarations() -> None:
    assert zrecord.open(TABLE, version=0).declarations == Declarations(COMMENT)
    for version in (1, 2):
        assert zrecord.open(TABLE, version=version).declarations == ALL
    with pytest.raises(TypeError):
        zrecord.open(TABLE).declarations.properties["owner"] = "another"  # type: ignore[index]


def test_values_are_read_beside_features_for_writers() -> None:
    dataset = zrecord.open(TABLE)
    assert dataset["label"][:].tolist() == [0, 1, 2, 3]
    assert dataset["when"][:].tolist() == [1000, 1001, 1002, 1003]
    assert dataset["part"][:] == ["train"] * 4
    assert [spec.default for spec in dataset.fields.values()] == [None, "unix_micros(now())", "lower('TRAIN')"]
    assert pickle.loads(pickle.dumps(dataset)).declarations == ALL


def test_identities_and_the_numbers_that_they_gave_are_read() -> None:
    up, down = UUID("44444444-4445-0444-8111-111111111111"), UUID("55555555-5556-4555-8111-111111111111")
    first, last = Identity(1, up, 10, 3, 34), Identity(2, down, -9_000_000_000, -1, -9_000_000_004, explicit=True)
    versions: list[tuple[Identity, ...]] = [
        (),
        (replace(first, next=10), replace(last, next=last.start)),
        (first, replace(last, next=last.start)),
        *[(first, last)] * 3,
    ]
    for version, identities in enumerate(versions):
        dataset = zrecord.open(IDENTITY, version=version)
        assert dataset.declarations == Declarations(identities=identities)
        assert len(dataset) == (3 if version > 3 else 0)
    dataset = zrecord.open(IDENTITY)
    assert dataset["key"][:].tolist() == [10, 13, 16]
    assert dataset["down"][:].tolist() == [-9_000_000_000, 77, -9_000_000_002]
    assert pickle.loads(pickle.dumps(dataset)).declarations == dataset.declarations


def test_a_table_without_declarations_has_none() -> None:
    assert zrecord.open(GOLDEN / "v2-fields").declarations == Declarations()
    assert zrecord.open(GOLDEN / "v2-stores" / "clean").declarations == Declarations()


def _read(declarations: Any) -> Declarations:
    members = {"nextFieldId": 5, "declarations": declarations}
    return read_declarations(JsonObject("manifest", members))  # type: ignore[arg-type]


def test_what_a_later_release_says_is_left_out() -> None:
    known = {"name": "u", "kind": "unique", "fields": [1]}
    constraints = [{"name": "x", "kind": "exclude"}, known]
    order = [{"field": 1, "direction": "random", "nulls": "first"}, {"field": 2, "direction": "ascending", "nulls": "first"}]
    found = _read({"constraints": constraints, "writeOrder": order, "later": 1.5})
    assert found == Declarations(constraints=(Constraint("u", "unique", (1,)),))


@pytest.mark.parametrize("text", ["\0", "\ud800", "x" * 65_537])
def test_texts_have_limits(text: str) -> None:
    for declarations in ({"comment": text}, {"properties": {"a": text}}, {"properties": {text: ""}}):
        with pytest.raises(zrecord.CorruptDataError):
            _read(declarations)


def test_all_texts_together_have_a_limit() -> None:
    def properties(count: int) -> dict[str, Any]:
        return {"properties": {chr(97 + i): "x" * 65_535 for i in range(count)}}

    assert len(_read(properties(16)).properties) == 16
    with pytest.raises(zrecord.CorruptDataError):
        _read({**properties(16), "comment": "x"})
