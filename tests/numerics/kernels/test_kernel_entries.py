"""Right values on ordinary data: large norms, kinks, high degrees, parallel rows, and what is refused."""

from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

from bulkedge.numerics.functions.rounding import Bounded
from bulkedge.numerics.gaussian import plane
from bulkedge.numerics.kernels import kernel_entries
from bulkedge.numerics.kernels.dual_kernel import closed_form
from bulkedge.numerics.kernels.kernel_entries import curve
from bulkedge.numerics.kernels.kernel_matrix import kernel_gradient, kernel_matrix
from bulkedge.numerics.kernels.spiked_kernel import spiked_kernel_matrix
from bulkedge.theory.functions.nonlinearity import nonlinearity
from bulkedge.theory.kernels.kernel_value import value
from bulkedge.theory.numbers.enclosure import Enclosure
from bulkedge.theory.numbers.errors import ConvergenceError, InputError, PrecisionError

EXHAUSTIVE = pytest.mark.exhaustive
TABLES = {"iris": load_iris, "wine": load_wine, "digits": load_digits, "cancer": load_breast_cancer}


def rows(name, count):
    """Rows of a public table, unscaled, with the next neighbours that the order of the table gives."""
    data = TABLES[name]().data
    return data[np.linspace(0, len(data) - 1, count).astype(int)]


def line(*lengths):
    return np.array(lengths)[:, None]


def truth(name, q11, q12, q22, kind="conjugate"):
    f = nonlinearity(name) if kind == "conjugate" else nonlinearity(name).derivative()
    return float(value(f, *map(sp.Rational, (q11, q12, q22)), 12))


@pytest.mark.parametrize(
    ("name", "x", "y", "expected"),
    [
        ("elu", 6.0, 6.0, 18.4034603424),
        ("elu", 20**0.5, 20**0.5, 10.3735),
        ("elu", 10.0, 10.0, 50.4409),
        ("elu", 10.0, -10.0, -7.9013388203),
        ("Piecewise((exp(z), z<0), (1, True))", 6.0, 6.0, 0.5330189711),
        ("exp(-z**2)*relu(z)", 3.0, 3.0, 0.019994471429),
    ],
)
def test_values_of_the_reports(name, x, y, expected):
    assert kernel_matrix(line(x), line(y), name)[0, 0] == pytest.approx(expected, rel=5e-6 if expected > 9 else 1e-9)
    assert kernel_matrix(line(x), line(y), name)[0, 0] == pytest.approx(truth(name, x * x, x * y, y * y), rel=1e-9)


@pytest.mark.parametrize(
    ("name", "kind"),
    [(name, "conjugate") for name in ("elu", "selu", "celu(z, 2)", "exp(-Abs(z))", "exp(-z**2)*relu(z)")]
    + [("elu", "derivative"), ("exp(-Abs(z))", "derivative")],
)
def test_kinks_of_exponentials_at_large_norms(name, kind):
    x = np.array([[6.0, 0.0], [7.5, 4.0], [-20.0, 1.0]])
    found = kernel_matrix(x, nonlinearity=name, kind=kind)
    for i, j in ((0, 1), (0, 2)):
        q = [sp.Rational(v) for v in (x[i] @ x[i], x[i] @ x[j], x[j] @ x[j])]
        assert found[i, j] == pytest.approx(truth(name, *q, kind), abs=1e-11 * np.sqrt(found[i, i] * found[j, j]))


def test_an_entry_beyond_the_closed_form_is_the_tangent_kernels_too():
    x = line(20.0)
    tangent = kernel_matrix(x, nonlinearity="elu", kind="tangent", readout_variance=0.5)[0, 0]
    assert tangent == pytest.approx(
        truth("elu", 400, 400, 400) + 200 * truth("elu", 400, 400, 400, "derivative"), rel=1e-11
    )


def test_the_gradient_at_large_norms_is_a_difference():
    x, y, step = np.array([[9.0, 3.0]]), np.array([[8.0, -5.0], [0.0, 0.0]]), 1e-4
    for name in ("elu", "softplus"):  # softplus(0) is not zero: a row of zeros in Y counts
        jacobian = kernel_gradient(x, y, name)
        for k in (0,) if name == "elu" else (0, 1):
            e = step * np.eye(2)[k]
            slope = (kernel_matrix(x + e, y, name) - kernel_matrix(x - e, y, name)) / (2 * step)
            np.testing.assert_allclose(jacobian[:, :, k], slope, rtol=1e-7, atol=1e-7)


def test_the_curve_of_a_plot():
    r = np.array([-1.0, -0.6, 0.0, 0.6, 1.0])
    found = curve(nonlinearity("elu"), r, 10.0, 10.0)
    expected = [truth("elu", 100, 100 * sp.Rational(str(x)), 100) for x in r]
    np.testing.assert_allclose(found, expected, rtol=1e-11)


