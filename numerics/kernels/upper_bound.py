"""G13 in floats: C_tau and eps_tau of lambda_j(T_1) <= C_tau lambda_j(T_0) + eps_tau."""

from __future__ import annotations

import math

import numpy as np
from scipy.integrate import quad

from bulkedge.numerics.kernels.spiked_spectrum import check_inputs
from bulkedge.theory.numbers.errors import InputError


def upper_bound(d: int, A: float, B: float, tau: float) -> tuple[float, float]:
    """C_tau and eps_tau.

    Formula: theory.kernels.upper_bound.upper_constant and upper_rest.
    Valid for: d >= 2, A > 0, B >= 0, tau in (0, 1].
    Accuracy: eps to 1e-9 relative, by quadrature in the angle of an isotropic vector, where the integrand is smooth.
    Errors: InputError outside; where C_tau is beyond the floats.
    Source: G13.
    """
    check_inputs(d, A, B)
    if B < 0:
        raise InputError("spike", f"B = {B:g} is negative", "give B >= 0")
    if not 0 < tau <= 1:
        raise InputError("tau", f"{tau:g} is not in (0, 1]", "give a number in (0, 1]")
    log_constant = math.log(A) - math.log1p(B / A) / 2 - (d + 2) / 2 * math.log1p(-B / (A + B) * tau**2)
    if log_constant > 700:
        raise InputError("tau", f"{tau:g} makes the constant e^{log_constant:.0f}", "give a smaller tau")
    # w.w*/|w_perp| = sqrt((A+B)/A) cot(phi), phi the angle of an isotropic vector; |w|^2 = A + B cos^2 phi in the mean.
    edge = math.acos(min(1.0, tau / math.sqrt(tau**2 + (1 - tau**2) * (A + B) / A)))
    log_norm = math.lgamma(d / 2) - math.lgamma((d - 1) / 2) - math.log(math.pi) / 2

    def integrand(phi: float) -> float:
        sine = math.sin(phi)
        return (A + B * math.cos(phi) ** 2) * (math.exp(log_norm + (d - 2) * math.log(sine)) if sine > 0 else d == 2)

    rest = quad(integrand, 0, edge, epsabs=0, epsrel=1e-10, limit=200)[0] if edge > 0 else 0.0
    return math.exp(log_constant), float(np.asarray(rest))
