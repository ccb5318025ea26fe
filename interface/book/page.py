"""The report: one self-contained page with the state of every statement. No network, no external script."""

from __future__ import annotations

import importlib.resources
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

import sympy as sp

from bulkedge import registry
from bulkedge.book.bibliography import BIBLIOGRAPHY, cited
from bulkedge.derivations.engine.derivation import named
from bulkedge.results.mathml import formula
from bulkedge.results.number import short
from bulkedge.results.svg import comparison, convergence

if TYPE_CHECKING:
    from bulkedge.book.selection import Entry
    from bulkedge.derivations.engine.derivation import Verified
    from bulkedge.numerics.trials.check import CheckResult
    from bulkedge.numerics.trials.estimate import Estimate

FILES = importlib.resources.files("bulkedge.book")


def papers(entry: Entry) -> tuple[str, ...]:
    """The letters of the papers that an entry's sources name; "other" where none is."""
    return cited(entry.sources) or ("other",)


def verdict(results: Sequence[CheckResult]) -> str:
    """The worst verdict of a statement's checks: REFUTED, BLIND, CONFIRMED, or none where there is no check."""
    verdicts = {r.verdict.value for r in results}
    if any(r.verdict.value == "CONFIRMED" and not r.passed for r in results):
        verdicts.add("BLIND")  # a control that was not refuted: the check could not have seen the error
    return next((v for v in ("REFUTED", "BLIND", "CONFIRMED") if v in verdicts), "none")


def _chip(value: str) -> str:
    shown, kind = ("no check", "unchecked") if value == "none" else (value, value)
    return f'<span class="chip {kind}">{shown}</span>'


def _measured(m: Estimate) -> str:
    if m.stderr == 0:
        return f"{short(m.value, 8)} by a second route, error at most {short(m.bias, 2)}"
    bias = f", systematic error at most {short(m.bias, 2)}" if m.bias > 1e-3 * m.stderr else ""
    return f"{short(m.value, 8)} &plusmn; {short(m.stderr, 2)} (standard error of {m.n} trials){bias}"


def _check(result: CheckResult, command: str, seed: int) -> str:
    c, m, wrong = result.check, result.measured, short(result.control_predicted, 8)
    rows = {
        "predicted": short(result.predicted, 8),
        "measured": _measured(m),
        "smallest error that matters": short(c.resolution, 2),
        "negative control": f"{escape(c.control.mistake)}: {wrong}, {result.control.value}",
        "seed": "not used" if m.stderr == 0 else str(seed),
        "source": escape(c.source),
        "reproduce": f"<code>{escape(command)}</code>",
    }
    body = "".join(f"<dt>{key}</dt><dd>{value}</dd>" for key, value in rows.items())
    return (
        f'<section class="check" id="{escape(c.id)}"><h3>{escape(c.id)} {_chip(result.verdict.value)}</h3>'
        f'<p>{escape(c.claim)}</p><div class="pictures">{comparison(result)}{convergence(result)}</div>'
        f"<dl>{body}</dl></section>"
    )


def _derivation(verified: Verified) -> str:
    steps = []
    for step, relation, way in verified.steps:
        evidence = "" if way == "start" else f' <span class="soft">[{escape(way)}]</span>'
        sign = f"{escape(relation.plain)} " if relation.plain else ""
        name = named(relation)
        shown = step.expression if name is None else sp.Eq(name, step.expression, evaluate=False)
        steps.append(f"<li>{sign}{escape(step.reason)}{evidence}{formula(shown)}</li>")
    d = verified.derivation
    return (
        f"<details><summary>Derivation {escape(d.id)}: {escape(d.title)} ({escape(verified.how)})</summary>"
        f"<ol>{''.join(steps)}</ol></details>"
    )


