"""Every order against the vectors and the slow code of docs/spec/SAMPLERS.md."""

from __future__ import annotations

import hashlib
import pickle
import re
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from tests import budget
from tests.conftest import ROOT
from zrecord import samplers
from zrecord.samplers import ENDLESS, Sampler

PAGE = (ROOT / "docs" / "spec" / "SAMPLERS.md").read_text(encoding="utf-8")
VECTOR = re.compile(r"^\| `([^`]+?)(?:, epochs? (\d+)(?: to (\d+))?)?(?:, from position (\d+))?` \| ([\d, ]+) \|$", re.M)
JAVA: dict[str, Callable[..., Sampler]] = {
    "random": samplers.Random,
    "shuffle": samplers.Shuffle,
    "global_": samplers.Global,
    "sliding": samplers.Sliding,
    "sequential": samplers.Sequential,
    "blockShuffle": lambda first, *rest: (
        samplers.BlockShuffle.of_bounds(first, *rest) if isinstance(first, list) else samplers.BlockShuffle(first, *rest)
    ),
    "weighted": samplers.Weighted,
    "mixInProportion": samplers.Mix.in_proportion,
    "mix": samplers.Mix,
    "stratified": samplers.Stratified,
}


def slow() -> dict[str, Any]:
    """The functions of the page."""
    found: dict[str, Any] = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE, re.S):
        exec(block, found)
    return found


SLOW = slow()
Index = Callable[[int, int], int]
#: An order of this package, the index at a position of an epoch by the page, and how many positions to compare.
Case = tuple[Sampler, Index, int]


def slow_mix(sources: list[Sampler], slow_sources: list[Any], rates: list[int], length: int, k: int, seed: int) -> Any:
    bounds = [source.bound for source in sources]
    return lambda e, p: SLOW["mix_sources"](slow_sources, rates, bounds, length, k, seed, e, p)


def slow_order(name: str, *arguments: Any) -> Index:
    return lambda e, p: SLOW[name](*arguments, e, p)


