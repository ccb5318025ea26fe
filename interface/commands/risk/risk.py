"""`bulkedge risk`: test and training risk after one gradient step, at one step size or along a curve."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from bulkedge.arguments import (
    READOUTS,
    Activation,
    Argument,
    Count,
    File,
    Link,
    Numeric,
    Real,
    Seed,
    SizedNoise,
    Word,
    read,
)
from bulkedge.commands.risk.caps import MAX_NEURONS, MAX_SOLVED
from bulkedge.results.number import Number, short
from bulkedge.results.quantities import Flat, row
from bulkedge.results.quantities import Point as CurvePoint
from bulkedge.results.result import Result, Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from bulkedge.numerics.risk.ridge_problem import RidgeProblem
    from bulkedge.numerics.trials.estimate import Estimate

HAS_CURVE = True
_RATIO: dict[str, Any] = {"low": 0, "exclusive": True, "sized": True}
_FINITE, _GIVEN = "a finite dimension (with --dim)", "given weights (in the place of --width, --step and --batch)"
_TYPICAL = 1000  # the dimension at which a limit is compared with what a network of finite size has
_SETTING = "samples = n/d, width = N/d, batch = n1/d; (1/n)|y - Phi th|^2 + (ridge/N)|th|^2, Phi = sigma(X W1)/sqrt N"
_FAR = 0.05  # relative distance from the limit there that is worth a warning


@dataclass(frozen=True)
class Point:
    """The risk at one step size: test (noise excluded), train (noise included), bounds of their errors."""

    step: float
    test: float
    train: float
    test_error: float
    train_error: float


@dataclass(frozen=True)
class FiniteSize:
    """The same risks at dimension `dim`: what is between a limit and a network."""

    dim: int
    point: Point
    random_features: Point


@dataclass(frozen=True)
class Simulated:
    """Simulated test and training risk at one step size."""

    step: float
    test: Estimate
    train: Estimate


@dataclass(frozen=True)
class RiskResult(Result):
    """The risk at the step asked for (the last one of a curve), its decomposition and its references.

    `point` is the step asked for, `start` step 0, `points` and `runs` a curve and its simulation. `beyond` is what no
    linear model explains, `level` = mu2*^2 the part of it that is the link's own.
    """

    command: ClassVar[str] = "risk"
    point: Point
    start: Point
    level: float
    beyond: float
    constants_error: float
    status: str = "conjectured"
    parts: tuple[tuple[str, float, float], ...] = ()
    points: tuple[Point, ...] = ()
    runs: tuple[Simulated, ...] = ()
    near: FiniteSize | None = None

    def quantities(self) -> dict[str, Any]:
        """`test`, `train`, `linear_floor`, `random_features`, `status`, `decomposition`, `curve`, and more."""
        test, train = _numbers(self.point)
        start, _ = _numbers(self.start)
        return {
            "test": test,
            "train": train,
            "linear_floor": Number.of(self.level, self.constants_error),
            "random_features": start,
            "floor": Number.of(self.beyond, self.constants_error),
            "gain": start - test,
            "status": self.status,
            "decomposition": Flat({name: Number.of(value, error) for name, value, error in self.parts}),
            "curve": [_curve_point(q) for q in self.points] or None,
            "simulation": [_simulated_point(q) for q in self.runs] or None,
            "finite_size": None if self.near is None else _finite_size(self.near),
        }

    def tables(self) -> tuple[Table, ...]:
        """The curve if there is one (the CSV), then the single numbers."""
        listed = [
            row("test risk (noise excluded)", self.test)[:3],
            row("training error", self.train)[:3],
            row("random features (step 0)", self.random_features)[:3],
            row("linear floor mu2*^2", self.linear_floor)[:3],
            *(row(name.replace("_", " "), number)[:3] for name, number in self.decomposition.items()),
        ]
        if self.near is not None:
            for name, x in (("test", self.finite_size.test), ("step 0", self.finite_size.random_features)):
                listed.append(row(f"{name} at d = {self.near.dim}", x)[:3])
        listed.append(("status", self.status, ""))
        title = f"step {self.point.step:g}" if self.inputs["from_weights"] is None else "given weights"
        tables: tuple[Table, ...] = (Table(("risk", "value", "error"), tuple(listed), title),)
        if self.points:
            curve = tuple((q.step.decimal(), q.test.decimal(), q.train.decimal(), q.test.bound()) for q in self.curve)
            tables = (Table(("step", "test", "train", "error of test"), curve, "curve"), *tables)
        if self.runs:
            simulated = tuple(
                (q.step.decimal(), *(cell for x in (q.test, q.train) for cell in (x.decimal(6), x.error_text())))
                for q in self.simulation
            )
            columns = ("step", "test", "error of test", "train", "error of train")
            tables = (*tables, Table(columns, simulated, "simulation"))
        return tables

    def latex(self) -> str:
        """The test risk beside the random-features risk and the linear floor."""
        shown = (self.test, self.random_features, self.linear_floor)
        test, start, floor = (x.rounded_latex(6) for x in shown)
        return rf"R_{{\mathrm{{test}}}} = {test}, \quad R_{{0}} = {start}, \quad \mu_{{2\star}}^{{2}} = {floor}"

    def figure(self) -> Figure | None:
        """Risk against step size: theory, simulation with error bars, the step-0 risk and the linear floor."""
        if not self.points:
            return None
        from bulkedge.results.plotting import new_figure

        figure, axes = new_figure()
        steps = [q.step for q in self.points]
        axes.plot(steps, [q.test for q in self.points], color="C0", label="test")
        axes.plot(steps, [q.train for q in self.points], color="C1", label="train")
        axes.axhline(self.start.test, color="C2", linestyle="--", label="random features (step 0)")
        axes.axhline(self.beyond, color="C3", linestyle=":", label="linear floor")
        for color, name in (("C0", "test"), ("C1", "train")) if self.runs else ():
            values: Sequence[Estimate] = [getattr(q, name) for q in self.runs]
            axes.errorbar(
                [q.step for q in self.runs],
                [v.value for v in values],
                yerr=[2 * v.stderr for v in values],
                fmt="o",
                markersize=3,
                color=color,
                label=f"{name}, simulated (2 s.e.)",
            )
        axes.set_xlabel(r"step size $\eta$")
        axes.set_ylabel("risk (noise excluded from test)")
        axes.legend(fontsize=7)
        return figure


def _numbers(point: Point) -> tuple[Number, Number]:
    """Test and training risk with the bounds of their errors."""
    return Number.of(point.test, point.test_error), Number.of(point.train, point.train_error)


def _curve_point(point: Point) -> CurvePoint:
    test, train = _numbers(point)
    return CurvePoint({"step": Number.of(Fraction(point.step)), "test": test, "train": train})


def _simulated_point(run: Simulated) -> CurvePoint:
    step = Number.of(Fraction(run.step))
    return CurvePoint({"step": step, "test": Number.of(run.test), "train": Number.of(run.train), "trials": run.test.n})


def _finite_size(found: FiniteSize) -> CurvePoint:
    test, train = _numbers(found.point)
    start, _ = _numbers(found.random_features)
    return CurvePoint({"dim": found.dim, "test": test, "train": train, "random_features": start, "gain": start - test})


def risk(
    activation: Activation,
    link: Link,
    *,
    samples: Annotated[Numeric, Real("n/d of the ridge fit", "PSI1", **_RATIO)],
    ridge: Annotated[Numeric, Real("ridge, (LAM/N)|th|^2 on features over sqrt N", "LAM", low=0, sized=True)],
    width: Annotated[Numeric | None, Real("N/d", "PSI2", **_RATIO)] = None,
    step: Annotated[Numeric | None, Argument("step size, or a curve a:b:n", "ETA", curve=True)] = None,
    batch: Annotated[Numeric | None, Real("n1/d of the step's batch (without it --samples)", "ALPHA", **_RATIO)] = None,
    noise: SizedNoise = 0,
    dim: Annotated[
        Numeric | None,
        Count("finite dimension: steps up to Theta(sqrt N)", "D", low=2, high=MAX_NEURONS, group=_FINITE),
    ] = None,
    readout: Annotated[str, Word("law of the readout", words=READOUTS, group=_FINITE)] = "gaussian",
    simulate: Annotated[
        Numeric | None,
        Count("simulated networks at up to 7 step sizes", "TRIALS", low=2, high=10_000, group=_FINITE),
    ] = None,
    seed: Seed = 0,
    from_weights: Annotated[
        str | None, File("risk of given weights (.npy, one neuron a row)", "FILE", group=_GIVEN)
    ] = None,
    spikes: Annotated[Numeric, Count("spike directions", "R", low=0, high=3, group=_GIVEN)] = 1,
    target: Annotated[str | None, File("the target's direction (.npy)", "FILE", group=_GIVEN)] = None,
) -> RiskResult:
    """Test and training risk of ridge regression on the features after one gradient step.

    Formula: theory.risk.ridge.test_risk and train_risk; with `dim` the fixed point of numerics.risk.conditional_limit;
    with `from_weights` conditional Gaussian equivalence (numerics.risk.conditional).
    Valid for: the proportional limit. Without `dim` the step is Theta(1): proved for odd activations with bounded
    derivatives and a centred link, else conjectured (`status`). With `dim` the step is a number at width N = psi2 d,
    of any size up to Theta(sqrt N).
    Shapes/units: samples = n/d, width = N/d, batch = n1/d of the step (default: samples); paper O's ridge and step.
    `step` is a number or a curve "a:b:n"; noise is a standard deviation.
    Convention: `test` excludes the noise, `train` includes it; a curve's single numbers are those of its last step.
    Accuracy: `errors` bounds the error of each number as a value of the formula (rounding, constants, quadrature), not
    what a network of finite size deviates from it: O(1/sqrt N), its mean O(1/N) with a factor that can be huge. So the
    limit stands beside its value at d = 1000 (`finite_size`), and a note warns where they differ by 5 per cent.
    Errors: InputError; ConvergenceError.
    Source: O3, O4; L1.

    Example:

    >>> found = bulkedge.risk("tanh", "z", samples=2, width=1, ridge="1/10", step=1)
    >>> f"{found.random_features:.6f}", f"{found.test:.6f}"
    ('0.438275', '0.355028')
    """
    given = read(risk, locals())
    from bulkedge.commands.risk_inputs import check_inputs

    inputs = check_inputs(given)
    if inputs.weights is not None:
        return _from_weights(inputs)
    return _finite(inputs) if inputs.dim is not None else _limit(inputs)


def _limit(inputs: Any) -> RiskResult:
    """eta = Theta(1): the closed form, or (case `norms`) the extrapolated fixed point."""
    import numpy as np

    from bulkedge.numerics.risk.pair import case, pair, ridge_constants
    from bulkedge.numerics.risk.ridge_error import ridge_risk_with_error
    from bulkedge.theory.numbers.errors import InputError

    kind = case(inputs.activation, inputs.link)
    c, activation_error, link_error = ridge_constants(inputs.activation, inputs.link)
    steps = [*inputs.steps, 0.0]
    problem = _problem(inputs)
    if max(steps) > 0:
        pair(inputs.activation, inputs.link)  # refuses an activation whose gradient is not defined
    if kind.name == "norms":
        from bulkedge.numerics.risk.conditional_limit import small_step_risk

        if inputs.ridge == 0:
            raise InputError("ridge", "is 0 where the link's mean is fitted through |w_j|^2", "give a ridge above 0")
        if len(steps) > MAX_SOLVED:
            raise InputError("step", f"{len(steps)} points in this case of means", f"give at most {MAX_SOLVED}")
        functions = pair(inputs.activation, inputs.link)
        points = []
        for eta in steps:
            test, train, error = small_step_risk(functions, replace(problem, eta=eta))
            points.append(Point(eta, test - inputs.noise**2, train, error, error))
        parts: tuple[tuple[str, float, float], ...] = ()
    else:
        curve = replace(problem, eta=np.array(steps))
        value, errors = ridge_risk_with_error(c, curve, activation_error, link_error)
        rows = zip(steps, value.test, value.train, errors["test"], errors["train"], strict=True)
        points = [Point(*map(float, row)) for row in rows]
        names = {"bias": "bias", "variance": "variance", "effective_ridge": "kappa"}
        parts = tuple((key, float(getattr(value, f)[-2]), float(errors[f][-2])) for key, f in names.items())
    notes = [kind.reason, "limit d, n, N -> infinity at eta = Theta(1)"]
    near = _near_the_limit(inputs)
    far, text = _distance(points[-2].test, points[-1].test, near, inputs.noise)
    notes.insert(0 if far else len(notes), text)
    if kind.name == "unfitted":
        notes.append("the floor of linear models is mu2*^2 + mu0*^2 here")
    return RiskResult(
        inputs=inputs.echo,
        setting=_SETTING,
        source=("O3",) if kind.name != "norms" else ("O3", "L1"),
        notes=tuple(notes),
        point=points[-2],
        start=points[-1],
        level=float(c.linear_floor()),
        beyond=float(c.floor()),
        constants_error=link_error,
        status="proved" if kind.proved else "conjectured",
        parts=parts,
        points=tuple(points[:-1]) if inputs.is_curve else (),
        near=near,
    )


def _problem(inputs: Any, eta: float = 0.0) -> RidgeProblem:
    from bulkedge.numerics.risk.ridge_problem import RidgeProblem

    return RidgeProblem(inputs.samples, inputs.width, inputs.ridge, eta, inputs.batch, inputs.noise)


def _near_the_limit(inputs: Any) -> FiniteSize | None:
    """The last step and step 0 at d = TYPICAL; None where the fixed point has no value there."""
    from bulkedge.numerics.risk.pair import pair
    from bulkedge.theory.numbers.errors import ConvergenceError, InputError

    neurons = round(inputs.width * _TYPICAL)
    if inputs.ridge == 0 or neurons < 1:
        return None
    try:
        functions = pair(inputs.activation, inputs.link)
        return FiniteSize(_TYPICAL, *(_at(inputs, functions, eta, neurons) for eta in (inputs.steps[-1], 0.0)))
    except (ConvergenceError, InputError):  # an activation that jumps, a ridge that is too small
        return None


def _distance(test: float, start: float, near: FiniteSize | None, noise: float) -> tuple[bool, str]:
    """Whether a network of dimension TYPICAL is far from the limit, and how far in words, computed."""
    if near is None:
        return False, "error: of the limit's value; no finite size is computed beside it (no ridge, or a jump)"
    pairs = ((near.point.test, test), (near.random_features.test, start))
    if not all(b + noise**2 for _, b in pairs):  # a constant link: nothing to be far from, relatively
        return False, (
            f"error: of the limit's value, which is 0; at d = {_TYPICAL} a network's mean is {short(near.point.test)} "
            f"({short(near.random_features.test)} at step 0) (L1; --dim for other sizes)"
        )
    gap = max(abs(a - b) / (b + noise**2) for a, b in pairs)
    size = f"{short(100 * gap, 2)} per cent" if gap < 1 else f"a factor of {short(1 + gap, 2)}"
    text = (
        f"error: of the limit's value; at d = {_TYPICAL} a network's mean is {short(near.point.test)} "
        f"({short(near.random_features.test)} at step 0), {size} away (L1; --dim for other sizes)"
    )
    if gap <= _FAR:
        return False, text
    # Where the first finite-size term rules it is c/d.
    reach = (
        f"within {round(100 * _FAR)} per cent from d of about {short(_TYPICAL * gap / _FAR, 1)} on"
        if gap < 1
        else "use --dim"
    )
    return True, f"WARNING, a limit far from usual sizes: {reach}. {text}"


def _at(inputs: Any, functions: Any, eta: float, neurons: int) -> Point:
    """The fixed point at one step size, with the change between two numbers of nodes as its error."""
    from bulkedge.numerics.risk.conditional_limit import one_step_risk

    problem = _problem(inputs, eta)
    fine, coarse = (
        one_step_risk(functions, problem, neurons, readout=inputs.readout, count=count) for count in (56, 40)
    )
    floor = 1e-10 * fine.test
    errors = (abs(fine.test - coarse.test) + floor, abs(fine.train - coarse.train) + floor)
    return Point(eta, fine.test - inputs.noise**2, fine.train, *errors)


def _finite(inputs: Any) -> RiskResult:
    """A finite dimension: the uniform fixed point, and simulation if asked for."""
    from bulkedge.numerics.risk.pair import case, pair, ridge_constants

    functions = pair(inputs.activation, inputs.link)
    c, _, link_error = ridge_constants(inputs.activation, inputs.link)
    points = [_at(inputs, functions, eta, inputs.neurons) for eta in [*inputs.steps, 0.0]]
    notes = [
        "conjectured: conditional Gaussian equivalence with the covariance of the step's batch",
        f"error: of the formula's value; the mean over networks at d = {inputs.dim}, N = {inputs.neurons} has further "
        "terms of relative order 1/d (--simulate)",
    ]
    if functions.curvature and max(inputs.steps) ** 2 > inputs.neurons / 4:
        notes.append(
            "E sigma'' is not 0: at a step of order sqrt N the correlation of the step's rest with W0 is left out "
            "(gelu at 2 sqrt N: two or three per cent of the training error); --from-weights has it"
        )
    norms = case(inputs.activation, inputs.link).name == "norms"
    return RiskResult(
        inputs=inputs.echo,
        setting=_SETTING,
        source=("L1", "O3"),
        notes=tuple(notes),
        point=points[-2],
        start=points[-1],
        level=float(c.linear_floor()),
        beyond=float(c.linear_floor() if norms else c.floor()),
        constants_error=link_error,
        points=tuple(points[:-1]) if inputs.is_curve else (),
        runs=_simulate(inputs),
    )


def _simulate(inputs: Any) -> tuple[Simulated, ...]:
    if inputs.trials is None:
        return ()
    from bulkedge.numerics.risk.simulated_risk import simulated_risk
    from bulkedge.numerics.trials.runner import Runner
    from bulkedge.results.progress import RichProgress

    count = min(7, len(inputs.steps))
    chosen = sorted({round(i * (len(inputs.steps) - 1) / max(1, count - 1)) for i in range(count)})
    results = []
    with RichProgress() as progress:
        runner = Runner(seed=inputs.seed, progress=progress)
        for index in chosen:
            estimates = simulated_risk(
                runner, inputs.dim, inputs.trials, **inputs.texts, step=inputs.step_texts[index], readout=inputs.readout
            )
            results.append(Simulated(inputs.steps[index], estimates["test"], estimates["train"]))
    return tuple(results)


def _from_weights(inputs: Any) -> RiskResult:
    """L1 for a user's own weights: the spikes are the leading singular directions."""
    import numpy as np

    from bulkedge.numerics.functions.functions import vectorised
    from bulkedge.numerics.risk.conditional import NODES, conditional_model, conditional_risk
    from bulkedge.numerics.risk.pair import ridge_constants

    W = inputs.weights.T  # d x N
    d, neurons = W.shape
    U = np.linalg.svd(W, full_matrices=False)[0]
    directions = U[:, : inputs.spikes]
    beta = U[:, 0] if inputs.target is None else inputs.target
    n = max(1, round(inputs.samples * d))
    c, _, link_error = ridge_constants(inputs.activation, inputs.link)

    def at(directions: Any, weights: Any, scale: float) -> Any:
        count = max(1, round(scale * NODES[directions.shape[1]]))
        model = conditional_model(
            weights,
            directions,
            beta,
            vectorised(inputs.activation),
            vectorised(inputs.link),
            noise=inputs.noise,
            kinks=[float(b) for b in inputs.activation.kinks],
            link_kinks=[float(b) for b in inputs.link.kinks],
            count=count,
        )
        return conditional_risk(model, n, inputs.ridge)

    fine, coarse = at(directions, W, 1.0), at(directions, W, 0.75)
    rest = W - directions @ (directions.T @ W)
    rest = rest * np.linalg.norm(W, axis=0) / np.linalg.norm(rest, axis=0)
    blank = at(directions[:, :0], rest, 1.0)
    floor = 1e-9 * fine.test
    errors = (abs(fine.test - coarse.test) + floor, abs(fine.train - coarse.train) + floor)
    point = Point(0.0, fine.test - inputs.noise**2, fine.train, *errors)
    reference = Point(0.0, blank.test - inputs.noise**2, blank.train, 1e-9 * blank.test, 1e-9 * blank.train)
    notes = [
        "conjectured: Gaussian equivalence given the inputs along the spike directions",
        f"d = {d}, N = {neurons}, n = {n}; the deviation of one training sample's risk from this mean is O(1/sqrt n)",
        "random_features: the same weights with the spike directions projected out and the norms restored",
    ]
    if inputs.target is None:
        notes.append("no --target: the link acts along the leading singular direction of the weights")
    return RiskResult(
        inputs=inputs.echo,
        setting="weights: one neuron a row; (1/n)|y - Phi th|^2 + (ridge/N)|th|^2, Phi = sigma(X W^T)/sqrt N",
        source=("L1",),
        notes=tuple(notes),
        point=point,
        start=reference,
        level=float(c.linear_floor()),
        beyond=float(c.floor()),
        constants_error=link_error,
    )
