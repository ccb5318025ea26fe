"""Planted truth: outliers counted in noise of ten kinds with 0, 3 and 20 spikes, by Tracy-Widom and by ScreeNOT.

Of each cell: how often the count is exact (with a 95 per cent interval), and in how many matrices the report stands by
its count (the bulk fits) and quotes a false-alarm rate. What must hold: where a rate is quoted, it holds.
"""

from __future__ import annotations

import functools
import json
import math
import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from benchmarks.benchmark import Benchmark, Line
from benchmarks.peers import Contest
from bulkedge.numerics.spectra.edge import outliers_of
from bulkedge.numerics.weights.further_edges import further_edges
from bulkedge.numerics.weights.reduced import reduced
from bulkedge.numerics.weights.weights import analyse

Noise = Callable[[np.random.Generator], NDArray[np.float64]]
SHAPE, TRIALS, ALARM = (120, 180), 30, 0.05
BESIDE = 10  # trials of the side by side with other programs
_LINE = "{:<16} {:>6} {:>22} {:>9} {:>8} {:>14} {:>9}"


def _blocks(g: np.random.Generator) -> NDArray[np.float64]:
    level = np.kron(np.array([[1.0, 2.0], [2.0, 4.0]]), np.ones((SHAPE[0] // 2, SHAPE[1] // 2)))
    return level * g.standard_normal(SHAPE)


def _correlated(g: np.random.Generator) -> NDArray[np.float64]:
    noise = g.standard_normal(SHAPE)
    for k in range(1, SHAPE[1]):
        noise[:, k] = 0.7 * noise[:, k - 1] + math.sqrt(0.51) * noise[:, k]
    return noise


def _dead(g: np.random.Generator) -> NDArray[np.float64]:
    noise = g.standard_normal(SHAPE)
    noise[: SHAPE[0] // 5] = 0
    return noise


LAWS: dict[str, Noise] = {
    "gauss": lambda g: g.standard_normal(SHAPE),
    "uniform": lambda g: g.uniform(-1, 1, SHAPE),
    "laplace": lambda g: g.laplace(size=SHAPE),
    "t4": lambda g: g.standard_t(4, SHAPE),
    "sparse": lambda g: g.standard_normal(SHAPE) * (g.random(SHAPE) < 0.3),
    "blocks": _blocks,
    "rows": lambda g: np.exp(g.standard_normal(SHAPE[0]) / 2)[:, None] * g.standard_normal(SHAPE),
    "rows, columns": lambda g: np.outer(*(np.exp(g.standard_normal(n) / 2) for n in SHAPE)) * g.standard_normal(SHAPE),
    "AR(1)": _correlated,
    "dead rows": _dead,
}


def planted(law: str, spikes: int, seed: int) -> NDArray[np.float64]:
    """Noise of a law and orthogonal spikes, two to four times the threshold of white noise of that energy.

    On AR(1) noise they are twice as strong: its own threshold is that much higher. Dead rows stay dead.
    """
    g = np.random.default_rng([seed, spikes])
    noise = LAWS[law](g)
    if not spikes:
        return noise
    unit = float(np.sqrt(np.mean(noise**2))) * math.prod(SHAPE) ** 0.25 * (2 if law == "AR(1)" else 1)
    alive = np.any(noise != 0, axis=1)
    left = np.zeros((SHAPE[0], spikes))
    left[alive] = np.linalg.qr(g.standard_normal((int(alive.sum()), spikes)))[0]
    right = np.linalg.qr(g.standard_normal((SHAPE[1], spikes)))[0]
    return noise + left * np.linspace(2, 4, spikes) * unit @ right.T


@dataclass(frozen=True)
class Cell:
    """One law and number of spikes over all trials: exact counts of both edges, fitting bulks, quoted rates, alarms."""

    HEADER: ClassVar[str] = _LINE.format("noise", "spikes", "exact", "fits", "rate", "false if quoted", "screenot")
    law: str
    spikes: int
    exact: int
    fits: int
    quoted: int
    false: int
    screenot: int

    @property
    def met(self) -> bool:
        """False alarms among the quoted stay within three standard deviations of the rate."""
        expected = ALARM * self.quoted
        return self.false <= expected + 3 * math.sqrt(max(expected, 1.0))

    @property
    def line(self) -> str:
        """The cell as printed; the interval is Wilson's."""
        n, share, z2 = TRIALS, self.exact / TRIALS, 1.96**2
        middle, half = share + z2 / (2 * n), 1.96 * math.sqrt(share * (1 - share) / n + z2 / (4 * n * n))
        low, high = (max((middle + sign * half) / (1 + z2 / n), 0.0) for sign in (-1, 1))
        exact = f"{share:.2f} [{low:.2f}, {high:.2f}]"
        rest = (self.fits, self.quoted, self.false, self.screenot)
        return _LINE.format(self.law, self.spikes, exact, *rest)


def cell(law: str, spikes: int) -> Cell:
    """All trials of one law and number of spikes."""
    exact = fits = quoted = false = screened = 0
    for seed in range(TRIALS):
        report = analyse(planted(law, spikes, seed), alarm=ALARM, rng=np.random.default_rng(seed), draws=199)
        count = len(report.outliers)
        edges = {e.name: e.count for e in further_edges(report.part.matrix, report.found, ALARM)}
        exact += count == spikes
        fits += report.trusted
        quoted += report.rate is not None
        false += report.rate is not None and count > spikes
        screened += edges["screenot"] == spikes
    return Cell(law, spikes, exact, fits, quoted, false, screened)


def _rows(law: str) -> Iterator[Cell]:
    return (cell(law, spikes) for spikes in (0, 3, 20))


# What each peer counts in W. ScreeNOT needs a bound of the rank: twice the truth, 12 at least, which favours it.
_COUNT = {
    "screenot": "import screenot\ndef count(W, truth):\n"
    "    return int(screenot.adaptiveHardThresholding(W, max(12, 2 * truth))[2])\n",
    "weightwatcher": "import weightwatcher\nwatcher = weightwatcher.WeightWatcher()\ndef count(W, truth):\n"
    "    n, m, evals = max(W.shape), min(W.shape), np.sort(np.linalg.svd(W, compute_uv=False) ** 2)\n"
    "    return int(watcher.mp_fit(evals, n, m, 1, 'layer', 0, 0, False, False, '.', 'blue', 1.0, True, evals)[0])\n",
}
# A matrix that a peer cannot answer (an exception of its own) counts as no answer: -1.
_ASK = """
import json, sys, time
import numpy as np
{count}
found = []
with np.load(sys.argv[1]) as data:
    for name in data.files:
        W = data[name]
        start = time.process_time()
        try:
            answer = count(W, int(name.split("|")[1]))
        except Exception:
            answer = -1
        found.append([name, answer, time.process_time() - start])
print(json.dumps(found))
"""


@dataclass(frozen=True)
class Beside:
    """One law and number of spikes: in how many of BESIDE matrices each program's count is exact, and its seconds."""

    HEADER: ClassVar[str] = "{:<16} {:>6} {:>16} {:>8} {:>10}".format("noise", "spikes", "program", "exact", "seconds")
    law: str
    spikes: int
    program: str
    exact: int
    seconds: float

    @property
    def met(self) -> bool:
        """It informs."""
        return True

    @property
    def line(self) -> str:
        """The cell as printed; seconds a matrix."""
        return f"{self.law:<16} {self.spikes:>6} {self.program:>16} {self.exact:>5}/{BESIDE} {self.seconds:>10.3g}"


def _ours(name: str, array: NDArray[np.float64]) -> tuple[str, int, float]:
    """The count alone, as the peers': without the report's simulated fit."""
    start = time.process_time()
    count = outliers_of(reduced(array).matrix, ALARM).count
    return name, count, time.process_time() - start


def _beside() -> tuple[Line, ...]:
    """The same matrices to ours, to ScreeNOT's authors' package and to weightwatcher."""
    keys = [(law, spikes, seed) for law in LAWS for spikes in (0, 3, 20) for seed in range(BESIDE)]
    data = {f"{law}|{spikes}|{seed}": planted(law, spikes, seed) for law, spikes, seed in keys}
    answers = {"ours": [_ours(name, array) for name, array in data.items()]}
    lines: list[Line] = []
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "planted.npz")
        np.savez(path, **data)  # type: ignore[arg-type]  # the stubs take the names for options
        for program, count in _COUNT.items():
            asked = Contest(program, program, "planted truth", "", tuple, 0)
            interpreter = asked.interpreter()
            if interpreter is None:
                lines += asked.run()
                continue
            single = os.environ | {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMEXPR")}
            command = [interpreter, "-W", "ignore", "-c", _ASK.format(count=count), path]
            run = subprocess.run(
                command, check=True, env=single, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
            )
            answers[program] = json.loads(run.stdout.strip().splitlines()[-1])
    cells: list[Line] = []
    for law in LAWS:
        for spikes in (0, 3, 20):
            for program, found in answers.items():
                mine = [(count, taken) for name, count, taken in found if name.startswith(f"{law}|{spikes}|")]
                exact = sum(count == spikes for count, _ in mine)
                cells.append(Beside(law, spikes, program, exact, min(taken for _, taken in mine)))
    return (*cells, *lines)


BENCHMARKS = (
    *(Benchmark(f"planted.{law}", functools.partial(lambda name: tuple(_rows(name)), law)) for law in LAWS),
    Benchmark("planted.beside", _beside),
)