def repeated(length: int, order: Index) -> Index:
    return lambda e, p: order(e * 2**32 + p // length, p % length)


def simple_cases(r: np.random.Generator) -> Iterator[Case]:
    n, seed = int(r.integers(1, 400)), int(r.integers(-(2**63), 2**63 - 1))
    part = int(r.integers(1, n + 1))
    huge = int(r.integers(2, 2**62)) >> int(r.integers(0, 60)) | 2
    step = int(r.choice([-3, -1, 1, 2, 7]))
    low, high = sorted(r.integers(0, 500, 2).tolist())
    from_, to = (low, high) if step > 0 else (high, low - 1)
    sequential = samplers.Sequential(to, from_, step)
    assert sequential.length == max(0, -((from_ - to) // step))
    yield sequential, lambda e, p: SLOW["sequential"](from_, step, p), sequential.length
    stride = int(r.integers(1, n + 1))
    yield samplers.Sliding(n, part, stride), lambda e, p: SLOW["sliding"](n, part, stride, p), 3 * n
    yield samplers.Sliding(huge, huge // 2, huge // 3 + 1), lambda e, p: SLOW["sliding"](huge, huge // 2, huge // 3 + 1, p), ENDLESS
    for length in (n, huge):
        yield samplers.Random(length, seed), slow_order("random", length, seed), ENDLESS
        yield samplers.Shuffle(length, seed), slow_order("shuffle", length, seed), length
        drawn = min(part, length)
        yield samplers.Global(length, drawn, seed), slow_order("global_draw", length, drawn, seed), ENDLESS


def block_cases(r: np.random.Generator) -> Iterator[Case]:
    n, seed, mixed = int(r.integers(1, 300)), int(r.integers(0, 1000)), int(r.integers(0, 5))
    block = int(r.integers(1, n + 1))
    bounds = [*range(0, n, block), n]
    yield samplers.BlockShuffle(n, block, mixed, seed), lambda e, p: SLOW["block_shuffle"](bounds, mixed, seed, e, p), n
    cuts = [0, *np.cumsum(r.integers(1, 40, int(r.integers(1, 12)))).tolist()]
    listed = samplers.BlockShuffle.of_bounds(cuts, mixed, seed)
    yield listed, lambda e, p: SLOW["block_shuffle"](cuts, mixed, seed, e, p), cuts[-1]


def weight_cases(r: np.random.Generator) -> Iterator[Case]:
    seed = int(r.integers(0, 1000))
    weights = r.choice([0.0, 0.1, 1.0, 3.0, 1e-30, 1e9], int(r.integers(1, 50))) * r.random()
    weights[int(r.integers(0, weights.size))] = 0.7
    table = SLOW["alias_table"](weights.tolist())
    yield samplers.Weighted(weights, seed), lambda e, p: SLOW["weighted"](table, seed, e, p), ENDLESS


def mix_cases(r: np.random.Generator) -> Iterator[Case]:
    k, seed, count = int(r.integers(1, 12)), int(r.integers(0, 1000)), int(r.integers(1, 5))
    lengths = r.integers(1, 20, count).tolist()
    lengths[0] += 3
    lengths[-1] *= int(r.integers(1, 4))
    sources: list[Sampler] = [samplers.Shuffle(n, i) for i, n in enumerate(lengths)]
    orders = [slow_order("shuffle", n, i) for i, n in enumerate(lengths)]
    total = sum(lengths)
    yield samplers.Mix.in_proportion(sources, k, seed), slow_mix(sources, orders, lengths, total, k, seed), total
    weights = [*r.integers(0, 4, count - 1).tolist(), 1.5]
    rates = [max(1, int(w / sum(weights) * 2**20 + 0.5)) if w else 0 for w in weights]
    endless = [repeated(n, order) for n, order in zip(lengths, orders)]
    yield samplers.Mix(sources, weights, k, seed), slow_mix(sources, endless, rates, ENDLESS, k, seed), 4 * total
    labels = r.integers(-3, 3, int(r.integers(1, 60))).tolist()
    yield samplers.Stratified(labels, k, seed), slow_classes(labels, k, seed, False), len(labels)
    yield samplers.Balanced(labels, k, seed), slow_classes(labels, k, seed, True), 4 * len(labels)


def slow_list(members: list[int], seed: int) -> Index:
    return lambda e, p: members[SLOW["shuffle"](len(members), seed, e, p)]


def slow_classes(labels: list[int], k: int, seed: int, is_repeated: bool) -> Index:
    orders, rates = [], []
    for label in sorted(set(labels)):
        members = [i for i, each in enumerate(labels) if each == label]
        own = SLOW["absorb"](SLOW["absorb"](9, seed), label % 2**64)
        order = slow_list(members, own)
        orders.append(repeated(len(members), order) if is_repeated else order)
        rates.append(1 if is_repeated else len(members))
    length = ENDLESS if is_repeated else len(labels)
    return lambda e, p: SLOW["mix_sources"](orders, rates, [0] * len(rates), length, k, seed, e, p)


def test_orders_are_those_of_the_vectors() -> None:
    vectors = VECTOR.findall(PAGE)
    assert len(vectors) == PAGE.split("## 12. Vectors")[1].count("\n| `") == 22
    for call, first, last, start, indices in vectors:
        order = eval(call.replace("global(", "global_("), dict(JAVA))
        expected = [int(i) for i in indices.split(",")]
        at = int(start or 0)
        found: list[int] = []
        for epoch in range(int(first or 0), int(last or first or 0) + 1):
            found += order.indices(epoch, at, min(at + 8, order.length)).tolist()
        assert found == expected, call


@pytest.mark.parametrize("cases", [simple_cases, block_cases, weight_cases, mix_cases])
def test_orders_are_those_of_the_slow_code(cases: Callable[[np.random.Generator], Iterator[Case]]) -> None:
    r = budget.random(1)
    for _ in range(budget.of(60)):
        for order, index, count in cases(r):
            epoch = int(r.choice([0, 1, 7]))
            start = int(r.integers(0, max(1, count - 30))) if count else 0
            stop = min(count, start + int(r.integers(0, 60)))
            expected = [index(epoch, p) for p in range(start, stop)]
            assert order.indices(epoch, start, stop).tolist() == expected, (order, epoch, start, stop)


@pytest.mark.parametrize("cases", [simple_cases, block_cases, weight_cases, mix_cases])
def test_compositions_are_those_of_the_table(cases: Callable[[np.random.Generator], Iterator[Case]]) -> None:
    r = budget.random(2)
    for _ in range(budget.of(5)):
        for order, _, count in cases(r):
            n = min(count, 50)
            whole = order.indices(2, 0, n).tolist()
            k, world = int(r.integers(0, n + 1)), int(r.integers(1, 9))
            assert order.skip(k).indices(2, 0, n - k).tolist() == whole[k:]
            assert order.take(k).indices(2, 0, k).tolist() == whole[:k]
            assert order.with_epoch(2).indices(5, 0, n).tolist() == whole
            some = order.take(n)
            assert_shares(some, whole, world)
            if n:
                places = range(3 * n)
                assert some.repeat(3).indices(1, 0, 3 * n).tolist() == [one(order, 3 + p // n, p % n) for p in places]
            if n and not order.is_endless:
                assert some.repeat().indices(1, 0, 3 * n).tolist() == [one(order, 2**32 + p // n, p % n) for p in places]
            listed = samplers.Listed(r.integers(0, 99, max(1, order.bound)), order) if order.bound < 1000 else order
            copy = pickle.loads(pickle.dumps(listed))
            assert copy.indices(3, 0, n).tolist() == listed.indices(3, 0, n).tolist()
            assert (copy.digest(), copy.length, copy.bound, copy.seed, repr(copy)) == (
                listed.digest(),
                listed.length,
                listed.bound,
                listed.seed,
                repr(listed),
            )


def one(order: Sampler, epoch: int, position: int) -> int:
    return int(order.indices(epoch, position, position + 1)[0])


def assert_shares(order: Sampler, whole: list[int], world: int) -> None:
    for remainder, least in (("drop", len(whole) // world), ("pad", -(-len(whole) // world)), ("uneven", None)):
        for rank in range(world):
            share = order.share(rank, world, remainder)  # type: ignore[arg-type]
            count = len(whole[rank::world]) if least is None else least
            expected = [whole[p % len(whole)] for p in range(rank, rank + count * world, world)]
            assert share.length == count
            assert share.indices(2, 0, count).tolist() == expected
            assert share.global_position(count) == min(count * world, len(whole))
            for position in range(count + 1):
                done = share.global_position(position)
                left = whole[done:][rank::world]
                resumed = share.resume_at(done)
                assert resumed.indices(2, 0, resumed.length).tolist()[: len(left)] == left[: resumed.length]
                assert abs(resumed.length - len(left)) <= 1


def test_positions_of_a_shuffle_are_found() -> None:
    r = budget.random(3)
    for _ in range(budget.of(100)):
        length = int(r.integers(1, 2**62)) >> int(r.integers(0, 62)) or 1
        order = samplers.Shuffle(length, int(r.integers(0, 99)))
        position = int(r.integers(0, length))
        assert order.position_of(4, order.indices(4, position, position + 1)[0]) == position


def test_the_source_of_an_index_of_a_mix_is_found() -> None:
    mix = samplers.Mix.in_proportion([samplers.Sequential(3), samplers.Sequential(0), samplers.Shuffle(4, 1)], 4, 0)
    assert mix.source_of(range(7)).tolist() == [0, 0, 0, 2, 2, 2, 2]
    assert mix.index_in_source(range(7)).tolist() == [0, 1, 2, 0, 1, 2, 3]
    with pytest.raises(IndexError, match=r"Cannot find the source of index 7: indices of Mix.in_proportion"):
        mix.source_of([0, 7])


def test_turns_of_large_rates_are_exact() -> None:
    """Differences of the times of these turns are below the precision of floats."""
    rates = [2**60 + 1, 2**60, 2**61 - 3]
    r = budget.random(4)
    for _ in range(budget.of(20)):
        first = int(r.integers(0, sum(rates)))
        sources, turns = samplers._mixes.Schedule(rates).turns(first, 50)  # type: ignore[attr-defined]
        times = [((2 * j + 1) << 200) // rates[s] for s, j in zip(sources.tolist(), turns.tolist())]
        assert sorted(zip(times, sources.tolist())) == list(zip(times, sources.tolist()))
        taken = [int(turns[sources == s].min()) if (sources == s).any() else None for s in range(3)]
        assert None not in taken and sum(taken) == first  # type: ignore[arg-type]


@pytest.mark.parametrize("length", [1, 2, 3, 255, 256, 257, 100_000])
def test_every_index_comes_once_and_parts_are_those_of_the_whole(length: int) -> None:
    seed = budget.seed()
    whole = samplers.shuffle(length, seed, 3)
    assert np.array_equal(np.sort(whole), np.arange(length))
    part = samplers.shuffle(np.int64(length), np.int64(seed), np.int64(3), np.int64(length // 3), np.int64(length // 2))
    assert np.array_equal(part, whole[length // 3 : length // 2])
    assert np.array_equal(samplers.Shuffle(np.int64(length), seed).indices(3, 0, length), whole)


@pytest.mark.parametrize("arguments", [(0, 1), (2**62 + 1, 1), (10, 1, -1), (10, 1, 0, 5, 4), (10, 1, 0, 0, 11)])
def test_positions_out_of_range_are_refused(arguments: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="Cannot shuffle positions"):
        samplers.shuffle(*arguments)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: samplers.Shuffle(-1, 1), r"length is -1, which is not in \[0, 4611686018427387904\]; give the number of records"),
        (lambda: samplers.Shuffle(1, 2**63), "seed is 9223372036854775808"),
        (lambda: samplers.Sequential(5, 0, 0), "step is 0; give 1"),
        (lambda: samplers.Sliding(5, 6, 1), r"window is 6, which is not in \[1, 5\]"),
        (lambda: samplers.Sliding(5, 5, 6), r"stride is 6, which is not in \[1, 5\]"),
        (lambda: samplers.Global(5, 6, 1), r"batch_size is 6, which is not in \[1, 5\]"),
        (lambda: samplers.BlockShuffle(5, 0, 1, 1), "block_length is 0"),
        (lambda: samplers.BlockShuffle(5, 1, -1, 1), "mixed is -1"),
        (lambda: samplers.BlockShuffle.of_bounds([], 1, 1), "bounds begin with nothing; give 0"),
        (lambda: samplers.BlockShuffle.of_bounds([1, 2], 1, 1), "bounds begin with 1; give 0"),
        (lambda: samplers.BlockShuffle.of_bounds([0, 2, 2], 1, 1), r"bound 2 is 2, which is not in \[3, .*bounds rise strictly"),
        (lambda: samplers.BlockShuffle.of_bounds([0, 2**63 - 1, -(2**63) + 5, 100], 1, 1), "bound 2 is -9223372036854775803"),
        (lambda: samplers.Weighted([], 1), "the sum of the 0 weights is 0.0; it must be above 0 and finite"),
        (lambda: samplers.Weighted([0.0, 0.0], 1), "the sum of the 2 weights is 0.0; it must be above 0 and finite"),
        (lambda: samplers.Weighted([1.0, -1.0], 1), r"weight 1 is -1.0, which is not in \[0, infinity\); give 0"),
        (lambda: samplers.Weighted([1.0, float("nan")], 1), r"weight 1 is nan"),
        (lambda: samplers.Weighted([[1.0]], 1), "weights are an array of 2 dimensions"),
        (
            lambda: samplers.Mix([samplers.Sequential(0)], [1.0], 4, 1),
            "source 0, .*, is empty and has weight 1.0; give it weight 0",
        ),
        (lambda: samplers.Mix([samplers.Sequential(1)], [1.0, 2.0], 4, 1), r"number of weights is 2, .*give one for each source"),
        (lambda: samplers.Mix([samplers.Sequential(1)], [1.0], 2**20 + 1, 1), "batch_size is 1048577"),
        (lambda: samplers.Mix.in_proportion([samplers.Random(1, 1)], 4, 1), r"length of source 0 is .*; take\(\) a part of it"),
        (lambda: samplers.Stratified([0.5], 4, 1), "labels are an array of 1 dimensions of float64; give a list of whole numbers"),
        (lambda: samplers.Listed([True, False]), "indices are an array of 1 dimensions of bool"),
        (lambda: samplers.Listed([-1]), "index is -1"),
        (lambda: samplers.Listed([5], samplers.Shuffle(2, 1)), "bound of the order is 2, .*order the places of the list"),
        (lambda: samplers.Sequential(5).skip(6), r"count to skip is 6, which is not in \[0, 5\]; skip at most an epoch"),
        (lambda: samplers.Sequential(5).take(6), "count to take is 6"),
        (lambda: samplers.Sequential(5).repeat(0), r"times is 0, .*; repeat\(\) without a number is endless"),
        (lambda: samplers.Sequential(5).with_epoch(-1), "epoch is -1"),
        (lambda: samplers.Sequential(5).share(2, 2), r"rank is 2, which is not in \[0, 1\]; ranks count from 0"),
        (lambda: samplers.Sequential(5).share(0, 1, "none"), "remainder is 'none'; give 'drop', 'pad' or 'uneven'"),  # type: ignore[arg-type]
    ],
)
def test_arguments_out_of_range_are_named(make: Callable[[], Sampler], message: str) -> None:
    with pytest.raises(ValueError, match=f"^Cannot sample: .*{message}"):
        make()


def test_positions_beyond_an_epoch_are_refused() -> None:
    order = samplers.Shuffle(5, 1)
    for epoch, start, stop in ((-1, 0, 1), (2**63, 0, 1), (0, -1, 1), (0, 2, 1), (0, 0, 6)):
        with pytest.raises(IndexError, match=rf"Cannot give positions {start} to {stop} in epoch {epoch} of Shuffle\(5, seed=1\)"):
            order.indices(epoch, start, stop)
    with pytest.raises(IndexError, match="Cannot find index 5"):
        order.position_of(0, 5)
    with pytest.raises(ValueError, match=r"passes are below 2³² and epochs below 2³¹; begin the next epoch"):
        order.repeat().indices(2**31, 0, 1)
    balanced = samplers.Balanced([1, 2], 2, 1)
    assert balanced.indices(2**31 - 1, 2**33 - 2, 2**33).size == 2
    for epoch, start in ((2**31, 0), (0, 2**33)):
        with pytest.raises(ValueError, match=r"of Balanced.*: passes are below 2³² and epochs below 2³¹; begin the next epoch"):
            balanced.indices(epoch, start, start + 1)
    with pytest.raises(ValueError, match=r"pass 1 of epoch 4611686018427387904 .*that is epoch 9223372036854775809 of what"):
        order.repeat(2).indices(2**62, 5, 6)
    assert len(order) == 5 and samplers.Sequential(0) and samplers.Sequential(0).indices(0, 0, 0).dtype == np.int64
    with pytest.raises(TypeError, match=r"Epochs of Random\(5, seed=1\) do not end; take\(n\) positions of it"):
        len(samplers.Random(5, 1))


def test_a_pass_of_sliding_windows_goes_once_around() -> None:
    assert samplers.Sliding(10, 4, 3).one_pass().indices(0, 0, 16).tolist() == [0, 1, 2, 3, 3, 4, 5, 6, 6, 7, 8, 9, 9, 0, 1, 2]
    assert samplers.Sliding(0, 1, 1).one_pass().length == 0


def test_states_are_those_of_java() -> None:
    state = samplers.SamplerState(12, 42, 3, 81920)
    assert state.to_json() == '{"format":1,"datasetVersion":12,"seed":42,"epoch":3,"position":81920}'
    assert samplers.SamplerState.from_json(state.to_json()) == state
    spaced = ' { "seed": -1, "position": 0, "epoch": 0,\n"format": 1, "datasetVersion": null } '
    assert samplers.SamplerState.from_json(spaced) == samplers.SamplerState(None, -1, 0, 0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("5", "it is no object"),
        ("{", "Expecting"),
        ('{"format":2,"datasetVersion":1,"seed":1,"epoch":0,"position":0}', "of format 2: only 1 is known; upgrade zrecord"),
        ('{"format":1,"datasetVersion":1,"seed":1,"epoch":0}', "its members are not format, datasetVersion"),
        ('{"format":1,"datasetVersion":1,"seed":1,"epoch":0,"position":0,"more":1}', "its members are not format"),
        ('{"format":1,"format":1,"datasetVersion":1,"seed":1,"epoch":0,"position":0}', "a member appears twice"),
        ('{"format":1,"datasetVersion":1,"seed":null,"epoch":0,"position":0}', "seed is no 64-bit number"),
        ('{"format":1,"datasetVersion":1,"seed":1,"epoch":0.5,"position":0}', "epoch is no 64-bit number"),
        ('{"format":1,"datasetVersion":1,"seed":1,"epoch":0,"position":9223372036854775808}', "position is no 64-bit number"),
        ('{"format":1,"datasetVersion":1,"seed":1,"epoch":0,"position":true}', "position is no 64-bit number"),
        ('{"format":1,"datasetVersion":1,"seed":1,"epoch":-1,"position":0}', "none may be negative"),
    ],
)
def test_other_states_are_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        samplers.SamplerState.from_json(text)


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ((None, 2**63, 0, 0), "seed is 9223372036854775808"),
        ((None, 1, 0.5, 0), "epoch is 0.5"),
        ((None, 1, 0, True), "position is True"),
        (("1", 1, 0, 0), "datasetVersion is '1'"),
        ((None, None, 0, 0), "seed is None"),
    ],
)
def test_states_of_what_is_no_number_are_not_made(members: Any, message: str) -> None:
    with pytest.raises(ValueError, match=f"^Cannot make a state: {message}, which is no signed number of 64 bits"):
        samplers.SamplerState(*members)


DEFINITION = re.compile(r"^\| `([^`]+)` \| `([^`]+)` \| `([0-9a-f]{16})` \|$", re.M)


def test_definitions_are_those_of_the_page() -> None:
    rows = DEFINITION.findall(PAGE)
    assert len(rows) == 15
    for call, text, digest in rows:
        order = eval(call, vars(samplers) | {"np": np})
        assert (order._text(), order.definition()) == (text, digest), call
        assert hashlib.sha256(text.encode()).hexdigest()[:16] == digest
        assert pickle.loads(pickle.dumps(order)).definition() == digest


def test_all_that_defines_an_order_is_in_its_definition() -> None:
    labels, weights = np.arange(3000) % 7, np.ones(3000)
    far, heavy = labels.copy(), weights.copy()
    far[[2001, 2002]] = far[[2002, 2001]]
    heavy[2500] = 1.5
    a, b = samplers.Shuffle(9, 1), samplers.Shuffle(9, 2)
    orders = [
        *(samplers.Stratified(each, k, seed) for each in (labels, far) for k in (4, 5) for seed in (1, 2)),
        *(samplers.Balanced(each, 4, 1) for each in (labels, far)),
        *(samplers.Weighted(each, seed) for each in (weights, heavy) for seed in (1, 2)),
        *(samplers.BlockShuffle.of_bounds(bounds, mixed, 1) for bounds in ([0, 4, 9], [0, 5, 9]) for mixed in (0, 1)),
        *(samplers.BlockShuffle(9, block, mixed, 1) for block in (4, 5) for mixed in (0, 1)),
        *(samplers.Sequential(9, from_, step) for from_ in (0, 1) for step in (1, 2)),
        *(samplers.Sliding(9, window, stride) for window in (2, 3) for stride in (1, 2)),
        *(samplers.Global(9, k, 1) for k in (2, 3)),
        samplers.Random(9, 1),
        *(samplers.Mix(sources, rates, 4, 1) for sources in ([a, b], [b, a]) for rates in ([1, 1], [1, 2])),
        samplers.Mix.in_proportion([a, b], 4, 1),
        *(a.skip(n) for n in (1, 2)),
        *(a.take(n) for n in (1, 2)),
        *(a.repeat(n) for n in (2, 3, None)),
        *(a.with_epoch(n) for n in (0, 1)),
        *(a.share(rank, 2, remainder) for rank in (0, 1) for remainder in ("drop", "pad")),  # type: ignore[arg-type]
        *(samplers.Listed(each, b) for each in (range(9), range(8, -1, -1))),
        a,
        b,
    ]
    assert len({order.definition() for order in orders}) == len(orders)


def peak_bytes(make: Callable[[], Any]) -> int:
    tracemalloc.start()
    try:
        make()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_is_that_of_the_page() -> None:
    count = 200_000
    weights = np.random.default_rng(budget.seed() % 2**63).random(count)
    assert peak_bytes(lambda: samplers.Weighted(weights, 1)) < 60 * count
    for order in (samplers.BlockShuffle(count, 100, 8, 1), samplers.Global(count, 100, 1)):
        assert peak_bytes(lambda: order.indices(0, 0, count)) < 8 * count + 25_000_000  # noqa: B023
