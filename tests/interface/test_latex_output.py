"""`--latex` of every command is read back and compared with the result; all that is printed compiles in KaTeX."""

from __future__ import annotations

import contextlib
import io
import json
import re
import subprocess
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import mpmath as mp
import numpy as np
import optional_tools
import pytest
import sympy as sp
from latex_corpus import formulas
from latex_grammar import read

from bulkedge import registry
from bulkedge.cli import call, main, parse
from bulkedge.commands import COMMANDS
from bulkedge.commands import module as command_module
from bulkedge.derivations.engine.latex import latex
from bulkedge.derivations.engine.render import escape
from bulkedge.theory.numbers import symbols as s
from bulkedge.theory.steps.scaling import PAPERS, ridge_factor, step_factor

# One or more calls of every command, cheap ones; DIR is a scratch folder, MATRIX a file.
CALLS: dict[str, tuple[tuple[str, ...], ...]] = {
    "hermite": (
        ("relu", "--degree", "4"),
        ("tanh", "--degree", "5"),
        ("tanh", "--degree", "3", "--convention", "moment"),
        ("tanh", "--degree", "3", "--convention", "probabilist"),
        ("elu", "--degree", "2", "--convention", "moment"),
    ),
    "kernel": (
        ("relu", "--rho", "1/2"),
        ("tanh", "--order", "4"),
        ("gelu", "--rho", "-1/3"),
        ("tanh", "--rho", "2/7", "--order", "5"),
        ("relu", "--with", "abs", "--mean1", "1/2", "--mean2", "-1/3", "--rho", "2/7"),
        ("tanh", "--with", "relu", "--mean1", "1/2", "--rho", "2/7", "--order", "5"),
    ),
    "sphere": (("relu", "--dim", "7", "--degree", "3"), ("tanh", "--dim", "7", "--degree", "3")),
    "gamma": (
        ("relu", "tanh", "--n", "200", "--m", "100", "--d", "100", "--step", "30"),
        ("relu", "tanh", "--n", "200", "--m", "100", "--d", "100", "--step", "3e9"),
    ),
    "spectrum": (("--dim", "20", "--bulk", "1", "--spike", "6"),),
    "mp": (("--ratio", "1/2"), ("--ratio", "3", "--scale", "2"), ("--ratio", "1/2", "--population", "1:1/2,2:1/2")),
    "spike": (("--ratio", "1/2", "--strength", "2"), ("--ratio", "1/2", "--strength", "1/10")),
    "outliers": (("1/3", "2/5", "--degree", "4"), ("0", "2/5", "--degree", "inf")),
    "align": (
        ("He(2, z) + He(3, z)", "--power", "1", "--alpha", "2", "--batch", "reused"),
        ("sin(z)", "--power", "1", "--alpha", "2", "--batch", "fresh"),
    ),
    "risk": (
        ("tanh", "z", "--samples", "2", "--width", "1", "--ridge", "1/10", "--step", "1"),
        ("tanh", "z/1000", "--samples", "2", "--width", "1", "--ridge", "1/10", "--step", "1"),
    ),
    "equivalent": (
        ("tr(inv(X.T*X + lam))", "--gaussian", "X: n x d, 1/n", "--size", "n=1,d=c", "--positive", "lam,c"),
    ),
    "convert": (("--from", "F", "--to", "O"), ("--from", "T", "--to", "P5", "--step", "3", "--width", "50")),
    "features": (("softplus", "tanh", "--exponent", "3/10"), ("tanh", "z", "--exponent", "0")),
    "floor": (("tanh", "z"),),
    "check": (("H4",),),
    "functions": ((),),
    "conventions": ((),),
    "list": ((),),
    "show": (("H3",),),
    "figure": ((),),
    "paper": (("R1.edges", "--no-ledger", "--out", "DIR"),),
    "report": (("DIR", "H4"),),
    "weights": (("MATRIX",), ("SPIKED",)),
    "version": ((),),
}


