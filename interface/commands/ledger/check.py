"""`bulkedge check`: run the ledger of checks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from bulkedge.arguments import Argument, Flag, Progress, Seed, read
from bulkedge.commands import workers
from bulkedge.results.number import resolved, short
from bulkedge.results.quantities import Float, Measurement
from bulkedge.results.result import Result, Table

if TYPE_CHECKING:
    from bulkedge.derivations.engine.derivation import Derivation
    from bulkedge.derivations.engine.verdict import Judged
    from bulkedge.numerics.trials.check import Check, CheckResult
    from bulkedge.theory.numbers.statement import Erratum


@dataclass(frozen=True)
class CheckReport(Result):
    """The outcome of a run of the ledger: one CheckResult per check, one Judged per derivation of a user's own file."""

    command: ClassVar[str] = "check"
    results: tuple[CheckResult, ...]
    errata: tuple[tuple[str, Erratum], ...] = ()
    derivations: tuple[Judged, ...] = ()

    @property
    def exit_status(self) -> int:
        """0 iff every check and derivation is CONFIRMED and every control REFUTED."""
        return 0 if self._passed() == len(self.results) + len(self.derivations) else 1

    def _passed(self) -> int:
        return sum(r.passed for r in self.results) + sum(j.passed for j in self.derivations)

    def quantities(self) -> dict[str, Any]:
        """`checks`: list of id, claim, predicted, measured, stderr, verdict, control (and margin, resolution, ...).

        A derivation predicts the number of its steps and claims, and measures how many of them hold.
        """
        return {
            "checks": [*map(_checked, self.results), *map(_derived, self.derivations)],
            **({"errata": self._errata()} if self.errata else {}),
            "passed": self._passed(),
            "failed": len(self.results) + len(self.derivations) - self._passed(),
        }

    def _errata(self) -> list[dict[str, Any]]:
        """The errata with the verdicts on their evidence."""
        verdicts = {r.check.id: {"verdict": r.verdict.value, "control": r.control.value} for r in self.results}
        return [
            {
                "statement": id,
                "printed": e.printed,
                "found": e.found,
                "corrected": e.corrected,
                "evidence": [{"id": check_id, **verdicts[check_id]} for check_id in e.evidence],
            }
            for id, e in self.errata
        ]

    def _errata_table(self) -> Table:
        columns = ("statement", "printed", "found", "corrected", "evidence")
        rows = tuple(
            (
                e["statement"],
                e["printed"],
                e["found"],
                e["corrected"],
                "; ".join(f"{x['id']} {x['verdict']} (control {x['control']})" for x in e["evidence"]),
            )
            for e in self._errata()
        )
        return Table(columns, rows, f"errata: {len(rows)} printed statements and what the checks found")

    def tables(self) -> tuple[Table, ...]:
        """One row per check, then per derivation; with errata, these first."""
        columns = (
            "ID",
            "claim",
            "predicted",
            "measured",
            "error",
            "verdict",
            "negative control",
            "it predicts",
            "verdict on it",
        )
        rows = tuple(
            (
                r.check.id,
                r.check.claim,
                resolved(r.predicted, r.check.resolution),
                resolved(r.measured.value, r.check.resolution),
                short(r.measured.stderr or r.measured.bias, 1),
                r.verdict.value,
                r.check.control.mistake,
                resolved(r.control_predicted, r.check.resolution),
                r.control.value,
            )
            for r in self.results
        )
        rows += tuple(
            (
                j.derivation.id,
                f"{j.derivation.title}: steps and claims that hold"
                + (f" ({j.evidence})" if j.verdict.value == "CONFIRMED" else ""),
                str(j.parts),
                str(j.held),
                "0",
                j.verdict.value,
                _mistake(j),
                str(j.parts),
                j.control.value,
            )
            for j in self.derivations
        )
        failed = [r.check.id for r in self.results if not r.passed]
        failed += [j.derivation.id for j in self.derivations if not j.passed]
        title = f"{len(rows) - len(failed)} passed, {len(failed)} failed" + (f": {', '.join(failed)}" if failed else "")
        return (*((self._errata_table(),) if self.errata else ()), Table(columns, rows, title))

    def latex(self) -> str:
        """An array of IDs, predictions and measurements."""
        from bulkedge.derivations.engine.latex import decimal
        from bulkedge.derivations.engine.render import escape
        from bulkedge.results.checked import measured

        lines = [
            rf"\text{{{escape(r.check.id)}}} & {decimal(short(r.predicted, 6))} & {measured(r.measured, 6).latex} & "
            rf"\text{{{r.verdict.value}}}"
            for r in self.results
        ]
        lines += [
            rf"\text{{{escape(j.derivation.id)}}} & {j.parts} & {j.held} & \text{{{j.verdict.value}}}"
            for j in self.derivations
        ]
        body = r" \\ ".join(lines)
        return rf"\begin{{array}}{{lrrl}} {body} \end{{array}}"


