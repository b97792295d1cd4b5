"""How much tests of chance do, and with which seed.

``ZRECORD_TEST_SCALE`` multiplies every budget: 1 is the budget that a test names, and 0.2 the default.
``ZRECORD_TEST_SEED`` replays a session. By default each session has another seed, which all its processes share.
A test that fails prints both with the command that replays it. A control that must show a damage does not take
its budget from here: with less it could miss the damage.

``ZRECORD_TEST_SCALE=30 python/test tests/test_mutations.py`` damages more than 10,000 copies of golden tables.
"""

from __future__ import annotations

import os
import secrets
import shlex

import numpy as np

_SCALE = "ZRECORD_TEST_SCALE"
_SEED = "ZRECORD_TEST_SEED"
_DEFAULT_SCALE = "0.2"


def _chosen_scale() -> float:
    scale = float(os.environ.get(_SCALE) or _DEFAULT_SCALE)
    if not 0 < scale <= 1000:
        raise ValueError(f"{_SCALE} is {scale}: give more than 0, at most 1000")
    return scale


def _chosen_seed() -> int:
    """Returns the seed of the session. Leaves it to the processes that this one starts, such as those of pytest-xdist."""
    if not os.environ.get(_SEED):
        os.environ[_SEED] = str(secrets.randbits(64) - 2**63)
    return int(os.environ[_SEED])


_scale = _chosen_scale()
_seed = _chosen_seed()


def of(count: int) -> int:
    """Returns how many trials to make, at least 1, of ``count`` at scale 1."""
    return max(1, round(count * _scale))


def seed() -> int:
    """Returns the seed of the session, a signed number of 64 bits."""
    return _seed


def random(*stream: int) -> np.random.Generator:
    """Returns a new source of random numbers, which depends on the seed and on the numbers of a stream."""
    return np.random.default_rng([_seed % 2**64, *stream])


def settings() -> str:
    """Returns the variables that replay this session, as they stand before a command."""
    return f"{_SEED}={_seed} {_SCALE}={_scale:g}"


def replay(test: str) -> str:
    """Returns the command that replays a test, which has the name that pytest gives to it."""
    return f"{settings()} python/test {shlex.quote(test)}"