def _statement(
    st: Entry, derived: Sequence[Verified], results: Sequence[CheckResult], commands: dict[str, str], seed: int
) -> str:
    state = verdict(results)
    items = "".join(f"<li>{escape(a)}</li>" for a in st.assumptions)
    errata = "".join(
        f"<p><strong>Erratum.</strong> Printed: {escape(e.printed)}. Found: {escape(e.found)}. "
        f"Corrected: {escape(e.corrected)}. Evidence: {escape(', '.join(e.evidence))}.</p>"
        for e in st.errata
    )
    return (
        f'<article id="{escape(st.id)}" data-papers="{" ".join(papers(st))}" data-verdict="{state}">'
        f"<h2>{escape(st.id)} {escape(st.title)} {_chip(state)}</h2>{''.join(map(formula, st.claims))}"
        f"<ul>{items}</ul><p class='soft'>{escape(st.status)}; {escape('; '.join(st.sources))}</p>{errata}"
        + "".join(_derivation(v) for v in derived)
        + "".join(_check(r, commands[r.check.id], seed) for r in results)
        + "</article>"
    )


def _row(st: Entry, results: Sequence[CheckResult]) -> str:
    state = verdict(results)
    return (
        f'<tr data-papers="{" ".join(papers(st))}" data-verdict="{state}"><th scope="row"><a href="#{escape(st.id)}">'
        f"{escape(st.id)}</a></th><td>{escape(st.title)}</td><td>{_chip(state)}</td>"
        f"<td>{sum(r.passed for r in results)} of {len(results)}</td></tr>"
    )


def page(
    entries: Sequence[Entry],
    derived: Sequence[Verified],
    results: Sequence[CheckResult],
    commands: dict[str, str],
    version: str,
    seed: int,
    full: bool = False,
) -> str:
    """The whole page. `commands` maps a check's ID to the command that reproduces it."""
    body, rows = [], []
    for st in entries:
        mine = [v for v in derived if registry.owner(v.derivation.id) == st.id]
        checked = [r for r in results if registry.owner(r.check.id) == st.id]
        body.append(_statement(st, mine, checked, commands, seed))
        rows.append(_row(st, checked))
    keys = list(dict.fromkeys(key for st in entries for key in papers(st)))
    options = "".join(f'<option value="{k}">{_paper_name(k)}</option>' for k in keys)
    passed = sum(r.passed for r in results)
    heads = "".join(f'<th scope="col">{head}</th>' for head in ("ID", "statement", "verdict", "checks passed"))
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
        "script-src 'unsafe-inline'; img-src data:\">"
        '<link rel="icon" href="data:,"><title>bulkedge: the state of every statement</title>'
        f"<style>{_file('page.css')}</style><noscript><style>form{{display:none}}</style></noscript></head>"
        '<body><a class="skip" href="#statements">Skip to the statements</a>'
        "<header><h1>The state of every statement</h1>"
        f'<p class="soft">bulkedge {escape(version)}; seed {seed}{", full run" if full else ""}. '
        f"{passed} of {len(results)} checks are confirmed with a refuted negative control. In the pictures the blue "
        "line is the prediction, the band around it the smallest error that matters, the dot and its bar the "
        "measurement with its margin, the dashed orange line or the arrow the negative control's wrong prediction."
        '</p></header><form aria-label="filters"><label>Paper<select name="paper"><option value="">all</option>'
        f'{options}</select></label><label>Verdict<select name="verdict"><option value="">all</option>'
        "<option>CONFIRMED</option><option>REFUTED</option><option>BLIND</option>"
        '<option value="none">no check</option></select></label><button type="reset">Show all</button>'
        '<span id="count" role="status" class="soft"></span></form>'
        f'<nav aria-label="contents"><details><summary>Contents: {len(entries)} statements and their verdicts</summary>'
        f"<table><thead><tr>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table></details></nav>"
        '<main id="statements" tabindex="-1"><p class="none" hidden>No statement fits these filters. '
        f"Choose another paper or verdict, or show all.</p>{''.join(body)}</main>"
        f"<script>{_file('page.js')}</script></body></html>\n"
    )


def _file(name: str) -> str:
    return (FILES / name).read_text(encoding="utf-8")


def _paper_name(key: str) -> str:
    if key == "other":
        return "other"
    authors, title, _ = BIBLIOGRAPHY[key]
    return escape(f"{key}: {authors.split(',')[0] or title[:40]}")