def emitted(command: str, arguments: tuple[str, ...], folder: Path) -> str:
    """What the command prints with --latex."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        status = main([command, *placed(arguments, folder), "--latex"])
    assert status == 0
    return out.getvalue().strip()


def placed(arguments: tuple[str, ...], folder: Path) -> list[str]:
    """The arguments with real places for DIR, MATRIX and SPIKED."""
    matrix = np.random.default_rng(0).standard_normal((40, 60))
    np.save(folder / "matrix.npy", matrix)
    matrix[:, 0] += 5 * np.ones(40)
    np.save(folder / "spiked.npy", matrix)
    places = {"DIR": "out", "MATRIX": "matrix.npy", "SPIKED": "spiked.npy"}
    return [str(folder / places[a]) if a in places else a for a in arguments]


@pytest.fixture(autouse=True)
def _no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    from bulkedge.book import tex

    monkeypatch.setattr(tex, "engine", lambda: None)


def test_every_command_is_called_here() -> None:
    assert set(COMMANDS) <= set(CALLS)


@pytest.mark.parametrize(("command", "arguments"), [(c, a) for c in COMMANDS for a in CALLS[c]], ids=str)
def test_what_is_printed_is_the_result(command: str, arguments: tuple[str, ...], tmp_path: Path) -> None:
    module = command_module(command)
    result = call(command, parse(command, module, placed(arguments, tmp_path)))
    text = result.latex()
    assert text
    assert "$" not in text
    assert "\n\n" not in text
    READ[command](result.to_dict(), text)


# --latex read back: equations as {left side: right side}, arrays as rows of cells.


def equations(tex: str) -> dict[str, str]:
    """The parts of `a = b, \\quad c = d`; of a = b = c the last."""
    parts = re.split(r",\s*\\q?quad\s*", tex)
    # The conditions of cases are equations, too.
    sides = (re.split(r" = | \\to ", part, maxsplit=int("cases" in part)) for part in parts)
    return {left.strip(): right.strip() for left, *_, right in sides}


def array(tex: str) -> list[list[str]]:
    """The rows of an array."""
    body = re.fullmatch(r"\\begin\{array\}\{[lr]+\} (.*) \\end\{array\}", tex, re.DOTALL)
    assert body
    return [[cell.strip() for cell in row.split("&")] for row in body[1].replace(r"\&", "").split(r" \\ ")]


def texts(tex: str) -> list[list[str]]:
    """The rows of an array of words."""
    return [[re.fullmatch(r"\\text\{(.*)\}", cell)[1] for cell in row] for row in array(tex)]  # type: ignore[index]


def near(tex: str, value: Any, digits: float = 9, **letters: Any) -> None:
    """The formula has the value (a decimal string), to that many digits."""
    names = {name: mp.mpf(str(v)) for name, v in letters.items()}
    spelled = {SPELLED.get(name, name): v for name, v in names.items()}
    with mp.workdps(30):
        printed, exact = read(tex, tuple(spelled))(spelled), mp.mpf(str(value))
        assert abs(printed - exact) <= mp.mpf(10) ** -digits * max(abs(exact), mp.mpf(10) ** -3), (tex, value)


SPELLED = {
    "alpha": r"\alpha",
    "rho": r"\rho",
    "s_eps": r"\sigma_{\varepsilon}",
    **{f"g{i}": f"g_{{{i}}}" for i in range(9)},
}


def read_equivalent(result: dict[str, Any], tex: str) -> None:
    ((left, right),) = equations(tex).items()
    assert right == "0"
    at = {"value": "2/7", "lam": "3/5", "c": "7/3"}
    letters = {r"\mathrm{value}": mp.mpf(2) / 7, r"\lambda": mp.mpf(3) / 5, "c": mp.mpf(7) / 3}
    exact = sp.sympify(result["polynomial"]).subs({name: sp.Rational(v) for name, v in at.items()})
    assert abs(read(left, tuple(letters))(letters) - mp.mpf(exact.p) / exact.q) < 1e-12


def read_hermite(result: dict[str, Any], tex: str) -> None:
    ((left, right),) = equations(tex).items()
    for c in result["coefficients"]:
        if left == "c_{k}":
            near(right, c["value"], k=c["k"])
    if left == "f(z)":
        z, total = mp.mpf(1) / 3, mp.mpf(0)
        scale = {"orthonormal": mp.mpf(1) / 2, "probabilist": 0, "moment": 1}[result["convention"]]
        for c in result["coefficients"]:
            total += (
                mp.mpf(c["value"])
                * mp.hermite(c["k"], z / mp.sqrt(2))
                / mp.sqrt(2) ** c["k"]
                / mp.factorial(c["k"]) ** scale
            )
        near(right, total, z=z)


def read_kernel(result: dict[str, Any], tex: str) -> None:
    found = equations(tex)
    right = found[r"\kappa(\rho)"]
    if result["value"] is not None and result["closed_form"] is not None:
        rho = Fraction(result["inputs"]["rho"])
        near(right, result["value"], rho=mp.mpf(rho.numerator) / rho.denominator)
        return
    rho = mp.mpf(2) / 7
    near(right, mp.fsum(mp.mpf(c["value"]) * rho ** c["k"] for c in result["series"]), 7, rho=rho)
    if result["value"] is not None:
        (asked,) = (value for left, value in found.items() if left != r"\kappa(\rho)")
        value, error = asked.split(r" \pm ")
        near(value, result["value"])
        near(error, result["error"], 2)


def read_sphere(result: dict[str, Any], tex: str) -> None:
    ((left, right),) = equations(tex).items()
    if left == r"\eta_{l}":
        for x in result["eigenvalues"]:
            near(right, x["eta"], d=result["inputs"]["dim"], l=x["degree"])
    else:
        values = right.removeprefix(r"\left(").removesuffix(r", \ldots\right)").split(r",\ ")
        for text, x in zip(values, result["eigenvalues"], strict=True):
            near(text, x["value"], 7)


def read_gamma(result: dict[str, Any], tex: str) -> None:
    (_, *rows), readings = array(tex), result["readings"]
    for (name, *cells), reading in zip(rows, readings, strict=True):
        assert name == rf"\text{{{reading.replace('_', '-')}}}"
        for cell, value in zip(cells, readings[reading].values(), strict=True):
            near(cell, value, 7)


def read_spectrum(result: dict[str, Any], tex: str) -> None:
    found = equations(tex)
    near(found[r"\lambda_{\max}"], result["top"]["eigenvalue"])
    weights = found[r"\Psi"].removeprefix(r"\frac{\|x\|}{\sqrt{d}} ")
    harmonics = {l: f"Y_{{{l}}}" for l in result["top"]["weights"]}
    for l, weight in result["top"]["weights"].items():
        at = {name: mp.mpf(harmonics[l] == name) for name in harmonics.values()}
        if abs(float(weight)) >= 5e-5:
            assert abs(read(weights, tuple(at))(at) - mp.mpf(weight)) <= 5e-5


def read_mp(result: dict[str, Any], tex: str) -> None:
    ratio = mp.mpf(Fraction(result["inputs"]["ratio"]).numerator) / Fraction(result["inputs"]["ratio"]).denominator
    ((left, right),) = equations(tex).items()
    lower, upper = (mp.mpf(x) for x in result["edges"])
    if left == "f(x)":
        # The density has the mass that the atom leaves, the printed edges, and the mean `scale`.
        density = lambda x: read(right, ("x",))({"x": x})  # noqa: E731
        assert density(lower * 0.99) == density(upper * 1.01) == 0
        assert abs(mp.quad(density, [lower, upper]) - (1 - mp.mpf(result["atom"]))) < 1e-6
        assert abs(mp.quad(lambda x: x * density(x), [lower, upper]) - mp.mpf(str(result["inputs"]["scale"]))) < 1e-6
    else:
        # Its critical values are the edges: psi(alpha) >= the upper edge beyond the population, with equality once.
        psi = lambda a: read(right, (r"\alpha",))({r"\alpha": a})  # noqa: E731
        least = min(psi(2 + mp.mpf(i) / 100) for i in range(1, 600))
        assert abs(least - upper) < 1e-3
    assert ratio > 0


def read_spike(result: dict[str, Any], tex: str) -> None:
    near(equations(tex)["s_{1}"], result["outlier"])


def read_outliers(result: dict[str, Any], tex: str) -> None:
    parts = [re.split(" = ", part) for part in re.split(r",\s*\\qquad\s*", tex)]
    (left, formula, value), (more, total) = parts
    assert (left, more) == (r"\Lambda", r"1 + \Lambda")
    near(formula, result["Lambda"])
    near(value, result["Lambda"])
    near(total, result["total"])


def read_align(result: dict[str, Any], tex: str) -> None:
    parts, closed = re.split(r",\s*\\q?quad\s*", tex), result["closed_form"] is not None
    link = {f"g{i}": int(i in (2, 3)) for i in range(9)}
    letters = {**link, "alpha": 2, "s_eps": 0} if closed else {}
    for part, name in zip(parts, ("signal", "norm2", "cosine"), strict=True):
        _, *formulas = re.split(r" = | \\to ", part)
        assert len(formulas) == (2 if closed and name != "cosine" else 1)
        for formula in formulas:
            value, _, error = formula.partition(r" \pm ")
            near(value, result[name], **letters)
            assert not error or result["exact"][name] is None


def read_risk(result: dict[str, Any], tex: str) -> None:
    for value, name in zip(equations(tex).values(), ("test", "random_features", "linear_floor"), strict=True):
        near(value, result[name], 5)


def read_convert(result: dict[str, Any], tex: str) -> None:
    source, target = result["inputs"]["from"], result["inputs"]["to"]
    sizes = {"d": 7, "N": 50, "n": 11, "n1": 13}
    letters = {latex(sp.Symbol(x)): mp.mpf(size) for x, size in sizes.items()}
    letters |= {latex(sp.Symbol(f"{x}_{source}")): mp.mpf(3) for x in ("eta", "a", "lambda")}
    at = {symbol: sizes[str(symbol)] for symbol in (s.d, s.N, s.n, s.n1)}
    meant = {f"eta_{target}": 3 * step_factor(source, target)}
    if PAPERS[source].ridge is not None and PAPERS[target].ridge is not None:
        meant[f"lambda_{target}"] = 3 * ridge_factor(source, target)
    # The exponent of the step moves by the exponent of the factor when all sizes grow together.
    growth = step_factor(source, target).subs(dict.fromkeys(at, s.N))
    meant[f"a_{target}"] = 3 + sp.diff(sp.log(growth), s.N) * s.N
    meant |= PAPERS[target].ratios
    for part in re.split(r",\\quad ", tex):
        left, formula, *value = part.split(" = ")
        (expected,) = (sp.sympify(v).subs(at) for x, v in meant.items() if latex(sp.Symbol(x)) == left)
        assert abs(read(formula, tuple(letters))(letters) - mp.mpf(str(sp.N(expected, 20)))) < 1e-14
        for exact in value:  # for --step 3 and --width 50, as in `letters`
            assert abs(read(exact)({}) - mp.mpf(str(sp.N(expected, 20)))) < 1e-14


def read_features(result: dict[str, Any], tex: str) -> None:
    if not result["present"]:
        assert equations(tex) == {r"\ell": "0"}
        return
    t = mp.mpf(3) / 7
    for left, right in equations(tex).items():
        (k,) = re.findall(r"p_\{(\d)\}\(t\)", left)
        (full,) = (d["full"] for d in result["directions"] if d["k"] == int(k))
        near(right, mp.fsum(mp.mpf(c) * t**i for i, c in enumerate(full)), 3, t=t)


def read_floor(result: dict[str, Any], tex: str) -> None:
    tau, kappa, floor = equations(tex).values()
    near(tau, result["tau"], 5)
    near(kappa, result["kappa"], 5)
    near(floor, result["linear_floor"], 5)


def read_check(result: dict[str, Any], tex: str) -> None:
    for (id, predicted, measured, verdict), c in zip(array(tex), result["checks"], strict=True):
        assert (id, verdict) == (rf"\text{{{c['id']}}}", rf"\text{{{c['verdict']}}}")
        value, error = measured.split(r" \pm ")
        near(predicted, c["predicted"], 5)
        near(value, c["measured"], 5)
        near(error, c["stderr"], 0.3)


def read_weights(result: dict[str, Any], tex: str) -> None:
    head, *rows = array(tex)
    assert head == ["s", "p", r"\theta"]
    if not result["outliers"]:
        assert rows == [[r"\text{none}", "", ""]]
        return
    for (value, p, strength), x in zip(rows, result["outliers"], strict=True):
        near(value, x["value"], 4)
        assert p.startswith(r"\leq ") is x["p_is_bound"]
        near(p.removeprefix(r"\leq "), x["p"], 1.2)
        near(strength.split(r" \pm ")[0], x["strength"], 3)
        near(strength.split(r" \pm ")[1], x["strength_sd"], 0.3)


def read_show(result: dict[str, Any], tex: str) -> None:
    assert tex == latex(next(st for st in registry.statements() if st.id == result["id"]).expression())


def words(rows: str, *fields: str) -> Callable[[dict[str, Any], str], None]:
    """An array of words has the rows' fields."""

    def compare(result: dict[str, Any], tex: str) -> None:
        assert texts(tex) == [[escape(row[field]) for field in fields] for row in result[rows]]

    return compare


