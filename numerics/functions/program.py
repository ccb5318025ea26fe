"""Closed forms as a program: one Python function of the free symbols that imports NumPy, SciPy where it must."""

from __future__ import annotations

import keyword
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import sympy as sp
from sympy.printing.numpy import SciPyPrinter

from bulkedge.theory.gaussian.bivariate import Phi2
from bulkedge.theory.numbers.errors import InputError

Nested = Mapping[str, Any]  # quantities by name: expressions, lists of them, or further levels


class _rgamma(sp.Function):  # type: ignore[misc]  # noqa: N801  # SciPy's name; SymPy ships no types
    """1/Gamma, which is entire: zero where Gamma has a pole, and SciPy's gamma has no number."""


def _entire(expr: sp.Expr) -> sp.Expr:
    """The expression with powers of 1/Gamma in place of negative powers of Gamma."""
    return expr.replace(
        lambda e: e.is_Pow and isinstance(e.base, sp.gamma) and e.exp.is_Integer and e.exp.is_negative,
        lambda e: _rgamma(e.base.args[0]) ** -e.exp,
    )


class _Printer(SciPyPrinter):  # type: ignore[misc]  # SymPy ships no types
    """NumPy and SciPy code that broadcasts: cases by numpy.where, extremes pair by pair."""

    def _print_Piecewise(self, expr: sp.Piecewise) -> str:
        code = "numpy.nan"
        for value, condition in reversed(expr.args):
            if condition is sp.true:
                code = self._print(value)
            else:
                code = f"numpy.where({self._print(condition)}, {self._print(value)}, {code})"
        return code

    def _print_floor(self, expr: sp.Expr) -> str:
        # A quotient of decimals that is whole, such as .15/(1/2 - .35), may come out just below its value in floats.
        return f"numpy.floor(({self._print(expr.args[0])})*(1 + 2**-46))"

    def _print_Max(self, expr: sp.Max) -> str:
        return self._pairwise("numpy.maximum", expr)

    def _print_Min(self, expr: sp.Min) -> str:
        return self._pairwise("numpy.minimum", expr)

    def _pairwise(self, name: str, expr: sp.Expr) -> str:
        code = str(self._print(expr.args[0]))
        for other in expr.args[1:]:
            code = f"{name}({code}, {self._print(other)})"
        return code

    def _print__rgamma(self, expr: sp.Expr) -> str:
        return f"{self._module_format('scipy.special.rgamma')}({self._print(expr.args[0])})"

    def _print_Pi(self, expr: sp.Expr) -> str:
        return "numpy.pi"

    def _print_Integer(self, expr: sp.Integer) -> str:
        return f"{expr.p}" if abs(expr.p) < 2**53 else f"{float(expr)!r}"


def parameters(symbols: Sequence[sp.Symbol]) -> list[str]:
    """The names of the symbols as Python's, in the order of the alphabet.

    Errors: InputError for a name that a program cannot have.
    """
    names = sorted(s.name for s in symbols)
    for name in names:
        if not name.isidentifier() or keyword.iskeyword(name) or name in {"numpy", "scipy"} or name.startswith("_"):
            raise InputError("python", f"a symbol is called {name}, which a program cannot have", "rename it")
    return names


_TEMPLATE = '''
def {name}({arguments}):
    """{doc}"""
    import numpy
{imports}
    {taken}
{checks}{constants}    with numpy.errstate(divide="ignore", invalid="ignore", over="ignore"):
{shared}        _found = {{
{entries}
        }}
    for _key, _value in _found.items():
        if not numpy.all(numpy.isfinite(_value)):
            raise ValueError(f"{{_key}} is not finite: the symbols are not admissible")
    return {result}
'''


def program(
    name: str, quantities: Nested, doc: Sequence[str], constants: Mapping[sp.Symbol, float] | None = None
) -> str:
    """The program's text. `constants` are symbols whose numbers are written into it.

    Errors: InputError for a symbol whose name the program cannot have.
    """
    known = constants or {}
    flat = dict(_flat(quantities))
    symbols = sorted(set().union(*(e.free_symbols for e in flat.values())) - set(known), key=lambda s: s.name)
    names = parameters(symbols)
    printer = _Printer({"fully_qualified_modules": True})
    keys = list(flat)
    shared, reduced = sp.cse([_entire(flat[k]) for k in keys], symbols=sp.numbered_symbols("_x"), order="none")
    for e in (*(e for _, e in shared), *reduced):
        unknown = sorted({type(node).__name__ for node in sp.preorder_traversal(e) if isinstance(node, Phi2 | sp.Sum)})
        if unknown:
            raise InputError(
                "python", f"{', '.join(unknown)} has no NumPy function", "use --json, and evaluate it there"
            )
    lines = [f"        {s} = {printer.doprint(e)}" for s, e in shared]
    entries = [f'            "{key}": {printer.doprint(e)},' for key, e in zip(keys, reduced, strict=True)]
    imports = "    import scipy.special\n" if any("scipy." in line for line in (*lines, *entries)) else ""
    taken = f"{', '.join(names)}, = ({', '.join(f'numpy.asarray({n}, float)' for n in names)},)" if names else "pass"
    body = _TEMPLATE.format(
        name=name,
        arguments=", ".join(names),
        doc="\n    ".join(line.replace("\\", "").replace('"', "'") for line in (*doc, "")).rstrip() + "\n    ",
        imports=imports,
        taken=taken,
        checks="".join(
            f'    if not numpy.all({n} {sign} 0):\n        raise ValueError("{n} is not {word}")\n'
            for n, sign, word in _signs(symbols)
        ),
        constants="".join(f"    {s.name} = {float(v)!r}\n" for s, v in known.items()),
        shared="\n".join(lines) + ("\n" if lines else ""),
        entries="\n".join(entries),
        result=_result(quantities, names),
    )
    return body.strip().replace("import numpy\n\n", "import numpy\n")


