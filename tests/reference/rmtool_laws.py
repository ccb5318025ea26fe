"""Makes rmtool_laws.json with rmtool 1.0.0 (Rao's polynomial method, an independent program; GPL, never imported here).

Run in an environment of its own: pip install rmtool==1.0.0; python tests/reference/rmtool_laws.py
For several population spectra and ratios: the moments of A x Wishart(c), and the roots in the upper half-plane of its
polynomial L(m, z) at a few points z (one root there, so no branch is chosen by hand).
"""

from __future__ import annotations

import json
from pathlib import Path

import rmtool
import sympy as sp

CASES = [
    {"values": ["1"], "weights": ["1"], "ratio": "1/2"},
    {"values": ["1"], "weights": ["1"], "ratio": "3"},
    {"values": ["1", "3"], "weights": ["1/3", "2/3"], "ratio": "1/2"},
    {"values": ["1", "3", "10"], "weights": ["1/5", "2/5", "2/5"], "ratio": "1/10"},
    {"values": ["1/2", "4"], "weights": ["3/4", "1/4"], "ratio": "5/2"},
]
POINTS = ["1+I/10", "-1+I/2", "5+I", "12+I/100"]


def main() -> None:
    """Write the reference file next to this script."""
    for case in CASES:
        values, weights = ([sp.Rational(v) for v in case[key]] for key in ("values", "weights"))
        polynomial = rmtool.AtimesWish(rmtool.atomLmz(values, weights), sp.Rational(case["ratio"]))
        case["moments"] = [str(moment) for moment in rmtool.Lmz2MomS(polynomial, 5)]
        m, z = sp.Symbol("m"), sp.Symbol("z")
        names = {s.name: s for s in polynomial.free_symbols}
        polynomial = polynomial.subs({names["m"]: m, names["z"]: z})
        case["stieltjes"] = []
        for point in POINTS:
            numerator = sp.Poly(sp.numer(sp.together(polynomial.subs(z, sp.sympify(point)))), m)
            roots = [root for root in numerator.nroots(n=30, maxsteps=500) if sp.im(root) > 1e-20]
            # Other roots of the polynomial may lie there; the transform's has Im(z m) >= 0 too (positive support).
            at = sp.sympify(point)
            good = [r for r in roots if sp.im(at * r) > 0]
            assert len(good) == 1, (case, point, roots)
            case["stieltjes"].append([point, str(sp.N(sp.re(good[0]), 20)), str(sp.N(sp.im(good[0]), 20))])
    target = Path(__file__).with_suffix(".json")
    target.write_text(json.dumps({"program": f"rmtool {rmtool.__version__}", "cases": CASES}, indent=1) + "\n")


if __name__ == "__main__":
    main()