def read_version(result: dict[str, Any], tex: str) -> None:
    assert tex == rf"\text{{bulkedge {result['version']}}}"


def formulas_by_name(tex: str) -> dict[str, str]:
    """An array of names and formulas, which may hold rows of their own."""
    body = tex.removeprefix(r"\begin{array}{ll} ").removesuffix(r" \end{array}")
    rows = (row.partition("} & ") for row in re.split(r" \\\\ (?=\\text)", body) if row)
    return {name.removeprefix(r"\text{"): formula for name, _, formula in rows}


def read_functions(result: dict[str, Any], tex: str) -> None:
    found = formulas_by_name(tex)
    assert list(found) == [escape(row["name"]) for row in result["functions"]]
    for row in result["functions"]:
        for z in ("-13/7", "-1/5", "2/7", "19/6"):
            values = {"z": sp.Rational(z), **{p["name"]: sp.Rational(p["default"]) + 2 for p in row["parameters"]}}
            symbols = {name: sp.Symbol(name) for name in values}
            value = sp.sympify(row["formula"], locals=symbols).subs({symbols[n]: v for n, v in values.items()})
            spelled = {LETTERS.get(name, name): mp.mpf(v.p) / v.q for name, v in values.items()}
            near(found[escape(row["name"])], value.evalf(20), **spelled)


