"""The most work that `bulkedge risk` may be asked for."""

from __future__ import annotations

MAX_NEURONS = 100_000
MAX_SOLVED = 2_000  # points that need a fixed point of their own
