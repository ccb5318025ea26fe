"""Second routes by the engine of equivalents: what other modules have in closed form, typed, to 10 digits."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

from bulkedge.numerics.functions.functions import constants
from bulkedge.numerics.risk.conditional import gauss_nodes, local_moments
from bulkedge.numerics.risk.pair import pair
from bulkedge.numerics.risk.ridge import Constants, ridge_risk
from bulkedge.numerics.risk.ridge_problem import RidgeProblem
from bulkedge.numerics.risk.spiked_random_features import spiked_features_risk
from bulkedge.numerics.spectra import marchenko_pastur, silverstein
from bulkedge.numerics.steps.spiked_features import loss_drops, traces
from bulkedge.theory.equivalents.equivalent import Equivalent, declare, read, values_of
from bulkedge.theory.equivalents.equivalent_spectrum import EquivalentSpectrum, density, spectrum
from bulkedge.theory.functions.nonlinearity import nonlinearity
from bulkedge.theory.spectra import silverstein as exact_silverstein
from bulkedge.theory.spectra.spike import RECTANGULAR
from bulkedge.theory.steps.gradient import direction_energy, rest_variance

FEATURES = ["X: n x d, 1", "W0: d x N, 1/d", "Z: n x N, 1"]
STEP = [*FEATURES, "Xs: n1 x d, 1", "a: N x 1, 1/N", "beta: d x 1, 1/d", "e1: n1 x 1, v", "e: n x 1, v"]
FIT = (
    "let u = Xs.T*(ms*Xs*beta + e1)/n1; let W = W0 + eta*mu1*u*a.T; let F = mu1*X*W + mu2*Z;"
    "let ah = inv(F.T*F/n + lam)*F.T*(ms*X*beta + e)/n;"
)
TEST = FIT + "let r = ms*beta - mu1*W*ah; r.T*r + mu2**2*ah.T*ah"
TRAIN = FIT + "let t = ms*X*beta + e - F*ah; t.T*t/n"


def value(e: Equivalent, **at: object) -> float:
    return float(e.enclose(values_of(at, e.symbols), 16).value)


def spectral(expression: str, digits: int = 16, **declared: object) -> EquivalentSpectrum:
    e = read(expression, declare(**declared, real="z"))  # type: ignore[arg-type]
    return spectrum(e, e.symbols[0], digits)


# -- R1, R2 -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("ratio", "scale"), [("1/3", "2"), ("5/2", "1/3")])
def test_marchenko_pastur(ratio: str, scale: str) -> None:
    """R1: edges, atom and density."""
    c, s2 = float(sp.Rational(ratio)), float(sp.Rational(scale))
    found = spectral("tr(inv(z - X.T*X))", gaussian=f"X: n x p, ({scale})/n", size=f"n=1,p={ratio}")
    law = marchenko_pastur.MarchenkoPastur(c, s2)
    assert np.allclose([float(e) for e in found.edges], law.edges, rtol=1e-13)
    assert [(float(p), float(w)) for p, w in found.atoms] == ([(0.0, pytest.approx(1 - 1 / c))] if c > 1 else [])
    e = read("tr(inv(z - X.T*X))", declare(f"X: n x p, ({scale})/n", size=f"n=1,p={ratio}", real="z"))
    points = [sp.Rational(1, 7) * k for k in range(1, 12, 3)]
    pairs = density(e, e.symbols[0], [Fraction(p.p, p.q) for p in points])
    assert np.allclose([p[0] for p in pairs], [law.pdf(float(p)) for p in points], rtol=1e-11, atol=1e-300)


def test_gap_of_a_general_population() -> None:
    """R2: four edges, levels 1 and 9, ratio 1/10; and an atom where samples are few."""
    found = spectral(
        "tr(inv(z - R*X.T*X*R))", gaussian="X: n x p, 1/n", size="n=10,p=1", deterministic="R: p, atoms 1:1/2 3:1/2"
    )
    law = exact_silverstein.Population((sp.Integer(1), sp.Integer(9)), (sp.Rational(1, 2), sp.Rational(1, 2)))
    ends = [e for pair in exact_silverstein.enclose_edges(law, sp.Rational(1, 10), 16) for e in pair]
    assert np.allclose([float(e) for e in found.edges], [float(e) for e in ends], rtol=1e-13)
    few = spectral(
        "tr(inv(z - R*X.T*X*R))", gaussian="X: n x p, 1/n", size="n=1,p=4", deterministic="R: p, atoms 0:1/8 3:7/8"
    )
    assert [(float(p), float(w)) for p, w in few.atoms] == [(0.0, 0.75)]


def test_bulk_of_the_conjugate_kernel() -> None:
    """R2: (1/n) F^T F, F = mu1 X W0 + mu2 Z, against Silverstein's equation for an affine Marchenko-Pastur law."""
    found = spectral("tr(inv(z - F.T*F/n))".replace("F", "(3/5*X*W0 + 1/2*Z)"), gaussian=FEATURES, size="n=2,d=1,N=3/2")
    law = silverstein.conjugate_kernel(1.5, 0.75, 0.6, 0.5)
    assert np.allclose([float(e) for e in found.edges], np.ravel(law.edges), rtol=1e-9)
    e = read(
        "let F = mu1*X*W0 + mu2*Z; tr(inv(F.T*F/n + lam))",
        declare(FEATURES, size="n=2,d=1,N=3/2", positive="mu1,mu2,lam"),
    )
    at = value(e, mu1="3/5", mu2="1/2", lam="1/20")
    assert abs(at - float(law.stieltjes(-0.05).real)) < 1e-10 * at


