"""Conditions on fields: each is compared with what Python says of the values one by one."""

from __future__ import annotations

import datetime
import operator
import pickle
import tracemalloc
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

import zrecord
from tests import budget
from tests.conftest import GOLDEN
from zrecord import _where
from zrecord._condition import Comparison, IsIn, Read
from zrecord._schema import FieldSpec
from zrecord._steps import in_steps

TABLE = GOLDEN / "v2" / "table"
SIGNS: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
NUMBERS = ("i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f16", "f32", "f64")
OTHERS = ("bool", "date", "timestamp", "timestamp_ntz", "utf8", "bytes", "decimal(9,2)", "decimal(38,10)")


@pytest.fixture(scope="module")
def data() -> zrecord.Dataset:
    return zrecord.open(TABLE)


@pytest.fixture(autouse=True)
def in_small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_where, "_MAX_STEP", 50)


def of_python(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) and not isinstance(value, np.datetime64) else value


@pytest.mark.parametrize("name", [*NUMBERS, *OTHERS])
def test_comparisons_are_those_of_values(data: zrecord.Dataset, name: str) -> None:
    field = data[name]
    values = [of_python(field[i]) for i in range(len(field))]
    operands = [value for value in values if value is not None and value == value]
    operands = [operands[i] for i in budget.random().choice(len(operands), 12)]
    if name in NUMBERS:
        operands += [0, -1, 3, 2**63, -(2**64), float("inf"), float("-inf"), float("nan")]
        operands += [2**70, 1e300, -1e300, *([] if name in ("f16", "f32") else [2.5, -0.5])]
    for operand in operands:
        for sign, compare in SIGNS.items():
            wanted = [i for i, value in enumerate(values) if value is not None and compare(value, operand)]
            assert data.where(compare(field, operand)).indices.tolist() == wanted, (sign, operand)
            wanted = [i for i, value in enumerate(values) if value is not None and not compare(value, operand)]
            assert data.where(~compare(field, operand)).indices.tolist() == wanted, (sign, operand)
    finite = [operand for operand in operands if operand == operand]
    wanted = [i for i, value in enumerate(values) if value is not None and value in finite]
    assert data.where(field.isin(finite)).indices.tolist() == wanted
    assert data.where(field.isin([])).indices.tolist() == []


def test_small_floats_are_compared_as_numpy_compares_them(data: zrecord.Dataset) -> None:
    for name in ("f16", "f32"):
        values, present = data[name][:], data[name].validity()
        with np.errstate(all="ignore"):
            for operand in (2.5, -0.1, 1e-3):
                assert data.where(data[name] < operand).indices.tolist() == np.flatnonzero((values < operand) & present).tolist()


def test_bfloat16_is_compared_as_a_number(data: zrecord.Dataset) -> None:
    field = data["bf16"]
    numbers = (field[:].astype(np.uint32) << 16).view(np.float32)
    with np.errstate(invalid="ignore"):
        wanted = np.flatnonzero((numbers > 1.5) & field.validity()).tolist()
    assert wanted and data.where(field > 1.5).indices.tolist() == wanted


def test_absent_values_make_neither_a_comparison_nor_its_opposite_true(data: zrecord.Dataset) -> None:
    field = data["i32"]
    absent = np.flatnonzero(~field.validity()).tolist()
    assert data.where(field.is_absent()).indices.tolist() == absent and absent
    assert len(data.where(~field.is_absent())) == 120 - len(absent)
    assert len(data.where((field < 0) | ~(field < 0))) == 120 - len(absent)
    assert len(data.where(field.is_absent() | (field < 0) | (field >= 0))) == 120


