"""Equivalents: O3's risk typed, from the text to its equations, and its values at a thousand points."""

from __future__ import annotations

import time

import numpy as np

from benchmarks.benchmark import Benchmark, Row, seconds
from bulkedge.numerics.equivalents.equivalent import values
from bulkedge.theory.equivalents.equivalent import Equivalent, declare, read

_DECLARED = [
    "X: n x d, 1",
    "W0: d x N, 1/d",
    "Z: n x N, 1",
    "Xs: n1 x d, 1",
    "a: N x 1, 1/N",
    "beta: d x 1, 1/d",
    "e1: n1 x 1, v",
    "e: n x 1, v",
]
_RISK = (
    "let u = Xs.T*(ms*Xs*beta + e1)/n1; let W = W0 + eta*mu1*u*a.T; let F = mu1*X*W + mu2*Z;"
    "let ah = inv(F.T*F/n + lam)*F.T*(ms*X*beta + e)/n; let r = ms*beta - mu1*W*ah; r.T*r + mu2**2*ah.T*ah"
)


def _typed() -> Equivalent:
    model = declare(_DECLARED, size="n=3,N=2,d=1,n1=1", positive="mu1,mu2,ms,lam,v,eta")
    return read(_RISK, model)


def risk() -> tuple[Row, ...]:
    """The budgets of the risk after one step: its pencil and equations, and a thousand ridges once they are known."""
    derive = seconds(lambda: _typed().system, repeats=2)
    theory = _typed()
    at = {"mu1": 0.6, "mu2": 0.35, "ms": 0.8, "v": 0.3, "eta": 1.0, "lam": np.linspace(0.1, 2, 1000)}
    started = time.perf_counter()
    values(theory, {}, at)
    compiled = time.perf_counter() - started
    many = seconds(lambda: values(theory, {}, at), repeats=2)
    rng = np.random.default_rng(0)
    features, labels = rng.normal(size=(600, 400)), rng.normal(size=600)
    solve = seconds(lambda: np.linalg.solve(features.T @ features + 6 * np.eye(400), features.T @ labels), repeats=5)
    return (
        Row("O3's risk typed: pencil and equations", "a budget of 5 s", derive, 5.0, 1.0),
        Row(
            "the same at 1000 ridges",
            "a budget of 50 ms",
            many,
            0.05,
            1.0,
            f"every branch tested; program made in {compiled:.2f} s",
        ),
        Row("the same at 1000 ridges", "1000 ridge solves at d = 400, n = 600", many, 1000 * solve, 1.0),
    )


BENCHMARKS = (Benchmark("equivalents", risk),)
