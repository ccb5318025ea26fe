"""Arrays, derivatives and simulations of equivalents."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bulkedge
from bulkedge.numerics.equivalents import equivalent
from bulkedge.numerics.equivalents.equivalent_simulation import dimensions
from bulkedge.numerics.spectra.marchenko_pastur import MarchenkoPastur
from bulkedge.numerics.trials.check import Verdict, run_check
from bulkedge.numerics.trials.runner import Runner
from bulkedge.theory.equivalents.equivalent import Equivalent, declare, read
from bulkedge.theory.numbers.errors import ConvergenceError, InputError


def mp() -> Equivalent:
    return read("tr(inv(X.T*X + lam))", declare("X: n x d, 1/n", size="n=1,d=c", positive="lam,c"))


@settings(max_examples=6)
@given(st.lists(st.floats(min_value=0.05, max_value=5), min_size=1, max_size=4), st.floats(min_value=0.2, max_value=4))
def test_arrays_broadcast(lam: list[float], c: float) -> None:
    found, errors = equivalent.values(mp(), {}, {"lam": np.array(lam)[:, None], "c": [c, 1.0]})
    expected = [[MarchenkoPastur(r).stieltjes(-x).real for r in (c, 1.0)] for x in lam]
    assert found.shape == errors.shape == (len(lam), 2)
    assert np.allclose(found, expected, rtol=1e-12)
    slope, _ = equivalent.slopes(mp(), "lam", {}, {"lam": lam, "c": c})
    h = 1e-5
    near = [(MarchenkoPastur(c).stieltjes(-x - h) - MarchenkoPastur(c).stieltjes(-x + h)).real / (2 * h) for x in lam]
    assert np.allclose(slope, near, rtol=1e-4)


@settings(max_examples=4)
@given(st.floats(min_value=0.3, max_value=2.5))
def test_density(x: float) -> None:
    e = read("tr(inv(z - X.T*X))", declare("X: n x d, 1/n", size="n=2,d=1", real="z"))
    found, errors = equivalent.density(e, e.symbols[0], [x, 5.0])
    assert found[0] == pytest.approx(MarchenkoPastur(0.5).pdf(x), rel=1e-11)
    assert found[1] == 0
    assert np.all(errors >= 0)


def test_points_that_are_uncertain_are_named() -> None:
    e = read("tr(inv(z - X.T*X))", declare("X: n x d, 1/n", size="n=2,d=1", real="z"))
    with pytest.raises(ConvergenceError, match="at z = 1: no solution"):
        equivalent.values(e, {}, {"z": [7, 1]})
    for arrays, said in (({"y": 1}, "not a declared"), ({}, "no value")):
        with pytest.raises(InputError, match=said):
            equivalent.values(e, {}, arrays)
    with pytest.raises(InputError, match="broadcast"):
        equivalent.values(mp(), {}, {"lam": [1, 2], "c": [1, 2, 3]})


def test_the_result_in_python() -> None:
    r = bulkedge.equivalent("tr(inv(X.T*X + lam))", "X: n x d, 1/n", size="n=1,d=2", positive="lam", set="lam=3/10")
    assert r.value() == 2
    assert r.value(lam=[0.3, 1.0]).shape == (2,)
    assert r.error() <= 1e-15
    assert r.derivative("lam") < 0
    with pytest.raises(InputError, match="no spectrum"):
        r.edges()
    s = bulkedge.equivalent("tr(inv(z - X.T*X))", "X: n x d, 1/n", size="n=1,d=2", spectrum="z")
    assert s.edges() == pytest.approx(((1 - 2**0.5) ** 2, (1 + 2**0.5) ** 2))
    assert s.atoms() == ((0.0, 0.5),)
    assert s.outliers() == ()
    assert s.density(1.0) == pytest.approx(MarchenkoPastur(2.0).pdf(1.0))
    payload = s.to_dict()
    assert (len(payload["edges"]), len(payload["atoms"]), payload["outliers"]) == (2, 1, [])


def test_a_value_that_is_uncertain_has_exit_status_3() -> None:
    r = bulkedge.equivalent("tr(inv(z - X.T*X))", "X: n x d, 1/n", size="n=1,d=2", real="z", set="z=1")
    assert (r.exit_status, r.payload()["value"], r.payload()["error"]) == (3, None, None)
    assert "branch test" in r.status


def test_a_users_check_confirms_and_its_control_is_refuted() -> None:
    r = bulkedge.equivalent(
        "let b = inv(X.T*X/n + lam)*X.T*(X*beta + e)/n - beta; b.T*b",
        ["X: n x d, 1", "beta: d x 1, 1/d", "e: n x 1, 1"],
        size="n=2,d=1",
        positive="lam",
        set="lam=1/2",
        simulate=30,
        trials=4,
    )
    assert r.simulated is not None
    assert dict(r.simulated.sizes) == {"n": 60, "d": 30}
    check = r.check("X1.mine", size=30, trials=60, resolution=0.08, broken="e")
    found = run_check(check, Runner())
    assert (found.verdict, found.control) == (Verdict.CONFIRMED, Verdict.REFUTED)
    with pytest.raises(InputError, match="no Gaussian matrix"):
        r.check("X1.mine", resolution=0.1, broken="S")


def test_sizes_that_are_too_large_are_refused() -> None:
    model = declare("X: n x d, 1/n", size="n=1,d=1000")
    with pytest.raises(InputError, match="too large"):
        dimensions(model, {}, 1000)