# -- O2 ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("psi", "theta"), [("2", "3/2"), ("1/2", "1"), ("2", "11/10")])
def test_outlier_and_overlaps(psi: str, theta: str) -> None:
    """O2: position and both overlaps, and none within the threshold."""
    at = dict(zip(sp.symbols("psi theta", positive=True), (sp.Rational(psi), sp.Rational(theta)), strict=True))
    declared = ["W: d x N, 1/d", "u: d x 1, 1/d", "v: N x 1, 1/N"]
    for name, form in (("d", "u.T*inv(z - A*A.T)*u"), ("N", "v.T*inv(z - A.T*A)*v")):
        found = spectral(f"let A = W + {theta}*u*v.T; {form}", gaussian=declared, size=f"N={psi},d=1")
        above = bool(RECTANGULAR.above.subs(at))
        assert len(found.outliers) == above
        for outlier in found.outliers:
            assert outlier.residue is not None
            assert abs(float(outlier.position) - float(RECTANGULAR.outlier.subs(at) ** 2)) < 1e-13
            assert abs(float(outlier.residue) - float(RECTANGULAR.overlap(name).subs(at))) < 1e-13


# -- O3, C1, M2 -------------------------------------------------------------------------------------------------------

SETTINGS = [
    {"psi1": 3.0, "psi2": 2.0, "lam": 0.1, "eta": 1.0, "alpha": 1.0, "noise": 0.0},
    {"psi1": 0.5, "psi2": 1.5, "lam": 0.01, "eta": 3.0, "alpha": 2.5, "noise": 0.5},
    {"psi1": 2.0, "psi2": 0.5, "lam": 2.0, "eta": 0.0, "alpha": 1.0, "noise": 0.25},
]


def step(expression: str, setting: dict[str, float], mu1: float, mu2: float, ms: float, rest: float) -> float:
    sizes = f"n={setting['psi1']},N={setting['psi2']},d=1,n1={setting['alpha']}"
    eta = "eta" if setting["eta"] else "0"
    at = {"mu1": mu1, "mu2": mu2, "ms": ms, "lam": setting["lam"], "v": rest}
    if eta == "0":
        expression = expression.replace("W0 + eta*mu1*u*a.T", "W0")
    else:
        at["eta"] = setting["eta"]
    e = read(expression, declare(STEP, size=sizes, positive=",".join(at)))
    return value(e, **at)


@pytest.mark.parametrize("setting", SETTINGS)
def test_ridge_risk_after_a_step(setting: dict[str, float]) -> None:
    """O3: test and training risk, with noise, at three corners of the ratios."""
    mu1, mu2, ms, mu2s = 0.6, 0.35, 0.8, 0.3
    rest = mu2s**2 + setting["noise"] ** 2
    found = ridge_risk(Constants(mu1, mu2, 0.0, ms, mu2s), RidgeProblem(**setting))
    assert abs(step(TEST, setting, mu1, mu2, ms, rest) + mu2s**2 - float(found.test)) < 1e-11
    assert abs(step(TRAIN, setting, mu1, mu2, ms, rest) - float(found.train)) < 1e-11


