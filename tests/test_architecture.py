"""The shape of the code: imports point one way, theory/ stays free of floats, nothing evaluates text, help is quick."""

from __future__ import annotations

import ast
import functools
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
LAYERS = ("theory", "numerics", "derivations", "interface")
SOURCES = [p for layer in LAYERS for p in sorted((ROOT / layer).rglob("*.py"))]
IDS = [str(p.relative_to(ROOT)) for p in SOURCES]
HEAVY = ("sympy", "numpy", "scipy", "matplotlib", "flint", "mpmath", "rich", "joblib")


@functools.cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def imported(path: Path) -> set[str]:
    """The top-level packages that a module names in import statements, anywhere in it; of bulkedge the storeys."""
    found = set()
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            found |= {storey(alias.name) for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative imports hide the layer"
            found |= {storey(f"{node.module}.{alias.name}") for alias in node.names}
    return found


def storey(name: str) -> str:
    """The storey of a module of bulkedge by its folder's name, or a foreign module's top-level package."""
    parts = name.split(".")
    if parts[0] != "bulkedge":
        return parts[0]
    return parts[1] if len(parts) > 1 and parts[1] in LAYERS else "interface"


@pytest.mark.parametrize("path", SOURCES, ids=IDS)
def test_imports_point_one_way(path):
    layer = LAYERS.index(path.relative_to(ROOT).parts[0])
    above = set(LAYERS[layer + 1 :]) | {"tests", "benchmarks"}
    assert not imported(path) & above


@pytest.mark.parametrize("path", [p for p in SOURCES if p.is_relative_to(ROOT / "theory")], ids=lambda p: p.name)
def test_theory_is_symbols_only(path):
    allowed = {"theory", "sympy", "mpmath", "flint"} | set(sys.stdlib_module_names) - {"random"}
    assert imported(path) <= allowed


@pytest.mark.parametrize("path", SOURCES, ids=IDS)
def test_every_module_says_what_it_is(path):
    module = tree(path)
    assert ast.get_docstring(module)
    for node in module.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            assert ast.get_docstring(node), f"{path.name}: {node.name} has no docstring"


def modules(root: Path) -> dict[str, Path]:
    """The modules of bulkedge below a checkout, by the name they are imported by."""
    found = {}
    for layer in LAYERS:
        top = ["bulkedge"] if layer == "interface" else ["bulkedge", layer]
        for path in sorted((root / layer).rglob("*.py")):
            names = [*top, *path.relative_to(root / layer).with_suffix("").parts]
            found[".".join(names[:-1] if names[-1] == "__init__" else names)] = path
    return found


def needs(found: dict[str, Path]) -> dict[str, set[str]]:
    """Which modules each module names in an import, also inside a function or for type checkers only."""
    graph: dict[str, set[str]] = {}
    for name, path in found.items():
        wanted = set()
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.Import):
                wanted |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                inner = {f"{node.module}.{alias.name}" for alias in node.names}
                wanted |= {x if x in found else str(node.module) for x in inner}
        graph[name] = (wanted & set(found)) - {name}
    return graph


def circles(graph: dict[str, set[str]]) -> set[str]:
    """The modules that lie on a circle of imports, or between two: what is left when the ends have been taken away."""
    left = {name: set(wanted) for name, wanted in graph.items()}
    while True:
        used = set().union(*left.values()) if left else set()
        ends = {name for name, wanted in left.items() if not wanted or name not in used}
        if not ends:
            return set(left)
        left = {name: wanted - ends for name, wanted in left.items() if name not in ends}


def test_imports_make_no_circle():
    assert circles(needs(modules(ROOT))) == set()


def test_the_search_for_circles_finds_them(tmp_path):
    (tmp_path / "theory").mkdir()
    texts = {
        "a": "from bulkedge.theory import b",
        "b": "def f():\n    from bulkedge.theory.c import x",
        "c": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import bulkedge.theory.a",
        "d": "import bulkedge.theory.a\nfrom bulkedge.theory import e",
        "e": "import math",
    }
    for name, text in texts.items():
        (tmp_path / "theory" / f"{name}.py").write_text(text)
    assert circles(needs(modules(tmp_path))) == {f"bulkedge.theory.{x}" for x in "abc"}


# Formulas that have been written again before, as one writes them, with any names and numbers for what they hold.
ONCE = {
    "the normal density": ("sp.exp(-(A**2) / 2) / sp.sqrt(2 * sp.pi)", "theory/gaussian/bivariate.py"),
    "the direction's energy": ("A**2 + B / C", "theory/steps/gradient.py"),
    "the remainder's variance": ("A * B / C", "theory/steps/gradient.py"),
    "the density of a length": ("(A - 1) * np.log(B) - B**2 / 2", "numerics/kernels/radial.py"),
    "the strength behind an outlier": ("(A + np.sqrt(np.maximum(A**2 - B, C))) / 2", "theory/spectra/spike.py"),
    "the kurtosis factor": ("1 + A / math.sqrt(B * C)", "numerics/spectra/edge.py"),
}
# Words of which one must occur for a shape as common as these to be that formula.
WORDS = {"the direction's energy": ("link", "h1_star", "mu1_star"), "the remainder's variance": ("slope_variance",)}
WORDS["the kurtosis factor"] = ("kappa", "kurtosis")