@pytest.mark.parametrize(
    "name", ["tanh", *(pytest.param(f, marks=EXHAUSTIVE) for f in ("sigmoid", "silu", "softplus"))]
)
def test_a_raw_table_of_nearly_parallel_rows(name):
    """Several hundred entries, so that the table of the kernel is used; a few of them against enclosures."""
    x = rows("iris", 26)
    found = kernel_matrix(x, nonlinearity=name)
    for i, j in ((0, 1), (3, 25)):
        q = [sp.Rational(*float(v).as_integer_ratio()) for v in (x[i] @ x[i], x[i] @ x[j], x[j] @ x[j])]
        # The correlation of floats is known to 1e-16, which costs as much of the kernel times |x||y|.
        assert found[i, j] == pytest.approx(float(value(nonlinearity(name), *q, 12)), rel=3e-12)


FUNCTIONS = "relu", "gelu", "elu", "selu", "tanh", "softplus", "erf", "hard_tanh", "sin", "abs", "step", "exp(-Abs(z))"
GRID = [(table, name) for table in sorted(TABLES) for name in FUNCTIONS]
# At every norm what is quick; of the rest one small and one large table, by closed form, quadrature and series.
QUICK = {(t, f) for t in TABLES for f in ("relu", "erf", "sin", "abs", "step")}
QUICK |= {("iris", "tanh"), ("iris", "gelu"), ("iris", "hard_tanh")}
QUICK |= {("digits", "softplus"), ("digits", "elu"), ("cancer", "exp(-Abs(z))")}


@pytest.mark.parametrize(
    ("table", "name"), [pytest.param(*case, marks=() if case in QUICK else EXHAUSTIVE) for case in GRID]
)
def test_kernels_of_raw_tables_are_positive_and_bounded_by_their_diagonals(table, name):
    x = rows(table, 6)
    found = kernel_matrix(x, nonlinearity=name)
    size = np.sqrt(np.diag(found))
    assert np.array_equal(found, found.T)
    assert (np.abs(found) <= np.outer(size, size) * (1 + 1e-11)).all()
    # A jump turns the rounding of an angle, 1e-16, into its root.
    rounding = 1e-7 if name == "step" else 1e-11
    normalised = found / np.outer(size, size)
    assert np.linalg.eigvalsh(normalised).min() > -rounding * len(x)


@pytest.mark.parametrize("degree", [20, 30])
def test_hermite_polynomials_of_high_degree(degree):
    r = 0.6
    x = np.array([[1.0, 0.0], [r, 0.8]])
    found = kernel_matrix(x, nonlinearity=f"He({degree}, z)")
    factorial = float(sp.factorial(degree))
    np.testing.assert_allclose(np.diag(found), factorial, rtol=1e-13)
    assert found[0, 1] == pytest.approx(factorial * r**degree, rel=1e-13)
    scaled = kernel_matrix(2 * x, nonlinearity=f"He({degree}, z)")[0, 1]
    exact = [sp.Rational(*v.as_integer_ratio()) for v in (4.0, 2.4, 4.0)]
    f = nonlinearity(f"He({degree}, z)")
    assert scaled == pytest.approx(float(value(f, *exact)), rel=1e-11)


def test_a_monomial_of_high_degree_cut_at_zero():
    f = "z**40*Heaviside(z)"
    x = np.array([[1.0, 0.0], [0.6, 0.8], [-0.8, 0.6]])
    found = kernel_matrix(x, nonlinearity=f)
    assert found[0, 1] == pytest.approx(truth(f, 1, sp.Rational(3, 5), 1), rel=1e-11)
    assert found[0, 2] == pytest.approx(truth(f, 1, -sp.Rational(4, 5), 1), abs=1e-11 * found[0, 0])


