"""Closed forms near a point: the branch that holds on one side of it, the expansion there, the limits from both sides.

A Piecewise is replaced by the piece whose condition holds at symbol = point + t for all small t > 0 (or t < 0): the
sign of a comparison is that of its leading coefficient in t, so that a threshold itself may be the point.
"""

from __future__ import annotations

import sympy as sp

from bulkedge.theory.numbers.errors import InputError

_t = sp.Symbol("t", positive=True)
_SIDES = {"+": 1, "-": -1}
MAX_ORDER = 12  # SymPy's time for algebraic functions grows quickly with the order


def branch(expr: sp.Expr, symbol: sp.Symbol, point: sp.Expr, side: str = "+") -> sp.Expr:
    """The expression without Piecewise, Max, Min and Abs of what depends on `symbol`, as it is on one side of `point`.

    Errors: InputError where a sign is not decided by the assumptions of the other symbols.
    """

    def decided(node: sp.Basic) -> sp.Basic:
        if not node.args or not node.has(sp.Piecewise, sp.Max, sp.Min, sp.Abs, sp.sign, sp.Heaviside):
            return node
        node = node.func(*map(decided, node.args), evaluate=False) if isinstance(node, sp.Piecewise) else node
        if isinstance(node, sp.Piecewise):
            for value, condition in node.args:
                if _holds(condition, symbol, point, side):
                    return decided(value)
            raise InputError(str(symbol), f"no case of the formula holds at {point}{side}", "choose another point")
        rebuilt = node.func(*map(decided, node.args))
        if isinstance(rebuilt, sp.Max | sp.Min):
            best, *rest = rebuilt.args
            for other in rest:
                larger = _sign(other - best, symbol, point, side) > 0
                best = other if larger == isinstance(rebuilt, sp.Max) else best
            return best
        if isinstance(rebuilt, sp.Abs | sp.sign):
            sign = _sign(rebuilt.args[0], symbol, point, side)
            return sign * rebuilt.args[0] if isinstance(rebuilt, sp.Abs) else sp.Integer(sign)
        return rebuilt

    return decided(expr)


def _holds(condition: sp.Basic, symbol: sp.Symbol, point: sp.Expr, side: str) -> bool:
    if condition in (sp.true, sp.false):
        return condition is sp.true
    if isinstance(condition, sp.And | sp.Or):
        parts = [_holds(part, symbol, point, side) for part in condition.args]
        return all(parts) if isinstance(condition, sp.And) else any(parts)
    if isinstance(condition, sp.Not):
        return not _holds(condition.args[0], symbol, point, side)
    sign = _sign(condition.lhs - condition.rhs, symbol, point, side)
    return {
        sp.StrictLessThan: sign < 0,
        sp.LessThan: sign <= 0,
        sp.StrictGreaterThan: sign > 0,
        sp.GreaterThan: sign >= 0,
        sp.Equality: sign == 0,
        sp.Unequality: sign != 0,
    }[condition.func]


def _sign(expr: sp.Expr, symbol: sp.Symbol, point: sp.Expr, side: str) -> int:
    """The sign at `point` + t (- t) for all small t > 0."""
    if expr.has(sp.Piecewise, sp.Max, sp.Min, sp.Abs, sp.sign):
        expr = branch(expr, symbol, point, side)
    near = expr.subs(symbol, 1 / _t if point is sp.oo else point + _SIDES[side] * _t)
    near = sp.simplify(near)
    if near == 0:
        return 0
    leading = near if not near.has(_t) else near.as_leading_term(_t)
    leading = sp.simplify(leading.subs(_t, 1))
    if leading.is_positive or leading.is_negative:
        return 1 if leading.is_positive else -1
    raise InputError(
        str(symbol),
        f"the sign of {leading} decides the case and is not known",
        "give its symbols values or assumptions",
    )