LETTERS = {"beta": r"\beta", "slope": r"\mathrm{slope}", "top": r"\mathrm{top}"}


def read_conventions(result: dict[str, Any], tex: str) -> None:
    """Each formula's name stands in the table of the text beside the same formula."""
    found = formulas_by_name(tex)
    (text,) = (s["text"] for s in result["sections"] if s["title"] == "Hermite coefficients")
    listed = dict(re.findall(r"^\| `(\w+)`[^|]*\| `(E\[f \w+\](?:/k!)?)`", text, re.MULTILINE))
    assert list(found) == list(listed) == ["orthonormal", "probabilist", "moment"]
    assert [r"k!" in formula for formula in found.values()] == [True, True, False]
    assert [r"\sqrt{k!}" in formula for formula in found.values()] == ["h_k" in f for f in listed.values()]


READ: dict[str, Callable[[dict[str, Any], str], None]] = {
    "equivalent": read_equivalent,
    "hermite": read_hermite,
    "kernel": read_kernel,
    "sphere": read_sphere,
    "gamma": read_gamma,
    "spectrum": read_spectrum,
    "mp": read_mp,
    "spike": read_spike,
    "outliers": read_outliers,
    "align": read_align,
    "risk": read_risk,
    "convert": read_convert,
    "features": read_features,
    "floor": read_floor,
    "check": read_check,
    "weights": read_weights,
    "show": read_show,
    "functions": read_functions,
    "conventions": read_conventions,
    "list": words("statements", "id", "title"),
    "figure": words("figures", "name", "title"),
    "paper": words("derivations", "id", "title", "verified"),
    "report": words("statements", "id", "title", "verdict"),
    "version": read_version,
}