@pytest.mark.parametrize("shape", [(0, 3), (2, 3)])
def test_no_rows_give_an_empty_matrix(shape):
    empty, x = np.empty((0, 3)), np.ones(shape)
    for name in ("relu", "tanh", "elu"):
        assert kernel_matrix(empty, nonlinearity=name).shape == (0, 0)
        assert kernel_matrix(x, empty, name).shape == (shape[0], 0)
        assert kernel_gradient(empty, x, name).shape == (0, shape[0], 3)
        assert kernel_gradient(empty, x, name, cotangent=np.empty((0, shape[0]))).shape == (0, 3)
    assert spiked_kernel_matrix(empty, None, np.array([1.0, 0, 0]), 1.0, 0.5).shape == (0, 0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: kernel_matrix(np.array([[10.0, 1.0], [1.0, 0.0]]), nonlinearity="exp(z**2/5)"), "square integrable"),
        (lambda: kernel_gradient(np.array([[10.0, 1.0]]), nonlinearity="exp(z**2/5)"), "square integrable"),
        (
            lambda: spiked_kernel_matrix(np.array([[20.0, 1.0]]), None, np.array([1.0, 0]), 1.0, 0.5, "exp(z**2/5)"),
            "square integrable",
        ),
        (lambda: kernel_matrix(line(60.0), nonlinearity="exp"), "exceeds|beyond"),
        (lambda: kernel_matrix(line(1e200), nonlinearity="relu"), "beyond the largest float"),
        (
            lambda: kernel_matrix(line(1.0, 2.0), nonlinearity="step", kind="derivative"),
            "not finite at correlation one",
        ),
    ],
)
def test_what_has_no_finite_value_is_refused(call, message):
    with pytest.raises((InputError, ConvergenceError), match=message):
        call()


def test_a_wrong_closed_form_is_caught(monkeypatch):
    """The control of the guard: a compiled form that is off by a millionth, and says that it is exact."""

    class Wrong:
        def __init__(self, right):
            self.right = right

        def bounded(self, s, t, r, c):
            found = self.right.bounded(s, t, r, c)
            return Bounded(found.value * (1 + 1e-6), np.zeros_like(found.error))

    monkeypatch.setattr(kernel_entries, "closed_form", lambda f, g: Wrong(closed_form(f, g)))
    x = np.array([[1.0, 0.5], [-0.25, 3.0], [0.0, 0.0]])
    found = kernel_matrix(x, nonlinearity="gelu")  # enclosed entry by entry
    monkeypatch.undo()
    assert found == pytest.approx(kernel_matrix(x, nonlinearity="gelu"), rel=1e-12)
    monkeypatch.setattr(kernel_entries, "closed_form", lambda f, g: Wrong(closed_form(f, g)))
    with pytest.raises(ConvergenceError, match="wrong in floats"):
        kernel_matrix(np.tile(x[:2], (20, 1)), nonlinearity="gelu")


def test_a_table_that_is_off_is_caught(monkeypatch):
    monkeypatch.setattr(plane, "expectation", _jagged(plane.expectation))
    with pytest.raises(ConvergenceError, match=r"off by|too fast"):
        kernel_matrix(rows("iris", 26), nonlinearity="tanh")


def _jagged(right):
    def wrong(first, second, s, t, r, nodes=plane.NODES):
        return right(first, second, s, t, r, nodes) * (1 + (1e-7 if nodes == plane.NODES else 0))

    return wrong


@settings(max_examples=12, deadline=None)
@given(
    st.sampled_from(["relu", "gelu", "elu", "tanh", "hard_tanh", "exp(-Abs(z))", "relu(z - 1/3)"]),
    st.floats(-0.999999, 0.999999),
    st.floats(0.1, 20),
    st.floats(0.1, 20),
)
def test_quadrature_in_the_plane(name, r, s, t):
    """Symmetric in its two functions, bounded by the second moments, and the closed form within its own bound."""
    f = nonlinearity(name)
    part = plane.resolved(f, min(s, t), max(s, t))
    one, two = (np.array([v]) for v in (s, t))
    found = float(plane.expectation(part, part, one, two, r)[0, 0])
    size = float(np.sqrt(plane.second_moments(part, one) * plane.second_moments(part, two))[0])
    assert found == pytest.approx(
        float(plane.expectation(part, part, two, one, r, plane.FINER)[0, 0]), abs=1e-12 * size
    )
    assert abs(found) <= size * (1 + 1e-12)
    x, w = plane.line_nodes(((part, s),))
    assert plane.parallel(part, part, s, s, 1) == pytest.approx(float(w @ part.values(s * x) ** 2), rel=1e-12)
    closed = closed_form(f, f)
    if closed is not None:
        bounded = closed.bounded(one, two, np.array([r]), np.array([np.sqrt((1 - r) * (1 + r))]))
        assert abs(float(bounded.value[0]) - found) <= float(bounded.error[0]) + 1e-12 * size


@settings(max_examples=8, deadline=None)
@given(st.integers(3, 12), st.floats(0.05, 8), st.lists(st.integers(-5, 5), min_size=13, max_size=13))
def test_coefficients_of_scaled_polynomials(degree, s, numbers):
    """Parseval at every scale: the squares add up to E f(s z)^2."""
    numbers = [*numbers[:degree], 1]
    f = nonlinearity(sum(c * sp.Symbol("z", real=True) ** k for k, c in enumerate(numbers)))
    found = kernel_entries.polynomial_coefficients(f, np.array([s]))[0]
    double = [float(sp.factorial2(k - 1)) if k % 2 == 0 else 0.0 for k in range(2 * degree + 1)]
    terms = [a * b * s ** (i + j) * double[i + j] for i, a in enumerate(numbers) for j, b in enumerate(numbers)]
    assert float(found @ found) == pytest.approx(sum(terms), abs=1e-12 * sum(map(abs, terms)))