def test_random_conditions_are_those_of_sql(data: zrecord.Dataset) -> None:
    """With ``None`` for unknown, as in SQL."""
    random = budget.random()
    names = ("i8", "u8", "i16", "bool", "utf8")
    values = {name: [of_python(data[name][i]) for i in range(120)] for name in names}

    def either(one: Any, other: Any) -> Any:
        return True if one or other else None if one is None or other is None else False

    def opposite(one: Any) -> Any:
        return None if one is None else not one

    def condition(depth: int) -> tuple[zrecord.Condition, list[Any]]:
        kind = random.integers(6) if depth else random.integers(3)
        name = str(random.choice(names))
        if kind == 0:
            return data[name].is_absent(), [value is None for value in values[name]]
        if kind < 3:
            operand = random.choice([value for value in values[name] if value is not None])
            operand = str(operand) if name == "utf8" else operand
            compare = list(SIGNS.values())[random.integers(6)]
            return compare(data[name], operand), [None if v is None else bool(compare(v, operand)) for v in values[name]]
        made, known = condition(depth - 1)
        if kind == 3:
            return ~made, [opposite(one) for one in known]
        other, others = condition(depth - 1)
        if kind == 4:
            return made | other, [either(*pair) for pair in zip(known, others)]
        return made & other, [opposite(either(opposite(a), opposite(b))) for a, b in zip(known, others)]

    for _ in range(budget.of(300)):
        made, known = condition(3)
        assert data.where(made).indices.tolist() == [i for i, one in enumerate(known) if one], made
        assert repr(pickle.loads(pickle.dumps(made))) == repr(made)


