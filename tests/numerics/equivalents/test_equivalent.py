"""Arrays, derivatives and simulations of equivalents."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bulkedge
from bulkedge.numerics.equivalents import batched, equivalent, program_values
from bulkedge.numerics.equivalents.equivalent_simulation import dimensions
from bulkedge.numerics.spectra.marchenko_pastur import MarchenkoPastur
from bulkedge.numerics.trials.check import Verdict, run_check
from bulkedge.numerics.trials.runner import Runner
from bulkedge.theory.equivalents.dyson_table import dyson_table
from bulkedge.theory.equivalents.equivalent import Equivalent, declare, read, values_of
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


@pytest.mark.parametrize("seed", range(4))
def test_a_simulation_states_its_finite_size(seed: int) -> None:
    """With many draws at a small size the standard error of the mean alone would refute a true limit."""
    r = bulkedge.equivalent("tr(inv(X.T*X + 1/4))", "X: n x d, 1/n", size="n=1,d=1", simulate=8, trials=600, seed=seed)
    assert r.enclosure is not None
    assert r.simulated is not None
    found, limit = r.simulated.estimate, float(r.enclosure)
    assert abs(found.value - limit) > 4 * found.stderr
    assert abs(found.value - limit) < found.margin
    shown = r.payload()["simulated"]
    assert abs(float(shown["value"]) - limit) < 4 * float(shown["stderr"]) < 0.5 * limit


def test_sizes_that_are_too_large_are_refused() -> None:
    model = declare("X: n x d, 1/n", size="n=1,d=1000")
    with pytest.raises(InputError, match="too large"):
        dimensions(model, {}, 1000)


@settings(max_examples=5)
@given(st.floats(min_value=0.05, max_value=4), st.floats(min_value=0.2, max_value=4))
def test_many_points_at_once_agree_with_enclosures(lam: float, c: float) -> None:
    """In floats with a tested error against balls, a quotient of functionals with a spectral law."""
    model = declare("X: n x d, 1/n", size="n=1,d=c", deterministic="S: d, atoms 1:1/4 3:3/4", positive="lam,c")
    e = read("let Q = inv(S*X.T*X + lam); tr(S*Q)/(1 + tr(Q))", model)
    found, errors = equivalent.values(e, {}, {"lam": np.linspace(lam, 5, 40), "c": c})
    for k in (7, 23):
        point = {"lam": float(np.linspace(lam, 5, 40)[k]), "c": c}
        exact, error = equivalent.values(e, {}, point)
        assert abs(found[k] - exact) <= errors[k] + error
    assert np.all(errors <= 1e-9 * found)
    table = dyson_table(e.system)
    coefficients = np.array([[float(x.subs({s: point[s.name] for s in e.symbols}))] for x in table.coefficients])
    parts, bounds, certain = batched.dyson_solve(table.plain(), coefficients)
    assert certain.all()
    assert abs(parts[0, 0] / (1 + parts[0, 1]) - exact) <= 2 * bounds.sum() + error


@pytest.mark.parametrize(
    ("expression", "gaussian", "declared"),
    [
        ("tr(inv(R*X.T*X*R + lam))", "X: n x d, 1/n", {"size": "n=1,d=c", "deterministic": "R: d, atoms 1:1/2 s:1/2"}),
        ("let F = tanh(X*W); tr(inv(F.T*F/n + lam))/s", ["X: n x d, 1", "W: d x N, 1/d"], {"size": "n=1,d=2,N=c"}),
        ("let A = W + s*u*v.T; u.T*inv(lam + c*A*A.T)*u", ["W: d x N, 1/d", "u: d x 1, 1/d", "v: N x 1, 1/N"], {}),
    ],
)
@settings(max_examples=3)
@given(seed=st.integers(0, 10**6))
def test_the_program_states_its_error_at_extreme_points(
    expression: str, gaussian: object, declared: dict[str, str], seed: int
) -> None:
    """Against enclosures, symbols over many decades; where the conditioning is bad, the error must say so."""
    declared = {"size": "d=1,N=2", **declared}
    e = read(expression, declare(gaussian, positive="lam,c,s", **declared))
    program = program_values.compiled(e)
    assert program is not None
    rng = np.random.default_rng(seed)
    at = {s.name: 10 ** rng.uniform(*{"lam": (-10, 2), "c": (-2, 2), "s": (-3, 3)}[s.name], 6) for s in e.symbols}
    found, errors, certain = program.solve([at[s.name] for s in e.symbols])
    assert certain.sum() >= 3
    for k in np.flatnonzero(certain):
        exact = e.enclose(values_of({name: float(x[k]) for name, x in at.items()}, e.symbols), 18)
        assert abs(float(exact) - found[k]) <= errors[k] + float(exact.error)


def test_the_program_and_the_whole_equation_agree() -> None:
    """The risk of random features: classes solved one by one against Newton's method on all unknowns."""
    declared = ["X: n x d, 1", "W: d x N, 1/d", "Z: n x N, 1", "b: d x 1, 1/d"]
    e = read(
        "let F = X*W + s*Z; let a = inv(F.T*F/n + lam)*F.T*X*b/n; let r = b - W*a; r.T*r + s**2*a.T*a",
        declare(declared, size="n=2,d=1,N=3/2", positive="lam,s"),
    )
    program = program_values.compiled(e)
    assert program is not None
    assert max(len(s.unknowns) for s in program.program.segments) < len(e.system.pairs) / 2
    points = [np.geomspace(0.01, 3, 50), np.linspace(0.1, 2, 50)]
    found, errors, certain = program.solve(points)
    whole = equivalent._whole(e, points)
    assert certain.all()
    assert whole[2].sum() > 40  # it gives up at the smallest ridges
    assert np.all((np.abs(found - whole[0]) <= errors + whole[1])[whole[2]])