@settings(max_examples=8, deadline=None)
@given(st.floats(-2, 2), st.floats(0.3, 5))
def test_deltas_are_integrated_by_parts(at, s):
    """E (f(s z))'' = E f(s z) (z^2 - 1): relu(z - at) leaves the delta alone; at one point g is its value there."""
    b = sp.Rational(*float(at).as_integer_ratio())
    f = nonlinearity(f"Max(z - ({b}), 0)")
    bend, g = f.derivative(2), nonlinearity("tanh")
    x, w = plane.line_nodes(((plane.resolved(f, s, s), s),))
    expected = float(w @ (np.maximum(s * x - at, 0) * (x * x - 1))) / s**2
    assert plane.delta_mean(bend, s) == pytest.approx(expected, abs=1e-11)
    parts = plane.resolved(bend, s, s), plane.resolved(g, s, s)
    assert plane.parallel_with_deltas(*parts, s, s, 1) == pytest.approx(expected * np.tanh(at), abs=1e-11)


@settings(max_examples=3, deadline=None)
@given(st.sampled_from(["tanh", "elu", "softplus"]), st.integers(0, 2**32 - 1))
def test_the_table_between_its_points(name, seed):
    from bulkedge.numerics.kernels import kernel_table

    rng = np.random.default_rng(seed)
    s = rng.uniform(2, 6, 5)
    part = plane.resolved(nonlinearity(name), float(s.min()), float(s.max()))
    table = kernel_table.build(part, part, s, s, 0.2, 0.6, 1e-11)
    where, theta = np.arange(5), rng.uniform(0.2, 0.6, 5)
    found = table(s, s, where, where[::-1], theta)
    size = kernel_table.norms(part, s)
    for k in where:
        exact = plane.expectation(part, part, s[k : k + 1], s[4 - k : 5 - k], float(np.cos(theta[k])))[0, 0]
        assert found[k] == pytest.approx(exact / (size[k] * size[4 - k]), abs=2e-10)


def test_entries_of_kinks_elsewhere_have_a_limit(monkeypatch):
    monkeypatch.setattr("bulkedge.numerics.kernels.kernel_table.MOST", 3)
    x = np.random.default_rng(0).standard_normal((5, 3))
    x[1:] = x[0] + 1e-3 * x[1:]  # nearly parallel: the series would be long
    with pytest.raises(ConvergenceError, match="would need an integral each"):
        kernel_matrix(x, nonlinearity="tanh(z)*Heaviside(z - 1/3)")


def test_the_curve_takes_any_number_of_correlations():
    assert curve(nonlinearity("tanh"), np.array([])).shape == (0,)


def test_an_enclosure_that_says_nothing_proves_nothing(monkeypatch):
    """A ball wider than every float ended in an OverflowError, and any wide one agreed with every entry.

    On long rows of a raw table: E f(s z)^2 by plain quadrature, cut where f is steep; then with a planted fault.
    """
    name, s = "atan(0.33333333*z) + exp(-Abs(z))", 394193.211960983**0.5
    nodes, weights = np.polynomial.legendre.leggauss(40)
    cuts = np.concatenate([-np.geomspace(14, 1e-9, 60), [0], np.geomspace(1e-9, 14, 60)])
    half = np.diff(cuts)[:, None] / 2
    u = (cuts[:-1, None] + half + half * nodes).ravel()
    density = np.exp(-u * u / 2) / np.sqrt(2 * np.pi) * (half * weights).ravel()
    expected = density @ (np.arctan(0.33333333 * s * u) + np.exp(-np.abs(s * u))) ** 2
    assert kernel_matrix(line(s), None, name)[0, 0] == pytest.approx(expected, rel=1e-11)

    f = nonlinearity("tanh(z) + 1/2")

    def wide(*_):
        raise PrecisionError("planted", Enclosure(Fraction(0), Fraction(10) ** 400))

    kernel_entries._enclosure.cache_clear()
    monkeypatch.setattr(kernel_entries.kernel_value, "value", wide)
    right = kernel_entries.Entries.agrees
    seen = []
    monkeypatch.setattr(
        kernel_entries.Entries,
        "agrees",
        lambda self, i, j, r, found: seen.append(right(self, i, j, r, found * (1 + 1e-6))),
    )
    with pytest.raises(ConvergenceError):
        kernel_matrix(line(1.5, 0.7), None, f)
    assert seen
    assert not any(seen)
    kernel_entries._enclosure.cache_clear()
