"""An equivalent as a program: one Python function of the free symbols that imports NumPy alone."""

from __future__ import annotations

import inspect
import textwrap

import sympy as sp

from bulkedge.numerics.equivalents.batched import dyson_solve
from bulkedge.theory.equivalents.equivalent import Equivalent
from bulkedge.theory.numbers.errors import InputError
from bulkedge.theory.spectra.spectral_density import NODES

_TEMPLATE = """
def equivalent({parameters}):
    "The large-size limit of {text}, by its Dyson equation; arrays broadcast."
    from typing import Any

    import numpy as np

{solver}
    _table = {table}
    _given = np.broadcast_arrays({arrays})
    _shape, _size = _given[0].shape, (_given[0].size,)
    {names}
    _coefficients = (
        {coefficients},
    )
    _spread = [np.broadcast_to(np.asarray(_c, dtype=float), _size) for _c in _coefficients]
    _parts, _, _certain = dyson_solve(_table, _spread)
    if not np.all(_certain):
        raise ValueError("the branch is not certain at some points: an inverse does not exist there, or at an edge")
    {functionals} = _parts.T
    _value = np.asarray({value}, dtype=float)
    return {{"value": np.broadcast_to(_value, _size).reshape(_shape)[()]}}
"""


def program(theory: Equivalent) -> str:
    """The program's text. What it computes is `dyson_solve` on the equivalent's own tables.

    Errors: InputError for a symbol whose name the program needs.
    """
    if theory.question.model.continuous:
        theory = theory.refined(2 * NODES)
    names = [s.name for s in theory.symbols]
    for name in {"np", "dyson_solve", "Any"} & {*names}:
        raise InputError("python", f"a symbol is called {name}, which the program needs", "rename it")
    functionals = {s: sp.Symbol(f"_functional_{k}") for k, (s, _) in enumerate(theory.question.functionals)}
    held = {s: sp.Float(float(v.mid()), 17) for s, v in theory.constants(64).items()}
    value = theory.question.value.xreplace(functionals).xreplace(held)
    return _TEMPLATE.format(
        parameters=", ".join(names),
        text=" ".join(theory.question.text.split()).replace("\\", "").replace(chr(34), ""),
        solver=textwrap.indent(inspect.getsource(dyson_solve), "    "),
        table=repr(theory.table.plain()),
        arrays=", ".join(f"np.asarray({name}, dtype=float)" for name in names) or "np.zeros(())",
        names="".join(f"{name}, " for name in names) + "*_ = (np.ravel(_x) for _x in _given)",
        coefficients=",\n        ".join(str(c.xreplace(held)) for c in theory.table.coefficients),
        functionals="".join(f"{s.name}, " for s in functionals.values()),
        value=str(value),
    ).strip()
