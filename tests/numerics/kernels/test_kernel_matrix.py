"""Kernel matrices: entries, symmetry, definiteness, ends, zero rows, gradients, memory, scikit-learn, bad input."""

import doctest
import tracemalloc

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from bulkedge.numerics.gaussian import plane
from bulkedge.numerics.kernels import kernel_matrix as module
from bulkedge.numerics.kernels.kernel_matrix import kernel_gradient, kernel_matrix
from bulkedge.theory.functions.nonlinearity import nonlinearity
from bulkedge.theory.kernels.derivative_kernel import derivative_dual
from bulkedge.theory.kernels.kernel_value import value
from bulkedge.theory.numbers.errors import InputError
from bulkedge.theory.numbers.symbols import q11, q12, q22

NAMES = ["relu", "abs", "step", "gelu", "relu(z - 1/3)", "elu", "sin(2*z)", "relu(z)**2", "tanh", "softplus"]


def data(n=7, d=3, seed=0):
    rows = np.random.default_rng(seed).standard_normal((n, d))
    rows[2], rows[4], rows[5] = 0, rows[1], -rows[1]
    return rows


def exact(f, x, y, kind="conjugate"):
    """The entry from the certified value at the exact products of the floats."""
    q = [sp.Rational(*map(int, float(v).as_integer_ratio())) for v in (x @ x, x @ y, y @ y)]
    if np.array_equal(x, y):
        q = [q[0]] * 3
    if np.array_equal(x, -y):
        q = [q[0], -q[0], q[0]]
    return float(value(f, *q, 13))


@pytest.mark.parametrize("name", NAMES)
def test_entries(name):
    x, f = data(), nonlinearity(name)
    found = kernel_matrix(x, nonlinearity=name)
    scale = np.sqrt(np.diag(found)).max() ** 2
    for i in range(len(x)):
        for j in range(i, len(x)):
            # A jump turns the rounding of the angle, 1e-16, into its root; the rows here are equal bit by bit.
            assert found[i, j] == pytest.approx(exact(f, x[i], x[j]), abs=2e-14 * scale)
    assert np.array_equal(found, found.T)
    assert np.linalg.eigvalsh(found).min() > -1e-14 * np.trace(found)