KATEX = """
const katex=require(process.argv[1]);
const bad=[];
for(const [name,tex] of JSON.parse(require('fs').readFileSync(0,'utf8')))
  try{katex.renderToString(tex,{displayMode:true,throwOnError:true,strict:'ignore',trust:false})}
  catch(e){bad.push(name+': '+e.message)}
console.log(JSON.stringify(bad));
"""


@pytest.fixture(scope="session")
def katex() -> Path:
    """KaTeX's folder; tests marked node run only where it is."""
    return optional_tools.katex()


def compiled(katex: Path, named: list[tuple[str, str]]) -> list[str]:
    """KaTeX's complaints about the formulas."""
    command = ["node", "-e", KATEX, str(katex)]
    done = subprocess.run(command, input=json.dumps(named), capture_output=True, text=True, timeout=600, check=True)
    return list(json.loads(done.stdout))


@pytest.mark.node
def test_katex_notices_broken_latex(katex: Path) -> None:
    assert len(compiled(katex, [("a", r"\frac{1}"), ("b", r"\nosuchcommand"), ("c", "x^{2}")])) == 2


@pytest.mark.node
def test_every_formula_compiles(katex: Path) -> None:
    assert compiled(katex, [(name, latex(e)) for name, e in formulas()]) == []


@pytest.mark.node
def test_every_commands_latex_compiles(katex: Path, tmp_path: Path) -> None:
    named = [(f"{c} {' '.join(a)}", emitted(c, a, tmp_path)) for c in COMMANDS for a in CALLS[c]]
    assert compiled(katex, named) == []


