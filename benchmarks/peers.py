"""Programs of others in environments of their own: neural-tangents, rmtool, freealg, scikit-rmt, auto-fpt and so on.

Each runs in the interpreter that its variable names (RMTOOL_PYTHON=/path/to/bin/python), or in this one where it can
be imported; else its line says how to install it. Both sides get the same numbers, and what they return is compared:
the note is the largest difference.
"""

from __future__ import annotations

import functools
import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import sympy as sp

from benchmarks.benchmark import Benchmark, Line, Missing, Row, seconds
from bulkedge.numerics.kernels.kernel_matrix import kernel_matrix
from bulkedge.numerics.spectra.marchenko_pastur import MarchenkoPastur
from bulkedge.numerics.spectra.screenot import hard_threshold
from bulkedge.numerics.weights.weights import analyse
from bulkedge.theory.equivalents.equivalent import Equivalent, declare, read, values_of
from bulkedge.theory.equivalents.matrix_expression import Model
from bulkedge.theory.spectra.marchenko_pastur import moment

# What every script begins with: `answer(work)` prints the best of three times and some 500 of the values.
_PRELUDE = """
import json, time
import numpy as np
def answer(work):
    best = float("inf")
    for _ in range(3):
        start = time.process_time()
        values = np.asarray(work())
        best = min(best, time.process_time() - start)
    flat = values.ravel()[:: max(1, values.size // 500)]
    print(json.dumps({"seconds": best, "real": flat.real.tolist(), "imag": flat.imag.tolist()}))
"""
_POINTS = "x = np.linspace(0.05, 2.95, {points})\n"
_PLANE = "z = np.linspace(-1, 4, {points}) + 0.1j\n"
_NOISE = "W = np.random.default_rng(0).standard_normal(({side}, {side}))\n"


