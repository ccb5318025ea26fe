"""The derivations of the kernel layer verify, their parts are right on their own, and a planted mistake is caught."""

import dataclasses

import mpmath
import pytest
import sympy as sp

from bulkedge.derivations.engine.derivation import DerivationError, Step
from bulkedge.derivations.kernels import derivative_kernel
from bulkedge.derivations.kernels.kernel import DERIVATIONS
from bulkedge.theory.kernels.arc_cosine import J, angular, angular_integral, n, phi, recurrence, theta

BY_ID = {d.id: d for d in DERIVATIONS}


@pytest.mark.parametrize("order", range(5))
def test_integral_form_and_recurrence(order):
    for angle in (0.3, 2.5):
        integral = angular_integral(sp.Integer(order))
        f = sp.lambdify(phi, next(iter(integral.atoms(sp.Integral))).function.subs(theta, angle), "mpmath")
        value = mpmath.factorial(order) * mpmath.quad(f, [0, mpmath.pi - angle])
        assert float(angular(order).subs(theta, angle)) == pytest.approx(float(value), rel=1e-12)
    at = {J[n]: angular(order), J[n + 1]: angular(order + 1), J[n + 2]: angular(order + 2)}
    gap = (recurrence().lhs - recurrence().rhs).subs(at).subs(n, order)
    assert sp.simplify(gap) == 0


def test_a_planted_mistake_is_caught():
    (good,) = (d for d in derivative_kernel.DERIVATIONS if d.id == "K3.price")

    def steps():
        first, second = good.steps()
        yield first
        yield Step(2 * second.expression, second.relation, second.reason)

    with pytest.raises(DerivationError):
        dataclasses.replace(good, id="K3.wrong", steps=steps).verify()