@pytest.mark.parametrize(
    ("text", "letter"),
    [("leaky_relu(z, s)", "s"), ("erf(s*z)", "s"), ("sin(w*z)", "w"), ("z + c*He(2, z)", "c"), ("exp(a*z)", "a")],
)
def test_letters_are_read_back(text: str, letter: str) -> None:
    from bulkedge import hermite, kernel
    from bulkedge.theory.functions.parametric import at

    result = hermite(text, 5, positive=letter)
    (symbol,) = result.free_symbols
    there = sp.Rational(3, 7)
    numbers, given = at(result.function, {symbol: there}), {letter: mp.mpf(3) / 7}
    ((left, right),) = equations(result.latex()).items()
    assert left == "c_{k}"
    for k, row in enumerate(hermite(numbers, 5).coefficients):
        near(right, str(row["value"].value), k=k, **given)
    found = equations(kernel(text, order=0, positive=letter).latex())
    expected = kernel(numbers, rho="2/7", order=0).value.value
    near(found[r"\kappa(\rho)"], str(expected), rho=mp.mpf(2) / 7, **given)


def test_a_sphere_in_letters_is_read_back() -> None:
    from bulkedge import sphere

    ((left, right),) = equations(sphere("leaky_relu(z, s)", "d", 4, positive="s,d").latex()).items()
    assert left == r"\eta_{l}"
    for row in sphere("leaky_relu(z, 1/5)", 7, 4).eigenvalues:
        near(right, str(row.eta.value), d=7, l=row.degree, s=mp.mpf(1) / 5)