@dataclass(frozen=True)
class Contest:
    """One comparison with a peer: its script (after the prelude), and ours on the same inputs."""

    module: str
    package: str
    what: str
    script: str
    ours: Callable[[], npt.ArrayLike]
    tolerance: float
    required: float | None = None
    requirement: str = ""  # what pip installs, if not the package alone
    source: str = ""  # of a peer that cannot be installed: what is cloned, and found by a .pth file

    @property
    def variable(self) -> str:
        """The environment variable that names the peer's interpreter."""
        return f"{self.package.upper().replace('-', '_')}_PYTHON"

    def interpreter(self) -> str | None:
        """Where the peer can be imported: the variable's interpreter, this one, or nowhere (None)."""
        named = os.environ.get(self.variable)
        return named or (sys.executable if importlib.util.find_spec(self.module) else None)

    def run(self) -> tuple[Line, ...]:
        """The comparison, or how to make it."""
        interpreter = self.interpreter()
        if interpreter is None:
            home = f"{self.package}-venv"
            remedy = (
                f"python -m venv {home} && {home}/bin/pip install {self.requirement or self.package} && "
                f"export {self.variable}=$PWD/{home}/bin/python"
            )
            if self.source:
                remedy += (
                    f" && git clone {self.source} && echo $PWD/{self.package} > $(${self.variable} -c {_SITE})/a.pth"
                )
            return (Missing(self.what, self.package, remedy),)
        command = [interpreter, "-c", _PRELUDE + self.script]
        single = os.environ | {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMEXPR")}
        output = subprocess.run(
            command, check=True, env=single, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        found = json.loads(output.stdout.strip().splitlines()[-1])
        theirs = np.asarray(found["real"]) + 1j * np.asarray(found["imag"])
        mine = np.asarray(self.ours()).ravel()
        mine = mine[:: max(1, mine.size // 500)]  # as in the prelude
        gap = float(np.max(np.abs(mine - theirs)))
        if not gap <= self.tolerance:
            raise ArithmeticError(f"{self.package}, {self.what}: the answers differ by {gap:.2g}")
        taken = seconds(self.ours)
        return (Row(self.what, self.package, taken, found["seconds"], self.required, f"largest difference {gap:.1e}"),)


def _law(method: str, points: int) -> npt.ArrayLike:
    law = MarchenkoPastur(0.5)
    if method == "stieltjes":
        return law.stieltjes(np.linspace(-1, 4, points) + 0.1j)
    if method == "moments":
        return [float(moment(k, sp.Rational(1, 2), sp.S.One)) for k in range(points + 1)]  # exact, as the peer's
    return np.asarray(getattr(law, method)(np.linspace(0.05, 2.95, points)))


def _screened() -> npt.ArrayLike:
    noise = np.random.default_rng(0).standard_normal((300, 300))
    return [hard_threshold(np.linalg.svd(noise, compute_uv=False), 1.0, 30).threshold]


def _relu(n: int, d: int) -> npt.ArrayLike:
    return kernel_matrix(np.random.default_rng(0).standard_normal((n, d)), weight_variance=1 / d)


@functools.lru_cache(maxsize=1)
def _model() -> Model:
    declared = ["X: d x n, 1/d", "W: m x d, zeta/(m*lam)", "T: m x n, beta/(m*lam)"]
    return declare(declared, size="n=1,d=phi,m=phi/psi", positive="phi,psi,lam,zeta,beta")


@functools.lru_cache(maxsize=1)
def _known() -> Equivalent:
    return _derived()


def _derived() -> Equivalent:
    theory = read("let F = W*X + T; tr(X.T*X*inv(F.T*F + 1))", _model())
    assert theory.reduced.equations
    return theory


def _typed_features(what: str) -> npt.ArrayLike:
    """The peer's example, typed: its equations (and polynomial), or its enclosed value once they are known."""
    theory = _known()
    if what == "equations":
        _derived()
    at = values_of("phi=3/2,psi=4/5,lam=1/10,zeta=1/4,beta=1/10", theory.symbols)
    return [float(theory.enclose(at, 15))]


def _outliers(side: int) -> npt.ArrayLike:
    report = analyse(np.random.default_rng(0).standard_normal((side, side)), rng=np.random.default_rng(0))
    return [len(report.outliers)]


_AUTO_FPT = """
import contextlib, io, os, pickle
import fpt
from sympy import MatrixSymbol, Symbol
n = Symbol("n", integer=True, positive=True)
phi, psi, lam, zeta, beta = (Symbol(s, positive=True) for s in (r"\\phi", r"\\psi", r"\\lambda", r"\\zeta", r"\\beta"))
d, m = phi * n, phi * n / psi
W, X, T = MatrixSymbol("W_0", m, d), MatrixSymbol("X", d, n), MatrixSymbol(r"\\Theta_0", m, n)
variances = {X: 1 / d, W: zeta / (m * lam), T: beta / (m * lam)}
home = os.path.dirname(os.path.abspath(fpt.__file__))
with open(os.path.join(home, "examples", "pencils", "random-features-pencil.pkl"), "rb") as file:
    Q, (u, v) = pickle.load(file)
row, column = np.flatnonzero(u)[0], np.flatnonzero(v)[0]
at = {phi: 1.5, psi: 0.8, lam: 0.1, zeta: 0.25, beta: 0.1}
def equations():
    with contextlib.redirect_stdout(io.StringIO()):
        return fpt.calc(Q, random_matrices=[X, W, T], row_idx=row, col_idx=column, subs={}, variances=variances)
def value(found):
    sides = [(e.lhs, e.rhs.subs(at)) for e in found]
    solution = {left: 0 for left, _ in sides}
    for _ in range(100):
        solution = {left: right.evalf(subs=solution) for left, right in sides}
    (asked,) = [float(x) for left, x in solution.items() if (left.i, left.j) == (row, column)]
    return [asked]
known = equations()
"""
_SITE = "'import site; print(site.getsitepackages()[0])'"
_RMTOOL = "import sympy as sp, rmtool\nb = rmtool.wishartpol(sp.Rational(1, 2))\n"
_FREEALG = "import freealg.distributions\nlaw = freealg.distributions.MarchenkoPastur(0.5)\n"
_SKRMT = "from skrmt.ensemble import spectral_law\nlaw = spectral_law.MarchenkoPasturDistribution(ratio=0.5)\n"
_NEURAL_TANGENTS = """
import jax
jax.config.update("jax_enable_x64", True)
from neural_tangents import stax
x = np.random.default_rng(0).standard_normal((4000, 1000))
kernel = jax.jit(lambda a: stax.serial(stax.Dense(1), stax.Relu())[2](a, None, "nngp"))
answer(lambda: kernel(x).block_until_ready())
"""
_WEIGHTWATCHER = """
import weightwatcher
def work():
    evals = np.sort(np.linalg.svd(W, compute_uv=False) ** 2)
    watcher, n = weightwatcher.WeightWatcher(), len(W)
    return [watcher.mp_fit(evals, n, n, 1, "layer", 0, 0, False, False, ".", "blue", 1.0, True, evals)[0]]
answer(work)
"""
_SCREENOT = "import screenot\nanswer(lambda: [screenot.adaptiveHardThresholding(W, 30)[1]])\n"
_DENSITY, _MANY = _POINTS.format(points=1000), _POINTS.format(points=10**5)
_MP = "Marchenko-Pastur"

_FEATURES = "tr X^T X inv(F^T F + 1), F = W X + T"

CONTESTS = {
    "auto_fpt.equations": Contest(
        "fpt", "auto-fpt", f"{_FEATURES}: equations and value",
        _AUTO_FPT + "answer(lambda: value(equations()))",
        functools.partial(_typed_features, "equations"), 1e-12, 10, "sympy==1.12 numpy==1.26.4",
        "https://github.com/ArjunSubramonian/auto-fpt",
    ),
    "auto_fpt.value": Contest(
        "fpt", "auto-fpt", "the same, the value from known equations", _AUTO_FPT + "answer(lambda: value(known))",
        functools.partial(_typed_features, "value"), 1e-12, 10, "sympy==1.12 numpy==1.26.4",
        "https://github.com/ArjunSubramonian/auto-fpt",
    ),
    "neural_tangents": Contest(
        "neural_tangents", "neural-tangents", "ReLU kernel, n = 4000, d = 1000", _NEURAL_TANGENTS,
        functools.partial(_relu, 4000, 1000), 1e-7, 1, "neural-tangents==0.6.5 jax==0.4.20 jaxlib==0.4.20",
    ),
    "rmtool.density": Contest(
        "rmtool", "rmtool", f"{_MP} density, 1000 points",
        _RMTOOL + _DENSITY + "answer(lambda: rmtool.Lmz2pdf(b, x).density)",
        functools.partial(_law, "pdf", 1000), 1e-6,
    ),
    "rmtool.moments": Contest(
        "rmtool", "rmtool", f"{_MP} moments 0..20",
        _RMTOOL + "answer(lambda: np.array([float(m) for m in rmtool.Lmz2MomS(b, 20)]))",
        functools.partial(_law, "moments", 20), 1e-3,
    ),
    "freealg.density": Contest(
        "freealg", "freealg", f"{_MP} density, 10^5 points", _FREEALG + _MANY + "answer(lambda: law.density(x))",
        functools.partial(_law, "pdf", 10**5), 1e-12,
    ),
    "freealg.stieltjes": Contest(
        "freealg", "freealg", f"{_MP} Stieltjes transform, 10^5 points",
        _FREEALG + _PLANE.format(points=10**5) + "answer(lambda: law.stieltjes(z=z, alt_branch=False))",
        functools.partial(_law, "stieltjes", 10**5), 1e-12,
    ),
    "scikit_rmt.density": Contest(
        "skrmt", "scikit-rmt", f"{_MP} density, 10^5 points", _SKRMT + _MANY + "answer(lambda: law.pdf(x))",
        functools.partial(_law, "pdf", 10**5), 1e-12,
    ),
    "scikit_rmt.cdf": Contest(
        "skrmt", "scikit-rmt", f"{_MP} cdf, 10^5 points", _SKRMT + _MANY + "answer(lambda: law.cdf(x))",
        functools.partial(_law, "cdf", 10**5), 1e-6,
    ),
    "screenot": Contest(
        "screenot", "screenot", "ScreeNOT's threshold, 300 x 300", _NOISE.format(side=300) + _SCREENOT,
        _screened, 2e-5,  # the peer's bisection ends within 1e-5
    ),
    "weightwatcher": Contest(
        "weightwatcher", "weightwatcher", "outliers of noise, 500 x 500, whole report",
        _NOISE.format(side=500) + _WEIGHTWATCHER, functools.partial(_outliers, 500), 0,
    ),
}  # fmt: skip

BENCHMARKS = tuple(Benchmark(f"peers.{name}", contest.run) for name, contest in CONTESTS.items())