def occurrences(shape: str, root: ast.AST, words: tuple[str, ...]) -> list[int]:
    """The lines at which an expression has a shape: the same tree, its capital letters standing for anything."""
    wanted = ast.parse(shape, mode="eval").body

    def same(a: object, b: object) -> bool:
        if isinstance(a, ast.Name) and a.id.isupper():
            return True
        if isinstance(a, ast.AST):
            return type(a) is type(b) and all(same(getattr(a, k), getattr(b, k)) for k in a._fields if k != "ctx")
        if isinstance(a, list):
            return isinstance(b, list) and len(a) == len(b) and all(map(same, a, b))
        return a == b

    found = [n for n in ast.walk(root) if isinstance(n, ast.expr) and same(wanted, n)]
    return [n.lineno for n in found if not words or any(word in ast.unparse(n) for word in words)]


@pytest.mark.parametrize("name", ONCE)
def test_a_formula_is_written_once(name):
    """In theory/ and numerics/; derivations arrive at it by steps of their own."""
    shape, home = ONCE[name]
    places = [p for p in SOURCES if p.is_relative_to(ROOT / "theory") or p.is_relative_to(ROOT / "numerics")]
    found = {str(p.relative_to(ROOT)) for p in places if occurrences(shape, tree(p), WORDS.get(name, ()))}
    assert found <= {home}


def test_thresholds_stand_with_their_map():
    """No ensemble's name decides a power of the ratio, as thresholds beside SpikeMap did."""
    for path in (ROOT / "numerics/spectra/spike.py", ROOT / "interface/commands/spectra/spike.py"):
        names = {
            node.lineno
            for node in ast.walk(tree(path))
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow)
            for inner in ast.walk(node)
            if isinstance(inner, ast.Constant) and inner.value in ("rectangular", "covariance", "wigner", "wishart")
        }
        assert not names, path
        assert not [n for n in ast.walk(tree(path)) if isinstance(n, ast.FunctionDef) and n.name == "_outside"]


def test_ball_arithmetic_reads_expressions_in_one_place():
    """A table from SymPy's functions to names of flint's methods, as a second evaluator has, is nowhere."""
    found = [
        str(p.relative_to(ROOT))
        for p in SOURCES
        for node in ast.walk(tree(p))
        if isinstance(node, ast.Dict)
        and sum(isinstance(v, ast.Constant) and v.value in ("sinh", "cosh", "atan", "erf") for v in node.values) > 1
        and any(isinstance(k, ast.Attribute) for k in node.keys)
    ]
    assert found == []


def test_rules_of_gauss_and_legendre_come_from_one_place():
    places = [
        p for p in SOURCES if any(isinstance(n, ast.Attribute) and n.attr == "leggauss" for n in ast.walk(tree(p)))
    ]
    assert [str(p.relative_to(ROOT)) for p in places] == ["numerics/functions/legendre.py"]


def test_the_search_for_formulas_finds_them():
    text = "v = 1 + step**2 * (second * p.slope_variance / alpha)\nn = sp.exp(-(t**2) / 2) / sp.sqrt(2 * sp.pi)\n"
    text += "u = pair.link_slope**2 + second / alpha\nother = x**2 + y / z\n"
    text += "log = (d - 1) * np.log(r) - r**2 / 2\nell = (s + np.sqrt(np.maximum(s**2 - 4 * t / v, 0.0))) / 2\n"
    text += "edge = law * (1 + kappa / math.sqrt(large * small))\n"
    lines = {name: occurrences(shape, ast.parse(text), WORDS.get(name, ())) for name, (shape, _) in ONCE.items()}
    assert list(lines.values()) == [[2], [3], [1], [5], [6], [7]]


FORBIDDEN = {"eval", "exec", "compile", "parse_expr", "parse_latex", "__import__"}


def unsafe(path: Path) -> list[str]:
    """Calls that would evaluate text or unpickle a file."""
    found = []
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Call):
            f = node.func
            # Methods of the same name (re.compile) are another matter: only SymPy's own count there.
            name = f.id if isinstance(f, ast.Name) else f.attr if isinstance(f, ast.Attribute) else ""
            strict = any(
                k.arg == "strict" and isinstance(k.value, ast.Constant) and k.value.value for k in node.keywords
            )
            if (isinstance(f, ast.Name) or name == "parse_expr") and name in FORBIDDEN:
                found.append(f"{name}(...) in line {node.lineno}")
            if (name == "sympify" or (name == "S" and isinstance(f, ast.Attribute))) and not strict:
                found.append(f"{name}(...) reads text unless strict=True, line {node.lineno}")
            if name == "load" and any(k.arg == "allow_pickle" and k.value.value is not False for k in node.keywords):
                found.append(f"np.load with pickle in line {node.lineno}")
    return found + sorted(imported(path) & {"pickle", "dill", "shelve", "marshal"})