def _signs(symbols: Sequence[sp.Symbol]) -> list[tuple[str, str, str]]:
    """Names with the comparison that their assumptions ask for, in one word."""
    words = (("positive", ">"), ("negative", "<"), ("nonnegative", ">="), ("nonpositive", "<="))
    found = [[(s.name, sign, word) for word, sign in words if getattr(s, f"is_{word}")][:1] for s in symbols]
    return [item for items in found for item in items]


_COMPARED = {">": operator.gt, "<": operator.lt, ">=": operator.ge, "<=": operator.le}


def _flat(quantities: Any, prefix: str = "") -> list[tuple[str, sp.Expr]]:
    items = quantities.items() if isinstance(quantities, Mapping) else enumerate(quantities)
    found = []
    for key, value in items:
        label = f"{prefix}{key}"
        if isinstance(value, Mapping | list | tuple) and not isinstance(value, sp.Basic):
            found += _flat(value, f"{label}.")
        else:
            found.append((label, value))
    return found


def _result(quantities: Any, names: Sequence[str], prefix: str = "") -> str:
    """The dictionary that the program returns: every entry of the common shape, lists along a last axis."""
    if isinstance(quantities, Mapping):
        parts = (f'"{key}": {_result(value, names, f"{prefix}{key}.")}' for key, value in quantities.items())
        return "{" + ", ".join(parts) + "}"
    if isinstance(quantities, list | tuple) and not isinstance(quantities, sp.Basic):
        parts = (_result(value, names, f"{prefix}{i}.") for i, value in enumerate(quantities))
        return "numpy.stack([" + ", ".join(parts) + "], axis=-1)"
    key = f'_found["{prefix[:-1]}"]'
    spread = "".join(f" + 0*{n}" for n in names)
    return f"({key}{spread})[()]" if names else f"numpy.asarray({key}, float)[()]"


def lambdified(quantities: Nested, constants: Mapping[sp.Symbol, float] | None = None) -> Callable[..., Any]:
    """The same as a function of the free symbols, by position in the order of the alphabet or by name.

    Errors: InputError for a name that a function cannot have; ValueError where a value is not finite.
    """
    import numpy as np

    known = constants or {}
    flat = dict(_flat(quantities))
    symbols = sorted(set().union(*(e.free_symbols for e in flat.values())) - set(known), key=lambda s: s.name)
    names = parameters(symbols)
    numbers = {s: sp.Float(v, 17) for s, v in known.items()}
    compiled = sp.lambdify(
        symbols,
        [_entire(e.xreplace(numbers)) for e in flat.values()],
        modules=["scipy", "numpy"],
        printer=_Printer,
        cse=True,
    )

    def function(*args: Any, **kwargs: Any) -> Any:
        values = dict(zip(names, args, strict=False)) | kwargs
        if len(args) > len(names) or set(values) != set(names):
            raise TypeError(f"the arguments are {', '.join(names)}")
        given = [np.asarray(values[n], float) for n in names]
        for name, sign, word in _signs(symbols):
            if not np.all(_COMPARED[sign](given[names.index(name)], 0)):
                raise ValueError(f"{name} is not {word}")
        shape = np.broadcast_shapes(*(x.shape for x in given))
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            found = dict(zip(flat, compiled(*given), strict=True))
        for key, value in found.items():
            if not np.all(np.isfinite(value)):
                raise ValueError(f"{key} is not finite: the symbols are not admissible")
        return _gathered(quantities, lambda key: np.broadcast_to(found[key], shape)[()])

    return function


def _gathered(quantities: Any, value: Callable[[str], Any], prefix: str = "") -> Any:
    import numpy as np

    if isinstance(quantities, Mapping):
        return {key: _gathered(item, value, f"{prefix}{key}.") for key, item in quantities.items()}
    if isinstance(quantities, list | tuple) and not isinstance(quantities, sp.Basic):
        return np.stack([_gathered(item, value, f"{prefix}{i}.") for i, item in enumerate(quantities)], axis=-1)
    return value(prefix[:-1])
