"""The cases of benchmarks/ordinary_data.py that have parameters instead of data: risks, steps, spheres, spectra, units.

Each draws its parameters, calls the public function, and compares every number with benchmarks/ordinary_routes.py.
"""

from __future__ import annotations

import math
import random
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import sympy as sp

import bulkedge
from benchmarks import ordinary_routes as routes
from bulkedge.numerics.functions.functions import constants, vectorised
from bulkedge.numerics.risk.mei_montanari import mei_montanari_risk
from bulkedge.numerics.risk.pair import case as means_case
from bulkedge.numerics.risk.ridge import Constants, kernel_risk
from bulkedge.numerics.risk.ridge_error import ridge_risk_with_error
from bulkedge.numerics.risk.ridge_problem import RidgeProblem
from bulkedge.theory.functions.nonlinearity import Nonlinearity, nonlinearity
from bulkedge.theory.gaussian.hermite import coefficient

OWN = 1e-11  # what a route of plain quadrature is itself good for, of the size of what it averages


class Models:
    """Kinds of cases; `see`, `finite_only` and `random_function` are the case's own (ordinary_data.Case)."""

    rng: random.Random
    numbers: np.random.Generator
    on: str

    def see(self, what: str, found: float, truth: Any, tolerance: float, where: str = "") -> None:
        """Compare a number."""
        raise NotImplementedError

    def finite_only(self, what: str, value: float) -> None:
        """Count a number that has no second route, and look that it is one."""
        raise NotImplementedError

    def fault(self, what: str) -> None:
        """Keep a fault."""
        raise NotImplementedError

    def second_function(self) -> str:
        """A link beside the case's function."""
        raise NotImplementedError

    def number(self, what: str, found: Any, right: float, own: float, where: str = "") -> None:
        """Compare a Number within its stated error, the route's own error and the rounding of a double."""
        self.see(what, float(found), right, float(found.error) + own + 4e-16 * abs(right), where)

    def _log(self, low: float, high: float) -> float:
        return float(f"{math.exp(self.rng.uniform(math.log(low), math.log(high))):.6g}")

    # Risks.

    def ridge(self) -> None:
        """numerics.risk.ridge and its error bounds, its kernel limit, and the second route at step 0."""
        wide = self.rng.random() < 0.3
        span = (1e-2, 1e2) if wide else (0.2, 5.0)
        p1, p2, alpha = (self._log(*span) for _ in range(3))
        lam = self._log(1e-6, 1e2) if wide else self._log(1e-3, 1.0)
        eta, noise = self.rng.choice((0.0, 0.5, 2.0, 30.0)), self.rng.choice((0.0, 0.0, 0.1, 1.0))
        m1, m2, b0, b1, b2 = (self._log(1e-2, 2.0) for _ in range(5))
        m2, b0, b2 = m2 * self.rng.choice((1, 1, 0)), b0 * self.rng.choice((1, 0)), b2 * self.rng.choice((1, 1, 0))
        fits = self.rng.random() < 0.7
        self.on = f"{p1} {p2} {lam} step {eta} batch {alpha} noise {noise}: {m1} {m2} {b0} {b1} {b2} {fits}"
        c = Constants(m1, m2, b0, b1, b2, fits)
        value, errors = ridge_risk_with_error(c, RidgeProblem(p1, p2, lam, np.array([eta]), alpha, noise), 0.0, 0.0)
        own = routes.RiskConstants(m1, m2, b0, b1, b2, fits)
        right = routes.ridge_risk(own, p1, p2, lam, eta, alpha, noise)
        self.see("ridge_risk", float(value.test[0]), right.test, float(errors["test"][0]), "test")
        self.see("ridge_risk", float(value.train[0]), right.train, float(errors["train"][0]), "train")
        self.see("ridge_risk", float(value.kappa[0]), right.kappa, float(errors["kappa"][0]), "kappa")
        parts = float(value.floor[0] + value.bias[0] + value.variance[0])
        self.see("ridge_risk", parts, right.test, sum(float(errors[k][0]) for k in ("test", "bias", "variance")), "sum")
        delta = self._log(1e-3, 1.0)
        far = routes.ridge_risk(own, p1, 1e25, delta * 1e25, 0.0, alpha, noise, 90)
        size = right.spread + far.test
        self.see("kernel_risk", float(kernel_risk(c, p1, delta, noise)), far.test, 1e-12 * size * (1 + 1 / delta))
        if m2 and not wide and lam > 1e-2 and (fits or not b0):
            found = mei_montanari_risk(p2, p1, lam / p2, m1, m2, b1, b2, noise)
            self.see("mei_montanari", found, routes.mei_montanari(own, p1, p2, lam, noise), 1e-6 * (1 + found))

    def _constants(self, f: Nonlinearity, g: Nonlinearity) -> routes.RiskConstants:
        """O3's constants from certified coefficients and plain quadrature of the squares."""

        def first(h: Nonlinearity) -> tuple[float, float, float]:
            c0, c1 = (float(coefficient(h, k).enclosure.value) for k in (0, 1))
            x, w = routes.panels(h)
            rest = vectorised(h)(x) - c0 - c1 * x
            return c0, c1, math.sqrt(max(float(w @ rest**2), 0.0))

        _, m1, m2 = first(f)
        return routes.RiskConstants(m1, m2, *first(g), means_case(f, g).name != "unfitted")

    def risk(self, f: Nonlinearity) -> None:
        """`risk` in the limit: every number of the table; its finite size at more nodes."""
        link = self.second_function()
        g = nonlinearity(link)
        p1, p2 = self._log(0.2, 5), self._log(0.2, 5)
        lam, noise = self._log(1e-3, 1), self.rng.choice((0, 0, 0.1))
        eta, batch = self.rng.choice((0, 0.5, 1, 4)), self._log(0.5, 4)
        self.on = f" {link}: samples {p1} width {p2} ridge {lam} step {eta} batch {batch} noise {noise}"
        given: dict[str, Any] = {"samples": p1, "width": p2, "ridge": lam, "step": eta, "batch": batch, "noise": noise}
        found = bulkedge.risk(f, g, **given)
        c = self._constants(f, g)
        size = 1 + c.mu0_star**2 + c.mu1_star**2 + c.mu2_star**2 + noise**2
        self.number("risk floor", found.linear_floor, c.mu2_star**2, OWN * size)
        self.number("risk floor", found.floor, c.mu2_star**2 + (0 if c.fits_mean else c.mu0_star**2), OWN * size)
        if means_case(f, g).name == "norms":
            for x in (found.test, found.train, found.random_features):
                self.finite_only("risk (norms)", float(x))
        else:
            right, start = (routes.ridge_risk(c, p1, p2, lam, s, batch, noise) for s in (eta, 0))
            # The route's constants are good to some 1e-13; the ridge and the ratios decide what that moves.
            own = 1e-11 * (right.test + start.test + size) * (1 + 1e-3 / lam)
            self.number("risk", found.test, right.test, own, "test")
            self.number("risk", found.train, right.train, own, "train")
            self.number("risk", found.random_features, start.test, own, "step 0")
            self.number("risk", found.gain, start.test - right.test, own, "gain")
        near = found.finite_size
        if near is not None and self.rng.random() < 0.3:
            from bulkedge.numerics.risk.conditional_limit import one_step_risk
            from bulkedge.numerics.risk.pair import pair

            problem = RidgeProblem(p1, p2, lam, eta, batch, noise)
            fine = one_step_risk(pair(f, g), problem, round(1000 * p2), count=72)
            self.number("risk d = 1000, more nodes", near.test, fine.test - noise**2, 1e-9 * fine.test)
            self.number("risk d = 1000, more nodes", near.train, fine.train, 1e-9 * fine.train)
        elif near is not None:
            for x in (near.test, near.train, near.random_features):
                self.finite_only("risk d = 1000", float(x))

    def floor(self, f: Nonlinearity) -> None:
        """`floor`: tau at its kappa, and that no other kappa is below the certified bound."""
        link = self.second_function()
        g = nonlinearity(link)
        self.on = f" {link}"
        found = bulkedge.floor(f, g)
        c = self._constants(f, g)
        second = c.mu0_star**2 + c.mu1_star**2 + c.mu2_star**2
        self.number("linear floor", found.linear_floor, c.mu2_star**2, OWN * (1 + second))
        kappa = found.found.kappa
        if math.isfinite(kappa) and abs(kappa) < 30:
            self.number("floor tau", found.tau, routes.criterion(f, g, kappa), OWN * (1 + second), f"at {kappa}")
        else:
            x, w = routes.panels(g)
            ends = vectorised(f)(np.array([-1e9, 1e9]) * (1 if kappa > 0 else -1))
            right = float(w @ (vectorised(g)(x) - np.where(x > 0, ends[1], ends[0])) ** 2)
            # What decays like 1/y is still 1e-9 away.
            self.number("floor tau", found.tau, right, 1e-8 * (1 + second), f"at {kappa}")
        if found.certified:
            for other in (0.0, self.rng.uniform(-3, 3), kappa * 1.01 if abs(kappa) < 10 else 1.0):
                above = routes.criterion(f, g, other)
                low = float(found.tau_lower)
                self.see("floor lower bound", min(low, above), low, OWN * (1 + second), f"kappa {other}: {above}")

    # Steps.

    def align(self, g: Nonlinearity) -> None:
        """`align` in both readings, both batches."""
        k, reused = self.rng.randrange(3), self.rng.random() < 0.5
        noise, alpha = self.rng.choice((0, 0.25, 1)), self.rng.choice((0.5, 1, 2, 4.5))
        smooth = ("tanh(z) + He(2, z)/3", "z + He(2, z)/2 + He(3, z)/6", "gelu", "softplus", "sin(z) + cos(z)/2")
        text = self.rng.choice((None, None, *smooth))
        sigma = None if text is None else nonlinearity(text)
        batch = "reused" if reused else "fresh"
        self.on = f" power {k} alpha {alpha} {batch} noise {noise} activation {text}"
        found = bulkedge.align(g, power=k, alpha=alpha, batch=batch, noise=noise, activation=text)
        signal, norm2 = routes.alignment(g, alpha, noise, k, reused, sigma)
        second = constants(g).second_moment + noise**2
        size = math.sqrt(norm2) + second
        self.number("align signal", found.signal, signal, 1e-10 * size)
        self.number("align norm2", found.norm2, norm2, 1e-10 * size**2)
        if norm2 > 1e-6 * second:
            self.number("align cosine", found.cosine, signal / math.sqrt(norm2), 1e-9 * (1 + second / norm2))

    def gamma(self, f: Nonlinearity) -> None:
        """`gamma`: the readings `printed` and `rank_one` in full, A of `full`, and the conditional spike."""
        link = self.second_function()
        g = nonlinearity(link)
        n, m, d = (self.rng.choice((50, 100, 300, 1000)) for _ in range(3))
        eta, noise = self.rng.choice((1, 10, 30)), self.rng.choice((0, 0.5))
        self.on = f" {link}: n {n} m {m} d {d} step {eta} noise {noise}"
        found = bulkedge.gamma(f, g, n=n, m=m, d=d, step=eta, noise=noise)
        x, w = routes.panels(g)
        y = vectorised(g)(x)
        y2, mean, slope = float(w @ y**2) + noise**2, float(w @ y), float(w @ (x * y))
        bend = float(w @ (y**2 * (x**2 - 1)))
        z, v = routes.panels(f)
        s, ds = vectorised(f)(z), vectorised(f.derivative())(z)
        c1, ds2 = float(v @ ds), float(v @ ds**2)
        curvature, cross = float(v @ (s * (z * z - 1))), float(v @ (s * ds * z))
        al, be = n / d, m / d
        A = eta**2 / d**2 / (al * be**2) * y2
        B = eta**2 / d / (al * be**2)
        inner = al - 1 / d
        right = {
            "printed": (1 + A * slope**2, B * slope**2 * (slope**2 * inner + bend / d)),
            "rank_one": (1 + A * c1**2, B * c1**2 * (slope**2 * inner + bend / d)),
        }
        own = 1e-10 * (1 + A * (1 + ds2) + B * (1 + y2) ** 2 * (1 + ds2) ** 2 * (1 + al))
        for name, (a, b) in right.items():
            reading = getattr(found, name)
            self.number("gamma", reading.A, a, own, f"{name} A")
            self.number("gamma", reading.B, b, own, f"{name} B")
        full = 1 + A * ds2 - 2 * eta / m**2 * cross + eta**2 / (be**2 * d**2) * (mean * curvature) ** 2
        self.number("gamma", found.full.A, full, own + 1e-10 * abs(cross), "full A")
        m3, m5 = (float(v @ (s * p)) for p in (z**3 - 3 * z, z**5 - 10 * z**3 + 15 * z))
        g2, g3 = (float(w @ (y * p)) for p in (x**2 - 1, x**3 - 3 * x))
        terms = [-((c1 * slope) ** 2) / al, bend * ds2 / al, ((g2 + mean) * curvature) ** 2, -((mean * curvature) ** 2)]
        terms += [slope * c1 * m3 * (g3 + 2 * slope), slope**2 * (m3**2 + c1 * m5) / 2]
        full = eta**2 / (be**2 * d) * ((c1 * slope) ** 2 + sum(terms) / d)
        self.number("gamma", found.full.B, full, own + 1e-10 * eta**2 / (be * d) ** 2 * sum(map(abs, terms)), "full B")
        u2 = slope**2 + y2 / al
        self.number("gamma", found.conditional.strength, eta**2 / d * c1**2 / be**2 * u2, own, "strength")
        if u2 > 1e-6:
            self.number("gamma", found.conditional.cosine2, slope**2 / u2, 1e-10 * (1 + 1 / u2), "cosine2")
        self.number("gamma", found.conditional.bulk, 1 + A * (ds2 - c1**2), own, "bulk")

    def features(self, f: Nonlinearity) -> None:
        """`features`: |u|, v and the left directions up to the second, the first drops of the loss."""
        link = self.rng.choice(("tanh(z)", "z + He(2, z)/2", "sin(z) + He(3, z)/6", "erf(z) + He(2, z)/3"))
        g = nonlinearity(link)
        exponent = self.rng.choice(("0", "1/10", "3/10", "7/20"))
        p1, p2, lam, alpha = self._log(0.3, 3), self._log(0.3, 3), self._log(1e-2, 1), self._log(0.5, 3)
        self.on = f" {link}: exponent {exponent} {p1} {p2} {lam} batch {alpha}"
        found = bulkedge.features(f, g, exponent=exponent, batch=alpha, samples=p1, width=p2, ridge=lam)
        x, w = routes.panels(g)
        y = vectorised(g)(x)
        second, slope = float(w @ y**2), float(w @ (x * y))
        bend = float(w @ (y * (x * x - 1))) / 2
        z, s = routes.panels(f)
        ds, values = vectorised(f.derivative())(z), vectorised(f)(z)
        m1, c2 = float(s @ ds), float(s @ (values * (z * z - 1))) / 2
        v = second * (float(s @ ds**2) - m1**2) / alpha
        b = math.sqrt(slope**2 + second / alpha)
        own = 1e-11 * (1 + second + v + m1**2 + abs(c2)) ** 2
        self.number("features", found.norm, b, own, "norm")
        self.number("features", found.variance, v, own, "variance")
        error = float(found.found.error) * (1 + abs(c2)) * (1 + m1**2 + v)
        for direction in found.found.directions[:2]:
            c, k = (m1, 1) if direction.index == 1 else (c2, 2)
            self.see("features", direction.rank_one[k], c * m1**k, own + error, f"rank_one {k}")
            self.see("features", direction.full[k], c * m1**k, own + error, f"full {k}")
            if k == 2:
                self.see("features", direction.full[0], c * v, own + error, "full 2, constant")
        drops = dict(found.drops)
        if not drops or not drops["full"] or m1 == 0 or abs(m1) < 1e-9:
            return
        c = self._constants(f, g)
        k = routes.ridge_risk(c, p1, p2, lam, 0, alpha, 0).kappa
        # M2 = A/kappa, A = zz times O3's s: from the resolvent of its quadratic.
        zz = (c.mu2**2 + k) / m1**2
        q = zz + 1 - p2
        A = zz * p2 * 2 / (q + math.sqrt(q * q + 4 * p2 * zz)) + 1 - p2
        rho = slope / b
        first = lam * (slope * rho) ** 2 * A / k
        size = OWN * (1 + second) / (k * min(m1**2, 1.0)) * (1 + 1 / lam)
        present = [d.index for d in found.found.directions if d.present]
        self.see("features drop", drops["full"][0], first, size, "first")
        if present[:2] == [1, 2]:
            r = 1 + v / (m1 * b) ** 2
            centred = abs(constants(f).mu0) < 1e-13
            gain = lam * rho**4 * bend**2 / k * (4 / (2 + r * r) if centred else 2)
            self.see("features drop", drops["full"][1] - drops["full"][0], gain, size, "second")

    def outliers(self) -> None:
        """`outliers`: T1's count."""
        a1, a2 = (Fraction(self.rng.randrange(0, 50), 100) for _ in range(2))
        degree = self.rng.choice((None, 2, 3, 5, 9))
        self.on = f"{a1} {a2} degree {degree}"
        found = bulkedge.outliers(str(a1), str(a2), degree="inf" if degree is None else degree)
        right = routes.spikes_of_two_steps(a1, a2, degree)
        self.see("outliers", found.Lambda, right, 0, "Lambda")
        self.see("outliers", found.total, right + 1, 0, "total")

    def convert(self) -> None:
        """`convert`: steps and ridges between the papers' units."""
        N, n, d = (self.rng.randrange(2, 5000) for _ in range(3))
        amount = self.rng.choice((0.5, 3, 1e-6, 1e8, 0.1))
        source, target = (self.rng.choice(tuple(routes.STEPS)) for _ in range(2))
        self.on = f"{source} {target} {amount} width {N} n {n} d {d}"
        sizes = {"width": N, "n": n, "d": d}
        found = bulkedge.convert(source, target, step=amount, **sizes)
        right = amount * routes.STEPS[source](N) / routes.STEPS[target](N)
        self.number("convert step", found.step, right, 1e-14 * right)
        source, target = (self.rng.choice(tuple(routes.RIDGES)) for _ in range(2))
        found = bulkedge.convert(source, target, ridge=amount, **sizes)
        right = amount * routes.RIDGES[source](N, n, d) / routes.RIDGES[target](N, n, d)
        self.number("convert ridge", found.ridge, right, 1e-14 * right)

    # Spheres and spectra.

    def sphere(self, f: Nonlinearity) -> None:
        """`sphere`: Funk and Hecke's eigenvalues by quadrature of Gegenbauer polynomials, and multiplicities."""
        d, degree = self.rng.choice((2, 3, 5, 20, 100)), self.rng.choice((2, 5))
        radius = self.rng.choice((1, 1, 2, 0.5))
        self.on = f" dim {d} degree {degree} radius {radius}"
        found = bulkedge.sphere(f, dim=d, degree=degree, radius=radius)
        right = routes.funk_hecke(f, d, degree, radius)
        y = np.abs(vectorised(f)(radius * np.linspace(-1, 1, 201)))
        size = float(y.max())
        for row, eta in zip(found.eigenvalues, right, strict=True):
            self.see("sphere", float(row.eta), eta, float(row.eta.error) + OWN * size, f"eta_{row.degree}")
            self.see(
                "sphere", float(row.value), eta**2, float(row.value.error) + 2 * OWN * size**2, f"value {row.degree}"
            )
            self.see("sphere", int(row.multiplicity), routes.multiplicity(d, row.degree), 0, "multiplicity")

    def spectrum(self) -> None:
        """`spectrum`: ReLU's top eigenvalue through the second route's matrix; linear functions."""
        d, A = self.rng.randrange(3, 200), self.rng.choice((1.0, 0.25, 3.0))
        B = A * self.rng.choice((0.0, 0.1, 2.0, 10.0, 25.0))
        self.on = f"dim {d} A {A} B {B}"
        found = bulkedge.spectrum(dim=d, bulk=A, spike=B)
        right = routes.relu_top(d, A, B)
        self.number("spectrum top", found.top.eigenvalue, right, 1e-10 * right)
        self.number("spectrum linear", found.linear.aligned, (A + B) / (4 * d), 0.0)
        self.number("spectrum linear", found.linear.orthogonal, A / (4 * d), 0.0)
        # The same by the route of other activations, with its own error.
        if d <= 40 and B <= 2 * A and self.rng.random() < 0.3:
            other = bulkedge.spectrum(dim=d, bulk=A, spike=B, activation="leaky_relu(z, 1/2)")
            self.finite_only("spectrum of leaky ReLU", float(other.top.eigenvalue))
            # leaky ReLU = 3/4 z + |z|/4: its linear functions see 9/16 of the whole.
            self.number("spectrum linear", other.linear.aligned, 9 / 16 * (A + B) / d, 0.0)

    def spike(self) -> None:
        """`spike`: thresholds, outliers and overlaps by their textbook formulas, and back from the outlier."""
        name = self.rng.choice(("rectangular", "covariance", "wishart", "wigner"))
        c, theta = self._log(0.05, 20), self._log(0.3, 30)
        self.on = f"{name} ratio {c} strength {theta}"
        ratio = {} if name == "wigner" else {"ratio": c}
        found = bulkedge.spike(strength=theta, ensemble=name, **ratio)
        root = math.sqrt(c)
        lower = (name == "covariance" and theta < 1) or (name == "wishart" and theta < c - root)
        side = -1 if lower else 1
        threshold = {
            "rectangular": c**0.25,
            "covariance": max(0.0, 1 + side * root),
            "wishart": c + side * root,
            "wigner": 1.0,
        }[name]
        edge = {"rectangular": 1 + root, "covariance": (1 + side * root) ** 2, "wishart": (1 + side * root) ** 2}.get(
            name, 2.0
        )
        self.number("spike", found.threshold, threshold, 1e-14 * (1 + root + c), "threshold")
        if side * (theta - threshold) <= 0:
            self.number("spike", found.outlier, edge, 1e-14 * (1 + c), "edge")
            return
        right = routes.outlier(name, c, 1.0, theta)
        self.number("spike", found.outlier, right, 1e-14 * (abs(right) + theta), "outlier")
        for which, overlap in routes.overlaps(name, c, 1.0, theta).items():
            self.number("spike", getattr(found, f"overlap_{which}"), overlap, 1e-14, f"overlap {which}")
        back = bulkedge.spike(observed=found.outlier.decimal(17), ensemble=name, **ratio)
        near = min(1.0, abs(theta / threshold - 1))  # the map is flat at the threshold
        self.number("spike", back.strength, theta, 1e-13 * (theta + 1 + c) / near**2, "observed")

    def mp(self) -> None:
        """`mp`: edges and atom."""
        c, s2 = self._log(1e-3, 1e3), self._log(1e-3, 1e3)
        self.on = f"ratio {c} scale {s2}"
        found = bulkedge.mp(ratio=c, scale=s2)
        with mpmath.workdps(40):
            root = mpmath.sqrt(mpmath.mpf(sp.Rational(str(c)).p) / sp.Rational(str(c)).q)
            right = [float(s2 * (1 + sign * root) ** 2) for sign in (-1, 1)]
        for edge, x in zip(found.edges, right, strict=True):
            self.number("mp", edge, x, 1e-14 * x + 1e-15 * s2 * abs(1 - math.sqrt(c)), "edge")
        self.number("mp", found.atom, max(0.0, 1 - 1 / c), 2e-16, "atom")

    def equivalent(self) -> None:
        """`equivalent`: traces of resolvents of one matrix and of a product."""
        samples, width, ridge = self._log(0.2, 5), self._log(0.2, 5), self._log(1e-2, 3)
        which = self.rng.choice(("tr(inv(X.T*X+l))", "tr(X.T*X*inv(X.T*X+l))", "tr(inv(X.T*X+l)*inv(X.T*X+l))", "WX"))
        self.on = f"{which} n/d {samples} p/d {width} l {ridge}"
        if which == "WX":
            found = bulkedge.equivalent(
                f"tr(inv((X*W).T*X*W+{ridge!r}))",
                gaussian=["X: n x d, 1/n", "W: d x p, 1/d"],
                size=f"n={samples!r},d=1,p={width!r}",
            )
            right = routes.product_resolvent(samples, width, ridge)
        else:
            text = which.replace("+l", f"+{ridge!r}")
            found = bulkedge.equivalent(text, gaussian=["X: n x d, 1/n"], size=f"n={samples!r},d=1")
            with mpmath.workdps(40):
                c, r = 1 / mpmath.mpf(samples), mpmath.mpf(ridge)
                if "*inv(" not in which:
                    right = float(routes.marchenko_pastur_resolvent(c, r))
                elif which.startswith("tr(X"):
                    right = float(1 - r * routes.marchenko_pastur_resolvent(c, r))
                else:
                    right = float(-mpmath.diff(lambda l: routes.marchenko_pastur_resolvent(c, l), r))
        self.number("equivalent", found.quantities()["value"], right, 1e-13 * abs(right) * (1 + 1 / ridge))

    def weights(self) -> None:
        """`weights`: singular values against NumPy's, strengths back from them at the fitted scale."""
        d, N = self.rng.choice((60, 100, 150)), self.rng.choice((60, 120, 200))
        scale, count = self.rng.choice((1.0, 0.02, 50.0)), self.rng.randrange(3)
        W = self.numbers.standard_normal((d, N)) / math.sqrt(d)
        for k in range(count):
            u, v = self.numbers.standard_normal(d), self.numbers.standard_normal(N)
            W += (3.0 + 2 * k) * (N / d) ** 0.25 * np.outer(u / np.linalg.norm(u), v / np.linalg.norm(v))
        W *= scale
        self.on = f"{d} x {N} scale {scale} spikes {count}"
        found = bulkedge.weights(W)
        singular = np.linalg.svd(W, compute_uv=False)
        if len(found.outliers) < count:
            self.fault(f"{len(found.outliers)} outliers for {count} spikes")
        for row, s in zip(found.outliers, singular, strict=False):
            self.see("weights value", float(row.value), float(s), float(row.value.error) + 1e-12 * float(s))
        self.finite_only("weights scale", float(found.scale))
        share = singular**2 / np.sum(singular**2)
        own = {"stable_rank": 1 / share[0], "entropy": -float(share @ np.log(share))}
        for name, right in own.items():
            self.see("weights measures", float(getattr(found.measures, name)), right, 1e-12 * right, name)
