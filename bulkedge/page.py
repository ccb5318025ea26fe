"""The report: one self-contained page with the state of every statement. No network, no external script."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import sympy as sp

from bulkedge import registry
from bulkedge.bibliography import BIBLIOGRAPHY
from bulkedge.svg import comparison, convergence
from derivations.derivation import named
from derivations.latex import latex

if TYPE_CHECKING:
    from bulkedge.selection import Entry
    from derivations.derivation import Verified
    from numerics.check import CheckResult
    from numerics.estimate import Estimate

STYLE = """
:root{--ink:#1b1b1b;--soft:#5a5a5a;--line:#d5d5d5;--back:#fff;--card:#f7f7f5;--good:#00704f;--bad:#b3261e;--blind:#8a5a00;
--blue:#0072b2;--orange:#d55e00}
@media screen and (prefers-color-scheme:dark){:root{--ink:#ececec;--soft:#b0b0b0;--line:#444;--back:#161616;
--card:#202020;--good:#4cc99a;--bad:#ff8a80;--blind:#f0b850;--blue:#56b4e9;--orange:#f09050}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:62rem;padding:1rem;font:16px/1.5 system-ui,sans-serif;
color:var(--ink);background:var(--back)}
h1{font-size:1.5rem;margin:.5rem 0}h2{font-size:1.15rem;margin:0 0 .5rem}h3{font-size:1rem;margin:1rem 0 .25rem}
.soft{color:var(--soft);font-size:.9rem}
form{position:sticky;top:0;background:var(--back);padding:.5rem 0;border-bottom:1px solid var(--line);display:flex;
flex-wrap:wrap;gap:.75rem;align-items:end;z-index:1}
label{display:flex;flex-direction:column;font-size:.85rem}
select{font:inherit;padding:.35rem;min-height:2.5rem;color:inherit;background:var(--card);border:1px solid var(--soft);
border-radius:4px}
:focus-visible{outline:3px solid var(--blue);outline-offset:2px}
article{border:1px solid var(--line);border-radius:6px;padding:1rem;margin:1rem 0;background:var(--card)}
article[hidden]{display:none}
.formula{overflow-x:auto;overflow-y:hidden;padding:.35rem 0;max-width:100%}
math{font-size:1.1rem}
.chip{display:inline-block;border:1.5px solid currentColor;border-radius:1rem;padding:0 .6rem;font-size:.8rem;
font-weight:600}
.CONFIRMED{color:var(--good)}.REFUTED{color:var(--bad)}.BLIND{color:var(--blind)}.none{color:var(--soft)}
.check{border-top:1px solid var(--line);margin-top:.75rem;padding-top:.5rem}
.pictures{display:flex;flex-wrap:wrap;gap:1rem}
svg{max-width:100%;height:auto}svg text{font-size:11px;fill:var(--soft)}
svg .axis{stroke:var(--soft);stroke-width:1}svg .predicted{stroke:var(--blue);stroke-width:2.5;fill:none}
svg .wrong{stroke:var(--orange);stroke-width:2.5;stroke-dasharray:4 3}
svg line.measured{stroke:var(--ink);stroke-width:2}svg circle.measured{fill:var(--ink)}
code{background:var(--back);border:1px solid var(--line);border-radius:3px;padding:.1rem .3rem;overflow-wrap:anywhere}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.1rem .75rem;margin:.5rem 0}dt{color:var(--soft)}dd{margin:0;
overflow-wrap:anywhere}
summary{cursor:pointer;padding:.25rem 0}
ol{padding-left:1.4rem}
@media (max-width:34rem){dl{grid-template-columns:1fr}dt{margin-top:.3rem}article{padding:.75rem}}
@media print{form{position:static}form:not(.filtered),label{display:none}body{max-width:none}.formula{overflow:visible}
article{break-inside:avoid-page}.check{break-inside:avoid}}
"""

SCRIPT = """
const form=document.querySelector('form'),count=document.querySelector('#count');
function show(){
  const paper=form.paper.value,verdict=form.verdict.value;let n=0,all=0;
  for(const a of document.querySelectorAll('article')){
    a.hidden=!((!paper||a.dataset.papers.split(' ').includes(paper))&&(!verdict||a.dataset.verdict===verdict));
    all++;if(!a.hidden)n++;
  }
  const set=[paper&&'paper '+paper,verdict&&'verdict '+verdict].filter(Boolean).join(', ');
  form.classList.toggle('filtered',set!=='');
  count.textContent=n+(n===1?' statement':' statements')+' shown'+(set?' of '+all+': '+set:'');
}
form.addEventListener('change',show);
addEventListener('beforeprint',()=>{
  document.querySelectorAll('details').forEach(d=>d.open=true);
  document.body.style.width='40rem'; // paper cannot be scrolled: what is wider than it is set smaller
  for(const f of document.querySelectorAll('.formula'))
    if(f.scrollWidth>f.clientWidth)f.firstElementChild.style.fontSize=f.clientWidth/f.scrollWidth+'rem';
  document.body.style.width='';
});
addEventListener('afterprint',()=>document.querySelectorAll('math').forEach(m=>m.style.fontSize=''));
const wanted=new URLSearchParams(location.hash.slice(1));
for(const key of ['paper','verdict']){
  const value=wanted.get(key);
  if([...form[key].options].some(o=>o.value===value))form[key].value=value;
}
show();
"""


def mathml(expression: Any) -> str:
    """An expression as native MathML, by way of the one LaTeX printer."""
    from latex2mathml.converter import convert

    return f'<div class="formula" tabindex="0" role="group" aria-label="formula">{_math(convert, expression)}</div>'


def _math(convert: Any, expression: Any) -> str:
    return str(convert(latex(expression), display="block"))


def papers(entry: Entry) -> tuple[str, ...]:
    """The letters of the papers that an entry's sources name; "other" where none is."""
    keys = [key for source in entry.sources for key in re.findall(r"\b[A-Z]\d*\b", source.split(",")[0])]
    found = tuple(dict.fromkeys(key for key in keys if key in BIBLIOGRAPHY))
    return found or ("other",)


def verdict(results: Sequence[CheckResult]) -> str:
    """The worst verdict of a statement's checks: REFUTED, BLIND, CONFIRMED, or none where there is no check."""
    verdicts = {r.verdict.value for r in results}
    if any(r.verdict.value == "CONFIRMED" and not r.passed for r in results):
        verdicts.add("BLIND")  # a control that was not refuted: the check could not have seen the error
    return next((v for v in ("REFUTED", "BLIND", "CONFIRMED") if v in verdicts), "none")


def _chip(value: str) -> str:
    return f'<span class="chip {value}">{"no check" if value == "none" else value}</span>'


def _measured(m: Estimate) -> str:
    if m.stderr == 0:
        return f"{m.value:.8g} by a second route, error at most {m.bias:.2g}"
    bias = f", systematic error at most {m.bias:.2g}" if m.bias else ""
    return f"{m.value:.8g} &plusmn; {m.stderr:.2g} (standard error of {m.n} trials){bias}"


def _check(result: CheckResult, command: str) -> str:
    c, m = result.check, result.measured
    rows = {
        "predicted": f"{result.predicted:.8g}",
        "measured": _measured(m),
        "smallest error that matters": f"{c.resolution:.2g}",
        "negative control": f"{escape(c.control.mistake)}: {result.control_predicted:.8g}, {result.control.value}",
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
        steps.append(f"<li>{sign}{escape(step.reason)}{evidence}{mathml(shown)}</li>")
    d = verified.derivation
    return (
        f"<details><summary>Derivation {escape(d.id)}: {escape(d.title)} ({escape(verified.how)})</summary>"
        f"<ol>{''.join(steps)}</ol></details>"
    )


def _statement(st: Entry, derived: Sequence[Verified], results: Sequence[CheckResult], commands: dict[str, str]) -> str:
    state = verdict(results)
    items = "".join(f"<li>{escape(a)}</li>" for a in st.assumptions)
    errata = "".join(
        f"<p><strong>Erratum.</strong> Printed: {escape(e.printed)}. Found: {escape(e.found)}. "
        f"Corrected: {escape(e.corrected)}. Evidence: {escape(', '.join(e.evidence))}.</p>"
        for e in st.errata
    )
    return (
        f'<article id="{escape(st.id)}" data-papers="{" ".join(papers(st))}" data-verdict="{state}">'
        f"<h2>{escape(st.id)} {escape(st.title)} {_chip(state)}</h2>{''.join(map(mathml, st.claims))}"
        f"<ul>{items}</ul><p class='soft'>{escape(st.status)}; {escape('; '.join(st.sources))}</p>{errata}"
        + "".join(_derivation(v) for v in derived)
        + "".join(_check(r, commands[r.check.id]) for r in results)
        + "</article>"
    )


def page(
    entries: Sequence[Entry],
    derived: Sequence[Verified],
    results: Sequence[CheckResult],
    commands: dict[str, str],
    version: str,
    setting: str,
) -> str:
    """The whole page. `commands` maps a check's ID to the command that reproduces it."""
    body = []
    for st in entries:
        mine = [v for v in derived if registry.owner(v.derivation.id) == st.id]
        checked = [r for r in results if registry.owner(r.check.id) == st.id]
        body.append(_statement(st, mine, checked, commands))
    keys = list(dict.fromkeys(key for st in entries for key in papers(st)))
    options = "".join(f'<option value="{k}">{_paper_name(k)}</option>' for k in keys)
    passed = sum(r.passed for r in results)
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
        "script-src 'unsafe-inline'; img-src data:\">"
        '<link rel="icon" href="data:,"><title>bulkedge: the state of every statement</title>'
        f"<style>{STYLE}</style></head><body><header><h1>The state of every statement</h1>"
        f'<p class="soft">bulkedge {escape(version)}; {escape(setting)}. {passed} of {len(results)} checks are '
        "confirmed with a refuted negative control. In the pictures the blue line is the prediction, the black bar the "
        "measurement with its margin, the dashed orange line the negative control's wrong prediction.</p></header>"
        f'<form aria-label="filters"><label>Paper<select name="paper"><option value="">all</option>{options}</select>'
        '</label><label>Verdict<select name="verdict"><option value="">all</option><option>CONFIRMED</option>'
        '<option>REFUTED</option><option>BLIND</option><option value="none">no check</option></select></label>'
        f'<span id="count" role="status" class="soft"></span></form><main>{"".join(body)}</main>'
        f"<script>{SCRIPT}</script></body></html>\n"
    )


def _paper_name(key: str) -> str:
    if key == "other":
        return "other"
    authors, title, _ = BIBLIOGRAPHY[key]
    return escape(f"{key}: {authors.split(',')[0] or title[:40]}")