def test_maximal_step() -> None:
    """C1 at its maximal step, p/d = .8: features, labels and test set given k = v.x, in the conditional form.

    Given k an entry is m(k) + c mu1(k) (w.x + k w.v) + mu2(k) z, a label h(k) + h1(k) b.x + e: diagonal matrices over
    the samples, their law the Gauss nodes in k of both sides.
    """
    tanh, width, penalty, step_size, count = pair(nonlinearity("tanh"), nonlinearity("tanh")), 0.8, 0.7, 1.0, 10
    closed = spiked_features_risk(tanh, 2.0, 1.5, width, penalty, step_size, count=count)
    norm = math.sqrt(direction_energy(tanh.link_slope, tanh.link_second, 1.5))
    spread = math.sqrt(1 + step_size**2 * rest_variance(tanh.link_second, tanh.slope_variance, 1.5))
    gamma = tanh.link_slope / norm
    rho = math.sqrt(1 - gamma**2)
    nodes, weights = gauss_nodes(1, count)
    k = nodes[:, 0]
    m = local_moments(tanh.activation, tanh.kinks, step_size * tanh.mu1 * norm * k, np.full(count, spread))
    y = local_moments(tanh.link, tanh.link_kinks, gamma * k, np.full(count, rho))
    rest = np.sqrt(m.second - m.mean**2 - (spread * m.slope) ** 2)
    own = np.sqrt(np.maximum(y.second - y.mean**2 - (rho * y.slope) ** 2, 0))
    exact = [Fraction(f"{x:.14g}") for x in weights]
    exact[0] += 1 - sum(exact)
    atoms = " ".join(
        ",".join(f"{x:.14g}" for x in row) + f":{weight}"
        for row, weight in zip(np.transpose([m.mean, m.slope, rest, y.mean, rho * y.slope, own, k]), exact, strict=True)
    )
    laws = [f"M{s} C{s} D{s} H{s} L{s} E{s} K{s}: {s or 'n'}, atoms {atoms}" for s in ("", "t")]
    text = (
        "let F = M*ones(n, N) + c*C*(X*W + K*ones(n, 1)*w.T) + D*Z; let y = H*ones(n, 1) + L*X*b + E*e;"
        "let a = inv(F.T*F/N + lam)*F.T*y/N;"
        "let G = Mt*ones(t, N) + c*Ct*(Xt*W + Kt*ones(t, 1)*w.T) + Dt*Zt;"
        "let r = Ht*ones(t, 1) + Lt*Xt*b + Et*et - G*a; r.T*r/t"
    )
    declared = ["X: n x d, 1", "W: d x N, 1/d", "Z: n x N, 1", "b: d x 1, 1/d", "e: n x 1, 1", "w: N x 1, 1/d"]
    declared += ["Xt: t x d, 1", "Zt: t x N, 1", "et: t x 1, 1"]
    model = declare(declared, size=f"n=2,d=1,N={width},t=1/2", deterministic=laws, positive="c,lam")
    assert value(read(text, model), c=spread, lam=penalty) == pytest.approx(closed.test, rel=1e-11)


@pytest.mark.parametrize(("psi1", "psi2", "lam", "alpha"), [(3.0, 2.0, 0.1, 1.5), (0.5, 0.7, 0.02, 3.0)])
def test_drop_of_the_training_loss(psi1: float, psi2: float, lam: float, alpha: float) -> None:
    """M2: what one and two spikes take off the training loss, the spikes of strength 1e10 in the engine."""
    activation, link, noise = nonlinearity("tanh(z) + He(2, z)/3"), nonlinearity("z + He(2, z)/2"), 0.5
    expected = loss_drops(activation, link, psi1, psi2, lam, alpha, noise, (1, 2))["full"]
    p, f = pair(activation, link), constants(activation)
    second = p.link_second + noise**2
    b2 = direction_energy(p.link_slope, second, alpha)
    v = rest_variance(second, p.slope_variance, alpha)
    # Along s = x.u/|u|: the second direction is g He_2(s)/sqrt 2 + o 1, the label's part c He_2(s)/sqrt 2.
    g, o = math.sqrt(2) * p.mu1**2 * b2, p.mu1**2 * b2 + v
    known = {"m1": f.mu1, "m2": f.mu2, "lam": lam, "ms": p.link_slope, "c": p.link_slope**2 / b2 / math.sqrt(2)}
    known |= {"w": math.sqrt(second - p.link_slope**2), "s": 1e10, "g": g, "o": o}
    declared = ["X: n x d, 1", "W: d x N, 1/d", "Z: n x N, 1", "Xs: k x d, 1", "a: N x 1, 1/N", "a2: N x 1, 1/N"]
    declared += ["b: d x 1, 1/d", "e1: k x 1, 1", "h: n x 1, 1", "e: n x 1, 1"]
    text = (
        "let u = Xs.T*(ms*Xs*b + w*e1)/k; let y = ms*X*b + c*h + e; let F = m1*X*W + m2*Z{};"
        "lam*y.T*inv(F*F.T + lam*n)*y"
    )
    losses = []
    for spikes in ("", " + s*X*u*a.T", " + s*X*u*a.T + s*(g*h + o*ones(n, 1))*a2.T"):
        used = {k: x for k, x in known.items() if k not in "wsgo" or (spikes and (k in "ws" or "g*h" in spikes))}
        typed = text.format(spikes) if spikes else text.format("").partition("; ")[2]
        e = read(typed, declare(declared, size=f"n={psi1},N={psi2},d=1,k={alpha}", positive=",".join(used)))
        losses.append(value(e, **used))
    assert np.allclose([losses[0] - losses[1], losses[0] - losses[2]], expected, rtol=1e-12)