@pytest.mark.parametrize("path", SOURCES, ids=IDS)
def test_no_text_is_evaluated(path):
    assert unsafe(path) == []


EVERYWHERE = [p for folder in (*LAYERS, "tests", "benchmarks") for p in sorted((ROOT / folder).rglob("*.py"))]


def guessed(path: Path) -> list[int]:
    """Lines that name SymPy's nsimplify, which replaces an exact number by a "nice" one near it."""
    named = [n for n in ast.walk(tree(path)) if isinstance(n, ast.Attribute | ast.Name | ast.alias)]
    names = [
        (n.attr if isinstance(n, ast.Attribute) else n.id if isinstance(n, ast.Name) else n.name, n) for n in named
    ]
    return [n.lineno for name, n in names if name == "nsimplify"]


def test_no_number_is_guessed():
    assert {str(p): guessed(p) for p in EVERYWHERE if guessed(p)} == {}


def test_the_search_for_guesses_finds_them(tmp_path):
    bad = tmp_path / "bad.py"
    bad.write_text("from sympy import nsimplify\nnsimplify(x)\nsp.nsimplify(x)\nf = sp.nsimplify\nsimplify(x)\n")
    assert sorted(guessed(bad)) == [1, 2, 3, 4]


def test_the_search_for_evaluation_finds_it(tmp_path):
    bad = tmp_path / "bad.py"
    bad.write_text(
        "import pickle\neval('1')\nsp.sympify(t)\nsp.S('x')\nsympy.parse_expr(t)\nnp.load(f, allow_pickle=True)\n"
        "sp.sympify(1, strict=True)\nre.compile('x')\n"
    )
    assert len(unsafe(bad)) == 6


def test_packages_are_listed():
    """A new sub-package that pyproject.toml does not name would be missing from the installed program."""
    listed = set(tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"])
    names = {"interface": ("bulkedge",)} | {layer: ("bulkedge", layer) for layer in LAYERS[:-1]}
    folders = [p.parent.relative_to(ROOT).parts for p in SOURCES if p.name == "__init__.py"]
    assert {".".join([*names[top], *rest]) for top, *rest in folders} == listed


def test_no_folder_is_crowded():
    for folder in {p.parent for p in SOURCES}:
        assert len([p for p in folder.glob("*.py") if p.name != "__init__.py"]) <= 16, folder


@pytest.mark.parametrize("arguments", [["--help"], ["hermite"], ["hermitte"], ["version"]])
def test_help_and_usage_errors_import_nothing_heavy(arguments):
    heavy = HEAVY if arguments[0] in {"--help", "hermitte"} else HEAVY[:0]
    code = (
        "import sys; from bulkedge.cli import main; status = main(sys.argv[1:]);"
        f"print([m for m in {heavy!r} if m in sys.modules], status, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert done.stderr.splitlines()[-1] in {"[] 0", "[] 2"}


def test_the_help_of_no_command_imports_anything_heavy():
    """All in one process: what one imports would be there for all, and is told by the first that does."""
    from bulkedge.commands import COMMANDS

    code = (
        "import contextlib, io, sys\nfrom bulkedge.cli import main\n"
        "for name in sys.argv[1:]:\n"
        "    with contextlib.redirect_stdout(io.StringIO()):\n"
        "        main([name, '--help'])\n"
        f"    heavy = [m for m in {HEAVY!r} if m in sys.modules]\n"
        "    if heavy:\n"
        "        sys.exit(f'{name} --help imports {heavy}')\n"
    )
    subprocess.run([sys.executable, "-c", code, *COMMANDS], check=True, cwd=ROOT)


def test_help_is_quick():
    """0.5 s of processor time (the contract); about 0.05 s is typical, so a loaded machine does not fail it."""
    code = (
        "import resource, subprocess, sys;"
        "subprocess.run([sys.executable, '-m', 'bulkedge', '--help'], check=True, stdout=subprocess.DEVNULL);"
        "u = resource.getrusage(resource.RUSAGE_CHILDREN); print(u.ru_utime + u.ru_stime)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert float(done.stdout) < 0.5


def test_public_names_load():
    import bulkedge

    for name in bulkedge.__all__:
        assert getattr(bulkedge, name) is not None
    with pytest.raises(AttributeError, match="hermit"):
        _ = bulkedge.hermit


def test_extreme_arguments_know_every_command():
    """A new command without a call to vary stops the collection of tests/interface/test_guard.py."""
    import argument_fuzz

    from bulkedge.commands import COMMANDS

    assert argument_fuzz.CALLS.keys() == COMMANDS.keys()
