"""Makes tracy_widom.json by another route: the Hastings-McLeod solution of Painleve II, integrated by mpmath.

q'' = s q + 2 q^3, q ~ Ai(s) as s -> oo;
F_2 = exp(-int_s^oo (x - s) q^2 dx),  F_1 = sqrt(F_2) exp(-(1/2) int_s^oo q dx).
Taylor steps at 40 digits from s = 12 downwards; the solution is unstable downwards (errors grow by about 1e8 to -6),
hence the digits. Run: python tests/reference/tracy_widom.py
"""

from __future__ import annotations

import json
from pathlib import Path

import mpmath as mp

POINTS = [-6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4]


def main() -> None:
    """Write the reference file next to this script."""
    mp.mp.dps = 50
    start = mp.mpf(12)
    tail = [start, mp.inf]
    state = [
        mp.airyai(start),
        mp.airyai(start, derivative=1),
        mp.quad(lambda x: (x - start) * mp.airyai(x) ** 2, tail),  # -log F_2
        -mp.quad(lambda x: mp.airyai(x) ** 2, tail),  # its derivative in s
        mp.quad(mp.airyai, tail),  # int q
    ]
    # In t = -s, so that integration runs upwards.
    solution = mp.odefun(
        lambda t, y: [-y[1], -(-t * y[0] + 2 * y[0] ** 3), -y[3], -(y[0] ** 2), y[0]],
        -start,
        state,
        tol=mp.mpf(10) ** -40,
    )
    rows = []
    for s in POINTS:
        y = solution(-mp.mpf(s))
        f2 = mp.exp(-y[2])
        rows.append([s, mp.nstr(mp.sqrt(f2) * mp.exp(-y[4] / 2), 18), mp.nstr(f2, 18)])
    target = Path(__file__).with_suffix(".json")
    target.write_text(json.dumps({"program": f"mpmath {mp.__version__}", "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