def test_random_features_of_the_maximal_step() -> None:
    """C1 at step 0."""
    tanh = pair(nonlinearity("tanh"), nonlinearity("tanh"))
    mu2 = math.sqrt(tanh.link_second - tanh.mu1**2)  # the link is the activation
    mu2s = math.sqrt(tanh.link_second - tanh.link_slope**2)
    ridge = 0.3  # O's; P5's is ridge n/p
    flat = spiked_features_risk(tanh, 2.0, 1.5, 0.8, ridge * 2.0 / 0.8, 0.0)
    setting = {"psi1": 2.0, "psi2": 0.8, "lam": ridge, "eta": 0.0, "alpha": 1.5}
    found = step(TEST, setting, tanh.mu1, mu2, tanh.link_slope, mu2s**2) + mu2s**2
    assert abs(found - flat.test) < 1e-10


@pytest.mark.parametrize(("psi1", "psi2", "lam"), [(3.0, 2.0, 0.1), (0.5, 0.7, 0.02)])
def test_traces_of_the_loss_drop(psi1: float, psi2: float, lam: float) -> None:
    """M2: M_1 = tr R_0 and M_2 = (1/d) tr X^T R_0 X, R_0 = (F F^T + lam n)^-1, F = sigma(X W0)/sqrt N there."""
    expected = traces(psi1, psi2, lam, 0.6, 0.35)
    model = declare(FEATURES, size=f"n={psi1},d=1,N={psi2}", positive="lam,mu1,mu2")
    at = {"lam": lam, "mu1": 0.6, "mu2": 0.35}
    first = value(read("let F = mu1*X*W0 + mu2*Z; tr(inv(F*F.T/N + lam*n/N))*n/N", model), **at)
    second = value(read("let F = mu1*X*W0 + mu2*Z; tr(X.T*inv(F*F.T/N + lam*n/N)*X)/N", model), **at)
    assert np.allclose([first, second], expected, rtol=1e-10)


# -- E8 ---------------------------------------------------------------------------------------------------------------


def test_outlier_of_the_conjugate_kernel_after_a_step() -> None:
    """E8, without and with the engine: l (1 + c E t/(l - t)), and the labels' overlap without that factor in it.

    d = N = n1, n = 2 d, mu1 = 3/5, mu2 = 1/2, step e = 3, labels X beta + noise 1/2.
    """
    mu1, mu2, e, c, second = 0.6, 0.5, 3.0, 0.5, 1.25
    theta2 = e**2 * (1 + second)
    l = mu1**2 * (1 + theta2) ** 2 / theta2 + mu2**2
    bulk = silverstein.AffinePopulation(1.0, mu1**2, mu2**2)
    step_size = 1e-5
    pull = [float(bulk.pull(np.asarray(x + 0j)).real) for x in (l, l - step_size, l + step_size)]
    # E t/(l - t) = pull; E t^2/(l - t)^2 = -d(l E t/(l - t))/dl.
    square = -((l + step_size) * pull[2] - (l - step_size) * pull[1]) / (2 * step_size)
    above = 1 - (1 + theta2) / (theta2 * (theta2 + 1))
    aligned = 1 / (1 + second) * above * mu1**2 * (1 + theta2) ** 2 / theta2 / l * (1 - c * square)
    found = spectral(
        "let u = Xs.T*(Xs*beta + e1)/n1; let F = 3/5*X*(W0 + 3*u*a.T) + 1/2*Z; let y = X*beta + e;"
        "y.T*inv(z - F*F.T/n)*y/n",
        gaussian=[g.replace(", v", ", 1/4") for g in STEP],
        size="n=2,N=1,d=1,n1=1",
    )
    (outlier,) = found.outliers
    assert outlier.residue is not None
    assert abs(float(outlier.position) - l * (1 + c * pull[0])) < 1e-10
    assert abs(float(outlier.residue) - aligned) < 1e-8  # the derivative is a difference