def _mistake(judged: Judged) -> str:
    return f"a mistake planted in step {judged.planted}"


def _checked(r: CheckResult) -> Measurement:
    """The JSON of a check."""
    from bulkedge.results.checked import measured

    found = measured(r.measured)
    return Measurement(
        {
            "id": r.check.id,
            "claim": r.check.claim,
            "source": r.check.source,
            "predicted": Float(r.predicted),
            # A second route has no standard error; the bound of its error is its bias.
            "measured": found if found.measured else Float(r.measured.value),
            **({} if found.measured else {"stderr": "0"}),
            "bias": Float(r.measured.bias),
            "trials": r.measured.n,
            "resolution": Float(r.check.resolution),
            "verdict": r.verdict.value,
            "control": r.control.value,
            "control_mistake": r.check.control.mistake,
            "control_predicted": Float(r.control_predicted),
        }
    )


def _derived(j: Judged) -> Measurement:
    """The JSON of a derivation: it predicts the number of its steps and claims."""
    return Measurement(
        {
            "id": j.derivation.id,
            "claim": f"{j.derivation.title}: every step and claim holds",
            "source": j.derivation.source,
            "predicted": str(j.parts),
            "measured": str(j.held),
            "stderr": "0",
            "bias": "0",
            "trials": 1,
            "resolution": "1",
            "verdict": j.verdict.value,
            "control": j.control.value,
            "control_mistake": _mistake(j),
            "control_predicted": str(j.parts),
            "evidence": j.evidence,
        }
    )


def select(names: Sequence[str]) -> tuple[tuple[Check, ...], tuple[Derivation, ...]]:
    """The checks whose ID is named, or begins with a name and a dot, or with a prefix such as "H"; a paper's letter
    ("F") means those of every statement with that source as well; a name that ends in ".py" is a file of
    the user's own checks and derivations (whole, unless IDs of its own are named beside it).
    No name: the whole ledger.

    Errors: InputError for a name that matches nothing, and for a file without checks and derivations.
    """
    from bulkedge import registry
    from bulkedge.book.selection import gather

    if not names:
        return registry.checks(), ()
    kinds: dict[str, Sequence[Any]] = {"CHECKS": registry.checks(), "DERIVATIONS": ()}
    found = gather(names, kinds, "no check", "checks exist for")
    return tuple(found["CHECKS"].values()), tuple(found["DERIVATIONS"].values())


def select_errata(names: Sequence[str]) -> tuple[tuple[str, Erratum], ...]:
    """The errata of the statements whose ID begins with one of the names, or whose paper it is; all without names.

    Errors: InputError where there is none.
    """
    from bulkedge import registry
    from bulkedge.theory.numbers.errors import InputError

    found = tuple((s.id, e) for s in registry.statements() for e in s.errata)
    from bulkedge.book.selection import matching, of_paper

    ids = {id for id, _ in found}
    wanted = ids if not names else {id for name in names for id in matching(name, ids) | of_paper(name)}
    chosen = tuple((id, e) for id, e in found if id in wanted)
    if not chosen:
        known = ", ".join(dict.fromkeys(id for id, _ in found))
        raise InputError("ID", f"no erratum belongs to {', '.join(names)[:40]!r}", f"errata exist for {known}")
    return chosen