@pytest.mark.parametrize("name", ["relu", "gelu", "tanh", "relu(z - 1/3)"])
def test_two_sets_and_the_blocks(name, monkeypatch):
    x, y = data(), data(6, seed=1)
    together = kernel_matrix(np.vstack([x, y]), nonlinearity=name)
    apart = kernel_matrix(x, y, name)
    np.testing.assert_allclose(apart, together[: len(x), len(x) :], rtol=1e-12, atol=1e-14)
    monkeypatch.setattr(module, "BLOCK", 8)
    np.testing.assert_allclose(kernel_matrix(x, y, name), apart, rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(
        kernel_matrix(x, nonlinearity=name), together[: len(x), : len(x)], rtol=1e-12, atol=1e-14
    )


@pytest.mark.parametrize("name", ["relu", "gelu", "tanh", "relu(z - 1/3)", "erf"])
def test_single_precision(name):
    x = data().astype(np.float32)
    found = kernel_matrix(x, nonlinearity=name)
    assert found.dtype == np.float32
    double = kernel_matrix(x.astype(float), nonlinearity=name)
    np.testing.assert_allclose(found, double, atol=1e-5 * np.abs(double).max())
    assert np.array_equal(found, found.T)


@settings(max_examples=30, deadline=None)
@given(arrays(float, (5, 3), elements=st.floats(-100, 100)), st.sampled_from(["relu", "gelu", "erf", "step"]))
def test_laws(x, name):
    found = kernel_matrix(x, nonlinearity=name)
    assert np.isfinite(found).all()
    assert np.array_equal(found, found.T)
    # The angle of nearly parallel rows is known to the root of rounding only, which is what a jump sees.
    rounding = 1e-7 if name == "step" else 1e-12
    assert np.linalg.eigvalsh(found).min() >= -rounding * max(np.trace(found), 1)
    size = np.sqrt(np.diag(found))
    assert (np.abs(found) <= np.outer(size, size) * (1 + 1e-12) + 1e-300).all()


def test_homogeneity_and_scaling():
    x = data()
    np.testing.assert_allclose(kernel_matrix(3 * x), 9 * kernel_matrix(x), rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(
        kernel_matrix(x, nonlinearity="gelu", weight_variance=1 / 3),
        kernel_matrix(x / np.sqrt(3), nonlinearity="gelu"),
        rtol=1e-13,
    )
    huge = kernel_matrix(1e100 * x)
    np.testing.assert_allclose(huge, 1e200 * kernel_matrix(x), rtol=1e-12, atol=1e186)


@pytest.mark.parametrize("name", ["relu", "gelu", "elu", "leaky_relu"])
def test_derivative_and_tangent(name):
    x = np.random.default_rng(2).standard_normal((4, 3))
    f = nonlinearity(name)
    slope = kernel_matrix(x, nonlinearity=name, kind="derivative")
    tangent = kernel_matrix(x, nonlinearity=name, kind="tangent", weight_variance=1 / 3, readout_variance=0.25)
    kernel = kernel_matrix(x, nonlinearity=name, weight_variance=1 / 3)
    expression = derivative_dual(f)
    for i, j in ((0, 1), (2, 3)):
        at = {q11: x[i] @ x[i], q12: x[i] @ x[j], q22: x[j] @ x[j]}
        assert slope[i, j] == pytest.approx(float(expression.subs(at)), rel=1e-10)
        at = {key: v / 3 for key, v in at.items()}
        assert tangent[i, j] == pytest.approx(
            kernel[i, j] + 0.25 * (x[i] @ x[j]) * float(expression.subs(at)), rel=1e-10
        )


@pytest.mark.parametrize("name", ["relu", "gelu", "relu(z - 1/3)", "tanh", "elu"])
def test_gradient_against_differences(name):
    rng = np.random.default_rng(5)
    x, y, G = rng.standard_normal((4, 3)), rng.standard_normal((5, 3)), rng.standard_normal((4, 5))
    S, step = rng.standard_normal((4, 4)), 1e-5

    def moved(i, j, amount):
        z = x.copy()
        z[i, j] += amount
        return z

    cross = kernel_gradient(x, y, name, cotangent=G, weight_variance=0.5)
    own = kernel_gradient(x, nonlinearity=name, cotangent=S, weight_variance=0.5)
    jacobian = kernel_gradient(x, y, name, weight_variance=0.5)
    np.testing.assert_allclose(np.einsum("ij,ijk->ik", G, jacobian), cross, rtol=1e-10, atol=1e-12)
    for i, j in ((0, 0), (1, 2), (3, 1)):
        up, down = (kernel_matrix(moved(i, j, a), y, name, weight_variance=0.5) for a in (step, -step))
        assert cross[i, j] == pytest.approx(np.sum(G * (up - down)) / (2 * step), abs=1e-8)
        up, down = (kernel_matrix(moved(i, j, a), nonlinearity=name, weight_variance=0.5) for a in (step, -step))
        assert own[i, j] == pytest.approx(np.sum(S * (up - down)) / (2 * step), abs=1e-8)


def test_gradient_is_finite_at_identical_inputs_and_zero_rows():
    x = data()
    for name in ("relu", "gelu", "relu(z - 1/3)"):
        assert np.isfinite(kernel_gradient(x, nonlinearity=name, cotangent=np.ones((7, 7)))).all()
    with pytest.raises(InputError, match="jumps"):
        kernel_gradient(x, nonlinearity="step")


def test_memory_is_the_result_and_a_bounded_buffer():
    x = np.random.default_rng(0).standard_normal((1500, 4))
    kernel_matrix(x[:10])
    tracemalloc.start()
    found = kernel_matrix(x)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.5 * found.nbytes


def test_example_in_the_documentation():
    result = doctest.testmod(module)
    assert result.attempted > 5
    assert result.failed == 0


def test_support_vectors_of_scikit_learn():
    from sklearn.svm import SVC

    rng = np.random.default_rng(1)
    x, fresh = rng.standard_normal((150, 2)), rng.standard_normal((100, 2))
    label = np.sign(x[:, 0] * x[:, 1])
    model = SVC(kernel="precomputed", C=100).fit(kernel_matrix(x, nonlinearity="relu(z)**2 + z"), label)
    assert np.mean(model.predict(kernel_matrix(fresh, x, "relu(z)**2 + z")) == np.sign(fresh[:, 0] * fresh[:, 1])) > 0.9


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: kernel_matrix([[1.0, np.nan]]), "row 0"),
        (lambda: kernel_matrix([[1.0], [np.inf]]), "row 1"),
        (lambda: kernel_matrix([1.0, 2.0]), "1 dimensions"),
        (lambda: kernel_matrix([["a"]]), "real numbers"),
        (lambda: kernel_matrix([[1.0, 2.0]], [[1.0]]), "same dimension"),
        (lambda: kernel_matrix([[1.0]], kind="ntk"), "kind: .* is not known"),
        (lambda: kernel_matrix([[1.0]], weight_variance=0), "positive"),
        (lambda: kernel_gradient([[1.0]], cotangent=[[1.0, 2.0]]), "shape"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(InputError, match=message):
        call()


@pytest.mark.parametrize("length", [0.5, 3.0])
def test_the_diagonal_of_a_series_kernel_is_a_variance(length):
    """One row alone, or beside an orthogonal one: the series is cut for small correlations, the diagonal is not."""
    x = np.array([[length, 0.0], [0.0, 0.3]])
    alone, beside = kernel_matrix(x[:1], nonlinearity="tanh"), kernel_matrix(x, nonlinearity="tanh")
    cross = kernel_matrix(x[:1], x, "tanh")
    np.testing.assert_allclose([alone[0, 0], beside[0, 0]], cross[0, 0], rtol=1e-12)


def test_beyond_float32_is_refused_without_a_warning():
    x = np.full((2, 4), 2000.0, dtype=np.float32)
    with pytest.raises(InputError, match="beyond the largest float"):
        kernel_matrix(x, nonlinearity="He(8, z)/200")
    assert np.isfinite(kernel_matrix(x.astype(float), nonlinearity="He(8, z)/200")).all()


@pytest.mark.parametrize("name", ["elu", "celu", "selu", "exp(z) - 1"])
@pytest.mark.parametrize("scale", [1e-5, 1e-8])
def test_functions_that_cancel_at_zero_on_tiny_rows(name, scale):
    """e^z - 1 at 1e-8 has no digit left if it is formed by subtraction: refused, or off by a few promises, before."""
    x = np.array([[scale, 0.0], [0.5 * scale, 0.5 * scale]])
    found = kernel_matrix(x, nonlinearity=name)
    q = [sp.Rational(*float(v).as_integer_ratio()) for v in (x[0] @ x[0], x[0] @ x[1], x[1] @ x[1])]
    truth = float(value(nonlinearity(name), *q, 14))
    assert found[0, 1] == pytest.approx(truth, rel=2e-12, abs=0)


@pytest.mark.parametrize("name", ["atan(z - 1/3)", "1/(1 + (z - 1/3)**2)"])
def test_places_of_a_polynomial_that_is_not_expanded(name):
    """1 + (z - 1/3)^2 has no addend in z or z^2: its vertex was 0/0."""
    part = plane.resolved(nonlinearity(name).derivative(), 0.5, 2.0)
    x, w = plane.line_nodes(((part, 2.0),))
    right = float(value(nonlinearity(name).derivative(), *[sp.Integer(4)] * 3, 13))
    assert w @ part.values(2 * x) ** 2 == pytest.approx(right, rel=1e-12)