def test_small_ridges_keep_their_branch() -> None:
    """Entries of G that differ by twenty orders: the branch test balances its matrix (it was refused before)."""
    e = read(
        "let F = X*W; tr(inv(F.T*F/n + lam))",
        declare(["X: n x d, 1", "W: d x N, 1/d"], positive="lam", size="n=1,d=2,N=24"),
    )
    lam = 2.5e-7
    found = float(e.enclose(values_of({"lam": lam}, e.symbols), 15))
    assert abs(found * lam - 23 / 24) < 1e-6  # the rank is n


@given(st.integers(min_value=1, max_value=5), st.floats(min_value=0.5, max_value=1.5), st.integers(0, 10**6))
def test_contracting_is_the_spectral_radius(size: int, radius: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    matrix = rng.standard_normal((3, size, size))
    matrix *= (radius / np.max(np.abs(np.linalg.eigvals(matrix)), axis=1))[:, None, None]
    matrix[2] = np.nan
    # The last squarings see 512 periods of the matrix: radii that near to one are left to the eigenvalues.
    expected = radius < 1 - 1e-7 if abs(radius - 1) > 2e-7 else program_values.contracting(matrix)[0]
    assert list(program_values.contracting(matrix)) == [expected, expected, False]


def test_many_points_keep_the_branch_test() -> None:
    """(1 - c X)^-1, X square: the equation's 1 holds for c < 1 only; real z within a bulk has no value."""
    e = read("tr(inv(1 - c*X))", declare("X: n x n, 1/n", positive="c"))
    found, _ = equivalent.values(e, {}, {"c": np.linspace(0.01, 0.99, 40)})
    assert np.all(found == 1)
    with pytest.raises(ConvergenceError, match="at c = 1"):
        equivalent.values(e, {}, {"c": np.linspace(0.02, 2, 40)})


def test_the_printed_program() -> None:
    r = bulkedge.equivalent(
        "let A = W + theta*u*v.T; u.T*inv(lam + A*A.T)*u",
        ["W: d x N, 1/d", "u: d x 1, 1/d", "v: N x 1, 1/N"],
        size="N=c,d=1",
        positive="theta,lam,c",
    )
    space: dict[str, object] = {}
    exec(r.python(), space)  # what a user would run
    function = space["equivalent"]
    at = {"theta": np.array([0.5, 1.5])[:, None], "lam": np.array([0.2, 1.0, 3.0]), "c": 2.0}
    found = function(**at)["value"]  # type: ignore[operator]
    assert found.shape == (2, 3)
    assert np.allclose(found, r.value(**at), rtol=1e-11)
    assert "import bulkedge" not in r.python()
