"""How much work something is, counted in function calls: the same on a busy machine as on a quiet one."""

from __future__ import annotations

import cProfile
from collections.abc import Iterator
from contextlib import contextmanager

# The contract answers unusable input within two seconds; SymPy makes about five million calls a second when no one
# counts them and the core is quiet. Work inside one call (of FLINT, of large integers) is not seen.
TWO_SECONDS = 10_000_000


@contextmanager
def at_most(calls: int) -> Iterator[None]:
    """Fail if the block makes more calls of functions, Python's or built in."""
    profile = cProfile.Profile()
    profile.enable()
    try:
        yield
    finally:
        profile.disable()
    made = sum(entry.callcount for entry in profile.getstats())
    assert made <= calls, f"{made} calls of functions, allowed are {calls}"
