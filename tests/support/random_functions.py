"""Random functions of one variable with kinks, jumps, waves and error functions, for tests of values by two routes."""

from __future__ import annotations

import random

ATOMS = (
    "sin({a})", "cos({a})", "tanh({a})", "erf({a})", "Phi({a})", "gelu({a})", "silu({a})", "atan({a})", "log_cosh({a})",
    "exp(-({a})**2/3)", "exp(({a})/3)", "({a})", "({a})**2", "He(3, z)/4",
    "Abs({a})", "relu({a})", "sign({a})", "step({a})", "elu({a})", "leaky_relu({a}, 1/5)", "Max({a}, -{a}/2)",
    "hard_tanh({a})",
)  # fmt: skip
SLOPES = ("", "", "", "2*", "-", "1/2*", "-3/2*")
SHIFTS = ("", "", " - 1", " + 1/4", " - 5/4", " + 1/2")
BREAKS = ("0", "1", "-1/2", "5/4")


def _atom(rng: random.Random) -> str:
    argument = f"{rng.choice(SLOPES)}z{rng.choice(SHIFTS)}"
    return rng.choice(ATOMS).format(a=argument)


def random_function(rng: random.Random) -> str:
    """A sum, a product, or a function in two or three pieces (often mirrored, as parity likes to be mistaken)."""
    kind = rng.randrange(6)
    if kind == 0:
        return _atom(rng)
    if kind in (1, 2):
        return f"{_atom(rng)} {rng.choice('+-')} {_atom(rng)}"
    if kind == 3:
        return f"{_atom(rng)}*{_atom(rng)}"
    if kind == 4:
        inner, sign = _atom(rng), rng.choice(("-", ""))
        return f"Piecewise(({sign}({inner}), z < {rng.choice(BREAKS)}), ({inner}, True))"
    inner, sign = _atom(rng), rng.choice(("-", ""))
    low, high = rng.choice((("-1", "1"), ("-1", "1/2"), ("-1/4", "1/4")))
    return f"Piecewise(({sign}({inner}), z < {low}), ({_atom(rng)}, z < {high}), ({inner}, True))"