def test_times_are_taken_as_dates_texts_and_moments(data: zrecord.Dataset) -> None:
    utc, ntz, date = data["timestamp"], data["timestamp_ntz"], data["date"]
    moment = datetime.datetime(2001, 2, 3, 4, 5, 6, 7, datetime.timezone(datetime.timedelta(hours=2)))
    plain = np.datetime64("2001-02-03T02:05:06.000007")
    assert data.where(utc < moment).indices.tolist() == data.where(utc < plain).indices.tolist() != []
    for operand in (datetime.datetime(2001, 2, 3, 4), "2001-02-03T04:00", np.datetime64("2001-02-03T04", "h")):
        wanted = np.flatnonzero((ntz[:] >= np.datetime64("2001-02-03T04")) & ntz.validity()).tolist()
        assert data.where(ntz >= operand).indices.tolist() == wanted
    for day in (datetime.date(2001, 2, 3), "2001-02-03", np.datetime64("2001-02-03")):
        assert data.where(date > day).indices.tolist() == data.where(date > "2001-02-03").indices.tolist() != []


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda d: d["i64"] == None, TypeError, r"with None; write field.is_absent\(\)"),  # noqa: E711
        (lambda d: d["i64"] == "x", TypeError, "Cannot compare field 'i64' of i64 == 'x'; give a number"),
        (lambda d: d["i64"] == True, TypeError, "give a number"),  # noqa: E712
        (lambda d: d["bool"] == 1, TypeError, "give True or False"),
        (lambda d: d["utf8"] < 3, TypeError, "give a text"),
        (lambda d: d["bytes"] == "x", TypeError, "give bytes"),
        (lambda d: d["decimal(9,2)"] == "1.5", TypeError, "give a Decimal"),
        (lambda d: d["date"] == 7, TypeError, "give a date"),
        (lambda d: d["date"] < "yesterday", ValueError, "give an ISO date"),
        (lambda d: d["date"] < np.datetime64("NaT"), ValueError, "NaT"),
        (lambda d: d["timestamp"] < datetime.datetime(2001, 1, 1), TypeError, "with a time zone"),
        (lambda d: d["timestamp"] < "2001-01-01", ValueError, "has no time zone"),
        (lambda d: d["timestamp_ntz"] < datetime.datetime.now(datetime.timezone.utc), TypeError, "without a time zone"),
        (lambda d: d["image"] == 3, TypeError, r"values of u8\[3, 5\], which are not compared"),
        (lambda d: d["i64"] == d["i32"], TypeError, "give a number"),
        (lambda d: d["i64"] == np.zeros(120), TypeError, "give a number"),
        (lambda d: d["utf8"].isin("abc"), TypeError, r"give \['abc'\]"),
        (lambda d: (d["i64"] == 3) and (d["i32"] == 3), TypeError, "join conditions by & and |"),
        (lambda d: 3 < d["i64"] < 5, TypeError, "join conditions by & and |"),
        (lambda d: (d["i64"] == 3) & True, TypeError, "put comparisons in parentheses"),
        (lambda d: d.where(True), TypeError, "where takes a condition or a function, not bool"),
        (lambda d: d.where(d["i64"] == 3, ["i64"]), ValueError, "leave fields out"),
        (lambda d: d.select(["i32"]).where(d["i64"] == 3), KeyError, "no field 'i64'"),
        (lambda d: d.where(lambda batch: batch["i64"][:2] == 0), ValueError, r"return an array of bool of the shape"),
        (lambda d: d.where(lambda batch: batch["i64"]), ValueError, "returned int64"),
    ],
)
def test_what_cannot_be_compared_is_refused_with_what_to_give(
    data: zrecord.Dataset, make: Callable[[zrecord.Dataset], Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        make(data)


def test_a_function_chooses_by_the_values_of_its_fields(data: zrecord.Dataset) -> None:
    seen: list[Any] = []

    def choose(batch: dict[str, Any]) -> Any:
        seen.append((list(batch), len(batch["i64"]), len(batch["utf8"])))
        return [text is not None and number % 2 == 0 for number, text in zip(batch["i64"], batch["utf8"])]

    found = data.where(choose, ["i64", "utf8"])
    texts = data["utf8"][:]
    assert found.indices.tolist() == [i for i in range(120) if texts[i] is not None and data["i64"][:][i] % 2 == 0]
    assert {names for one, _, _ in seen for names in one} == {"i64", "utf8"}
    assert sum(count for _, count, _ in seen) == 120 and max(count for _, count, _ in seen) <= 50 and len(seen) > 3
    assert data.where(lambda batch: np.zeros(len(batch["i64"]), bool)).indices.tolist() == []


def test_parts_are_searched_by_their_own_records(data: zrecord.Dataset) -> None:
    part = data.take(slice(None, None, -2))
    found = part.where(part["i64"] > 0)
    every = part.indices
    assert found.indices.tolist() == [int(i) for i in every if data["i64"][int(i)] is not None and data["i64"][int(i)] > 0]
    twice = found.where(data["i32"] < 0)
    assert set(twice.indices) == set(part.where((data["i64"] > 0) & (data["i32"] < 0)).indices)


def test_a_search_holds_a_bounded_part_of_a_field(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_where, "_MAX_STEP", 1 << 20)
    monkeypatch.setattr(_where, "_STEP_BYTES", 1 << 16)
    big = zrecord.open(GOLDEN / "v2-units", verify="never").take(slice(0, 20_000))
    condition = (big["line"] == "no such line") & (big["label"] == 3)
    texts = big["line"][:]
    everything = sum(len(text) for text in texts if text)
    del texts
    tracemalloc.start()
    try:
        assert len(big.where(condition)) == 0
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < everything, (peak, everything)


def test_decimals_are_compared_exactly(data: zrecord.Dataset) -> None:
    values = data["decimal(38,10)"][:]
    some = next(value for value in values if value is not None)
    above = some + Decimal("1E-10") if abs(some) < 10**10 else some
    assert data.where(data["decimal(38,10)"] == some).indices.tolist() == [i for i, v in enumerate(values) if v == some]
    assert data.where(data["decimal(38,10)"] >= above).indices.tolist() == [
        i for i, v in enumerate(values) if v is not None and v >= above
    ]


@pytest.mark.parametrize("name", ["date", "timestamp_ntz"])
def test_times_of_any_unit_are_compared_exactly(name: str) -> None:
    unit = "D" if name == "date" else "us"
    spec = FieldSpec(1, "when", name, ())
    texts = [
        "-290000-01-01",
        "1969-12-31",
        "2021-01-01",
        "2021-01-02",
        "2262-04-12",
        "9999-12-31",
        *(["NaT"] if unit == "us" else []),
    ]
    read = Read(spec, np.array(texts, f"datetime64[{unit}]"), np.ones(len(texts), bool))
    for operand, place in (
        (np.datetime64("2021-01-01", "ns"), 2),
        (np.datetime64("2021-01-01T00:00:00.000000001"), 2.5),
        (np.datetime64("2020-12-31T23:59:59.999999999"), 1.5),
        (np.datetime64(-1, "ps"), 1.5),
        (np.datetime64("2021"), 2),
        (np.datetime64(400_000, "Y"), 5.5),
        (np.datetime64("9999-12-31"), 5),
    ):
        for sign, compare in SIGNS.items():
            wanted = [compare(i, place) for i in range(6)] + [sign == "!="] * (len(texts) - 6)
            found, _ = Comparison(spec, sign, operand)._judge(lambda _: read)
            assert found.tolist() == wanted, (operand, sign)
        found, _ = IsIn(spec, [operand])._judge(lambda _: read)
        assert found.tolist() == [i == place for i in range(len(texts))], operand


def test_integers_beyond_the_bits_of_a_double_are_compared_exactly() -> None:
    spec = FieldSpec(1, "number", "f64", ())
    values = [2.0**53, 2.0**53 + 2, 2.0**53 + 4, -(2.0**63), 1e300, -0.0, float("nan"), float("inf")]
    read = Read(spec, np.array(values), np.ones(len(values), bool))
    for operand in (2**53 + 1, 2**53 + 3, -(2**63) - 1, 10**300, 2**53, 0):
        for sign, compare in SIGNS.items():
            found, _ = Comparison(spec, sign, operand)._judge(lambda _: read)
            assert found.tolist() == [compare(value, operand) for value in values], (operand, sign)
        found, _ = IsIn(spec, [operand])._judge(lambda _: read)
        assert found.tolist() == [value == operand for value in values], operand


def test_a_condition_is_evaluated_by_the_type_of_the_dataset_that_is_searched() -> None:
    whole, real = FieldSpec(1, "x", "i32", ()), FieldSpec(1, "x", "f64", ())
    read = Read(real, np.array([2.5, 3.0]), np.ones(2, bool))
    assert IsIn(whole, [2.5])._judge(lambda _: read)[0].tolist() == [True, False]
    text = Read(FieldSpec(1, "x", "utf8", ()), ["3"], np.ones(1, bool))
    for condition in (Comparison(whole, "==", 3), IsIn(whole, [3])):
        with pytest.raises(TypeError, match="Cannot compare field 'x' of utf8"):
            condition._judge(lambda _: text)


def test_no_decimal_is_compared_with_nan(data: zrecord.Dataset) -> None:
    for operand in (float("nan"), Decimal("nan")):
        with pytest.raises(ValueError, match="which no decimal is"):
            assert data["decimal(9,2)"] < operand


def test_long_values_after_many_short_ones_are_read_a_few_at_a_time() -> None:
    lengths = np.where(np.arange(50_000) < 30_000, 10, 100_000)
    held = [
        int(lengths[found.start : found.stop].sum())
        for _, found in in_steps(
            lengths.size,
            [FieldSpec(1, "text", "utf8", ())],
            lambda records: records,
            lambda records: int(lengths[records.start : records.stop].sum()),
            16 << 20,
            1 << 20,
        )
    ]
    assert sum(held) == lengths.sum() and max(held) <= 4096 * 100_000
    assert sorted(held)[-3] <= 16 << 20


def test_a_number_of_numpy_may_be_on_the_left(data: zrecord.Dataset) -> None:
    field, zero = data["i64"], np.int64(0)
    present, is_zero = field.validity(), field[:] == 0
    assert (is_zero & ~present).any()
    assert data.where(zero == field).indices.tolist() == np.flatnonzero(is_zero & present).tolist()
    for left, right in (
        (zero < field, field > 0),
        (zero <= field, field >= 0),
        (zero > field, field < 0),
        (zero >= field, field <= 0),
    ):
        assert repr(left) == repr(right)
    assert data.where(zero != field).indices.tolist() == np.flatnonzero(~is_zero & present).tolist()
    assert np.array_equal(np.add(field, 1), field[:] + 1)
    assert np.array_equal(field[:] == field, np.ones(len(field), bool))
    assert np.maximum.reduce(field) == field[:].max()
