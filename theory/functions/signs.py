"""Signs of exact expressions: by balls for constants, from the symbols' assumptions where there are symbols."""

from __future__ import annotations

import sympy as sp

from bulkedge.theory.functions.parse import shorten
from bulkedge.theory.numbers import ball
from bulkedge.theory.numbers.errors import InputError


def sign_of(value: sp.Expr, argument: str = "FUNCTION") -> int:
    """The sign of an exact expression.

    Errors: PrecisionError for a constant that no precision tells from zero; InputError for symbols whose assumptions do
    not decide, naming the one that would.
    """
    if not value.free_symbols:
        return ball.sign(value)
    for form in (value, sp.factor_terms(sp.expand(value)), sp.factor(value)):
        for sign, known in ((0, form.is_zero), (1, form.is_positive), (-1, form.is_negative)):
            if known:
                return sign
    loose = sorted(s.name for s in value.free_symbols if not (s.is_positive or s.is_negative))
    remedy = f"declare --positive {','.join(loose)}" if loose else "give numbers for some of the symbols"
    raise InputError(argument, f"the answer depends on the sign of {shorten(value)}", remedy)