def check(
    names: Annotated[
        str | Sequence[str],
        Argument(
            "statement IDs, prefixes of check IDs, a paper's letter (F, T, O, M), or FILE.py",
            "ID",
            place=True,
            many=True,
        ),
    ] = (),
    *,
    full: Annotated[bool, Flag("more trials and larger sizes")] = False,
    seed: Seed = 0,
    jobs: workers.EveryCore = 1,
    store: workers.KeptIn = None,
    cluster: workers.Cluster = None,
    errata: Annotated[bool, Flag("the printed statements found wrong, and their evidence")] = False,
    progress: Progress | None = None,
) -> CheckReport:
    """Run the ledger of checks, or the named ones, each with its negative control.

    All trials go through one pool of `jobs` worker processes, or of the Dask cluster whose scheduler is at `cluster`
    (or inside joblib.parallel_config(backend="dask")); the numbers do not depend on it. `store` keeps finished trials,
    so that a run that was killed goes on. `errata` runs the evidence of the errata (of the named statements) and lists
    what was printed, found and corrected. The derivations of a user's own file are verified step by step, with a
    planted mistake as their control.
    Accuracy: a check is CONFIRMED iff |measured - predicted| <= 4 stderr + bias < resolution (numerics.trials.check).
    Errors: InputError for unknown names, a seed, a number of jobs, a cluster or a store that is not usable.

    Example:

    >>> [(r.check.id, r.verdict.value, r.control.value) for r in bulkedge.check(["H4"]).results]
    [('H4', 'CONFIRMED', 'REFUTED')]
    """
    asked = read(check, locals())
    from bulkedge import registry
    from bulkedge.book.selection import given

    names, errata, seed = given(names), asked.errata, asked.seed
    found = select_errata(names) if errata else ()
    derived: tuple[Derivation, ...] = ()
    if errata:
        chosen = tuple(c for c in registry.checks() if any(c.id in e.evidence for _, e in found))
    else:
        chosen, derived = select(names)
    how = {name: getattr(asked, name) for name in ("full", "seed", "jobs", "store", "cluster")}
    results = run_selected(chosen, **how, progress=progress)
    inputs = {"names": [*names], **how, "errata": errata}
    setting = f"seed {seed}; margin = 4 standard errors + bias"
    judged = tuple(_judged(d) for d in derived)
    ids = [*(r.check.id for r in results), *(d.id for d in derived)]
    notes = tuple(j.evidence for j in judged if j.verdict.value != "CONFIRMED")
    return CheckReport(inputs, setting, tuple(dict.fromkeys(map(registry.owner, ids))), notes, results, found, judged)


def _judged(derivation: Derivation) -> Judged:
    """The verdict on a user's derivation; what fails in the user's own code is unusable input."""
    from bulkedge.derivations.engine.derivation import DerivationError
    from bulkedge.derivations.engine.verdict import judge
    from bulkedge.numerics.trials import own_code
    from bulkedge.theory.numbers.errors import InputError

    try:
        return judge(derivation)
    except (DerivationError, InputError):
        raise
    except Exception as error:
        raise own_code.blamed(f"the derivation {derivation.id}", derivation.steps, error) or error from error


def run_selected(
    chosen: Sequence[Check],
    *,
    full: bool = False,
    seed: int = 0,
    jobs: int = 1,
    store: str | None = None,
    cluster: str | None = None,
    progress: Progress | None = None,
) -> tuple[CheckResult, ...]:
    """Run these checks (as `check` does, for the book and the report too).

    Errors: InputError for a seed, a number of jobs, a cluster or a store that is not usable.
    """
    from bulkedge.numerics.trials.check import run_checks
    from bulkedge.numerics.trials.runner import current_runner
    from bulkedge.theory.functions.parse import flag, integer

    seed, full = integer(seed, "seed", minimum=0), flag(full, "full")
    with workers.workers(jobs, cluster, store, progress):
        return run_checks(chosen, current_runner(seed), full)