def series(expr: sp.Expr, symbol: sp.Symbol, point: sp.Expr, order: int, side: str = "+") -> sp.Expr:
    """The expansion of a closed form to a remainder O((symbol - point)^order), on one side of the point.

    Errors: InputError where the case is not decided, for an order outside 1..12, and where there is no expansion.
    """
    _check_side(side)
    if isinstance(order, bool) or not isinstance(order, int) or not 1 <= order <= MAX_ORDER:
        raise InputError(
            "order", f"{order!r} is not the order of an expansion", f"give an integer from 1 to {MAX_ORDER}"
        )
    smooth = branch(expr, symbol, point, side)
    if not smooth.has(symbol):
        return smooth
    turned = sp.Symbol("t", positive=True)
    # At point + t, t > 0: assumptions on the symbol itself (positive, at a point 0) do no harm there.
    near = smooth.subs(symbol, 1 / turned if point is sp.oo else point + _SIDES[side] * turned)
    try:
        found = sp.series(sp.powsimp(near), turned, 0, order)
    except (NotImplementedError, ValueError, TypeError, ArithmeticError):
        raise InputError(str(symbol), f"no expansion at {point} was found", "choose another point") from None
    if found.has(sp.nan, sp.zoo):
        raise InputError(str(symbol), f"no expansion at {point} was found", "choose another point")
    back = 1 / symbol if point is sp.oo else _SIDES[side] * (symbol - point)
    coefficients: dict[sp.Expr, list[sp.Expr]] = {}
    for term in sp.Add.make_args(sp.expand(found.removeO())):
        coefficient, power = term.as_independent(turned, as_Add=False)
        coefficients.setdefault(power, []).append(coefficient)
    terms = sp.Add(*(_short(sp.Add(*parts)) * power.subs(turned, back) for power, parts in coefficients.items()))
    rest = found.getO()
    if rest is None:
        return terms
    where = (symbol, sp.oo) if point is sp.oo else (symbol, point)
    remainder = sp.O(rest.expr.subs(turned, back if point is sp.oo else symbol - point), where)
    return sp.Add(terms, remainder, evaluate=False) if point not in (0, sp.oo) else terms + remainder


def _short(coefficient: sp.Expr) -> sp.Expr:
    """A coefficient, simplified: roots that SymPy writes apart cancel."""
    plain = sp.simplify(coefficient)
    return min((coefficient, plain, sp.factor(plain), _unrooted(plain)), key=sp.count_ops)


def _unrooted(expr: sp.Expr) -> sp.Expr:
    """Fractional powers of positive symbols as powers of their roots, so that squares under further roots are seen."""
    degrees: dict[sp.Symbol, int] = {}
    for power in expr.atoms(sp.Pow):
        if power.base.is_Symbol and power.base.is_positive and power.exp.is_Rational:
            degrees[power.base] = sp.ilcm(degrees.get(power.base, 1), power.exp.q)
    roots = {s: sp.Dummy(s.name, positive=True) for s, q in degrees.items() if q > 1}
    turned = expr.subs({s: root ** degrees[s] for s, root in roots.items()})
    turned = turned.replace(
        lambda e: e.is_Pow and e.exp.is_Rational and not e.exp.is_Integer and e.base.is_Add,
        lambda e: sp.factor(e.base) ** e.exp,
    )
    found = sp.factor(sp.cancel(turned)).subs({root: s ** sp.Rational(1, degrees[s]) for s, root in roots.items()})
    return found if sp.count_ops(found) <= sp.count_ops(sp.expand(found)) else sp.expand(found)


def limit(expr: sp.Expr, symbol: sp.Symbol, point: sp.Expr, side: str = "+") -> sp.Expr:
    """The limit from one side.  Errors: InputError where the case is not decided."""
    _check_side(side)
    smooth = branch(expr, symbol, point, side)
    if point is sp.oo:
        return sp.limit(smooth, symbol, point)
    near = sp.limit(smooth.subs(symbol, point + _SIDES[side] * _t), _t, 0, "+")
    return _short(near)


def _check_side(side: str) -> str:
    """Return "+" or "-", else raise InputError."""
    if side not in _SIDES:
        raise InputError("side", f"{side!r} is no side of a point", 'give "+" or "-"')
    return side
