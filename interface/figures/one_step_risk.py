"""O.risk, O.large and M.spikes: the risk against the step size, and the spikes of the feature matrix."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from bulkedge.figures import Picture
from bulkedge.results.plotting import line, new_figure, points
from bulkedge.results.result import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DIM = 128  # of the simulated networks (paper O: 512, 50 runs)
RUNS = 8
Rows = list[tuple[str, ...]]

# Paper O, Figure 3 (a) and (b): activation, link (centred), fixed ratio, the other ratio of the curves, ridge, noise.
_CENTRED_SOFTPLUS = "softplus - 0.8060591833474"
_CENTRED_RELU = "relu - 1/sqrt(2*pi)"


def _curve(axes: Any, rows: Rows, index: int, label: str, size: int, runs: int, **setting: Any) -> None:
    """The closed form over a curve of steps, and simulated networks with two standard errors."""
    from bulkedge.commands.risk.risk import risk
    from bulkedge.numerics.risk.simulated_risk import simulated_risk
    from bulkedge.numerics.trials.runner import current_runner

    result = risk(**setting, step="0:8:81")
    steps, tests = [p.step for p in result.curve], [p.test for p in result.curve]
    axes.plot(steps, tests, **line(index), label=label)
    rows += [(label, "predicted", repr(p.step), repr(p.test), repr(p.test_error)) for p in result.curve]
    texts = {name: str(value) for name, value in setting.items()}
    runner = current_runner(2026)
    simulated = []
    for step in ("0", "2", "4", "6", "8"):
        found = simulated_risk(runner, size, runs, **{"batch": texts["samples"], **texts}, step=step)["test"]
        simulated.append((float(step), found.value, found.stderr))
        rows.append((label, "simulated", step, repr(found.value), repr(found.stderr)))
    x, y, error = (list(column) for column in zip(*simulated, strict=True))
    axes.errorbar(x, y, yerr=[2 * s for s in error], linestyle="none", **points(index))


def _risk_curves(size: int = DIM, runs: int = RUNS) -> tuple[Figure, Table]:
    """Test risk against eta: tanh on softplus over n/d, tanh on ReLU over N/d (paper O, Figure 3 a, b)."""
    figure, (left, right) = new_figure(8.4, 3.4, ncols=2)
    rows: Rows = []
    for index, samples in enumerate(("2", "4", "8")):
        _curve(
            left,
            rows,
            index,
            f"$n/d$ = {samples}",
            size,
            runs,
            activation="tanh",
            link=_CENTRED_SOFTPLUS,
            samples=samples,
            width="2",
            ridge="1e-4",
            noise="1/4",
        )
    for index, width in enumerate(("1/2", "2", "8")):
        _curve(
            right,
            rows,
            index,
            f"$N/d$ = {width}",
            size,
            runs,
            activation="tanh",
            link=_CENTRED_RELU,
            samples="5",
            width=width,
            ridge="1e-2",
            noise="1/10",
        )
    from bulkedge.numerics.functions.functions import constants
    from bulkedge.theory.functions.nonlinearity import nonlinearity

    for axes, link, title in ((left, _CENTRED_SOFTPLUS, "softplus, N/d = 2"), (right, _CENTRED_RELU, "ReLU, n/d = 5")):
        c = constants(nonlinearity(link))
        level = c.mu2**2
        axes.axhline(level, color="0.4", linewidth=0.8, label="linear floor")
        rows.append((title, "linear floor", "", repr(level), repr(2 * c.mu2 * c.error)))
        axes.set_title(title, fontsize=9)
        axes.set_xlabel(r"step size $\eta$")
        axes.set_ylabel("test risk (noise excluded)")
    left.set_yscale("log")
    left.set_ylim(top=6)  # room for the legend above the curves
    left.legend(fontsize=7.5, ncols=2, loc="upper right")
    right.legend(fontsize=7.5)
    return figure, Table(("curve", "kind", "step", "risk", "standard error"), tuple(rows))


WIDTH = 2000
_SIMULATED_WIDTH = 400


def _large_steps(width: int = _SIMULATED_WIDTH, runs: int = 4, shown: int = 25) -> tuple[Figure, Table]:
    """Test risk against n/d at eta = N^a, erf on erf and tanh on tanh (paper O, Figure 3 c)."""
    from bulkedge.numerics.functions.functions import constants
    from bulkedge.numerics.risk.conditional_limit import one_step_risk
    from bulkedge.numerics.risk.pair import pair
    from bulkedge.numerics.risk.ridge_problem import RidgeProblem
    from bulkedge.numerics.risk.simulated_risk import simulated_risk
    from bulkedge.numerics.trials.runner import current_runner
    from bulkedge.theory.functions.nonlinearity import nonlinearity

    figure, panels = new_figure(8.4, 3.4, ncols=2)
    rows: Rows = []
    ratios = np.geomspace(0.5, 40, shown)
    for axes, name in zip(panels, ("erf", "tanh"), strict=True):
        f = nonlinearity(name)
        functions = pair(f, f)
        for index, exponent in enumerate((0.0, 0.25, 0.5)):
            problems = [RidgeProblem(psi1, 2.0, 1e-3, 2 * WIDTH**exponent, noise=0.1) for psi1 in ratios]
            risks = [one_step_risk(functions, problem, WIDTH).test - 0.01 for problem in problems]
            label = rf"$\eta = 2 N^{{{exponent:g}}}$" if exponent else r"$\eta = 2$"
            axes.loglog(ratios, risks, **line(index), label=label)
            rows += [
                (f"{name}, {label}", "predicted", repr(float(x)), repr(y), repr(1e-9 * (y + 0.01)))  # as `risk` says
                for x, y in zip(ratios, risks, strict=True)
            ]
            if exponent == 0.5:
                small = 2 * width**exponent
                for samples in ("2", "6", "12"):
                    found = simulated_risk(
                        current_runner(2026), width // 2, runs, activation=name, link=name, samples=samples,
                        width="2", ridge="1/1000", step=str(round(small)), batch=samples, noise="1/10",
                    )["test"]  # fmt: skip
                    axes.errorbar([float(samples)], [found.value], yerr=[2 * found.stderr], **points(index))
                    rows.append((f"{name}, {label}", "simulated", samples, repr(found.value), repr(found.stderr)))
        c = constants(f)
        axes.axhline(c.mu2**2, color="0.4", linewidth=0.8, label="floor of kernels")
        rows.append((name, "floor of kernels", "", repr(c.mu2**2), repr(2 * c.mu2 * c.error)))
        axes.set_title(f"{name} on {name}", fontsize=9)
        axes.set_xlabel("$n/d$")
        axes.set_ylabel("test risk (noise excluded)")
        axes.legend(fontsize=7.5)
    return figure, Table(("curve", "kind", "n/d", "risk", "standard error"), tuple(rows))


SIZE, _NETWORKS = 800, 5
_EXPONENTS = ("0.05", "0.15", "0.25", "0.3", "0.35", "0.4", "0.45")


def spikes(size: int = SIZE, runs: int = _NETWORKS) -> tuple[Figure, Table]:
    """Singular values of F over sqrt n against the exponent, and overlaps of the left vectors with p_1, p_2, p_3."""
    from fractions import Fraction

    from bulkedge.numerics.steps.feature_spikes import SHOWN, SPIKES, spikes_trial
    from bulkedge.numerics.trials.estimate import Estimate
    from bulkedge.numerics.trials.runner import Request, current_runner
    from bulkedge.theory.steps.spiked_features import number_of_spikes

    runner = current_runner(2026)
    trials = [functools.partial(spikes_trial, exponent=e) for e in _EXPONENTS]
    runner.gather(Request(trial, (size,), runs) for trial in trials)
    results = [runner.run(trial, (size,), runs)[size] for trial in trials]
    names = [
        f"{kind}{i}" for kind, count in (("s", SHOWN), ("p", SPIKES), ("share", SPIKES)) for i in range(1, count + 1)
    ]
    found = {name: [Estimate.from_samples([r[name] for r in rs]) for rs in results] for name in names}
    x = [float(e) for e in _EXPONENTS]
    figure, (left, right) = new_figure(8.4, 3.4, ncols=2)
    left.set_yscale("log")
    for i, label in enumerate(("1st", "2nd", "3rd", "4th", "5th", "6th")):
        means = found[f"s{i + 1}"]
        look = points(min(i, 3)) | {"capsize": 2, "linestyle": "none"}
        shown = label if i < 3 else "4th to 6th" if i == 3 else None
        left.errorbar(x, [m.value for m in means], [2 * m.stderr for m in means], label=shown, **look)
        if i < 2:  # c_3 = 0: the third stays in the bulk
            left.plot(x, [m.value for m in found[f"p{i + 1}"]], **line(i), label=f"{label} predicted")
    for i in range(3):
        means = found[f"share{i + 1}"]
        right.errorbar(
            x, [m.value for m in means], [2 * m.stderr for m in means], capsize=2, **line(i) | points(i),
            label=f"$p_{i + 1}$",
        )  # fmt: skip
    left.set_yticks([1.5, 2, 3, 5, 10], ["1.5", "2", "3", "5", "10"])
    left.minorticks_off()
    left.legend(fontsize=7.5)
    right.legend(fontsize=7.5)
    for axes in (left, right):
        for order in (1, 2, 3):
            place = order / (2 * order + 2)
            axes.axvline(place, color="0.6", linewidth=0.7, linestyle="--")
            axes.annotate(
                f"$\\ell = {order}$", (place, 1), (2, -2), xycoords=("data", "axes fraction"), va="top",
                textcoords="offset points", fontsize=7, color="0.4",
            )  # fmt: skip
        axes.set_xlabel(r"exponent $a$ of $\eta = 2 n^a$")
    odd = tuple(range(3, 50, 2))  # softplus is z/2 plus an even function
    counted = [len(number_of_spikes(Fraction(e), vanishing=odd).present) for e in _EXPONENTS]
    rows: Rows = [
        (name, e, repr(m.value), repr(m.stderr))
        for name, ms in found.items()
        for e, m in zip(_EXPONENTS, ms, strict=True)
    ]
    rows += [("predicted number", e, str(count), "0") for e, count in zip(_EXPONENTS, counted, strict=True)]
    left.set_ylabel(r"singular values of $F/\sqrt{n}$")
    right.set_ylabel("share in the leading three left vectors")
    return figure, Table(("quantity", "exponent", "value", "standard error"), tuple(rows))


FIGURES = (
    Picture(
        "O.risk",
        "Ridge risk after one step of size Theta(1)",
        "Lines: predicted; points: simulated. tanh network. Left: centred softplus link, N/d = 2, ridge 1e-4, noise "
        f"1/4. Right: centred ReLU link, n/d = 5, ridge 1e-2, noise 1/10 (paper O, Figure 3 a, b). Points: {RUNS} "
        f"networks at d = {DIM}, two standard errors, seed 2026; batch of the step as large as the training sample.",
        _risk_curves,
        functools.partial(_risk_curves, 48, 4),
    ),
    Picture(
        "O.large",
        "A large step beats the floor of kernels",
        f"Lines: predicted, step eta = 2 N^a at N = {WIDTH} (closed fixed point), N/d = 2, ridge 1e-3, noise 1/10, "
        "batch as large as the training sample (paper O, Figure 3 c). Points: 4 simulated networks at N = "
        f"{_SIMULATED_WIDTH}, eta = 2 sqrt(N), two standard errors, seed 2026.",
        _large_steps,
        functools.partial(_large_steps, 100, 3, 9),
    ),
    Picture(
        "M.spikes",
        "Spikes of the feature matrix",
        f"Points: simulated, two standard errors of {_NETWORKS} networks. Lines at the left: predicted, the singular "
        "values of the entries' means carried through the bulk (one or two per cent low: the left directions are not "
        "free of the bulk). Centred softplus network, link tanh(z) + He_2(z)/4, noise 1/10, "
        f"d = N = n = {SIZE}, unit-norm rows, seed 2026. p_k: the left directions of the reading full, "
        "orthonormalised; c_3(softplus) = 0 removes the third. Dashed: exponents l/(2 l + 2).",
        spikes,
        functools.partial(spikes, 240, 3),
    ),
)
