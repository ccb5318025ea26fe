"""`--latex` of every command, and every printed formula, compile in KaTeX: standard LaTeX only."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from latex_corpus import formulas

from bulkedge.cli import main
from bulkedge.commands import COMMANDS
from derivations.latex import latex

# One or more calls of every command, cheap ones; DIR is a scratch folder, MATRIX a file.
CALLS: dict[str, tuple[tuple[str, ...], ...]] = {
    "hermite": (
        ("relu", "--degree", "4"),
        ("tanh", "--degree", "5"),
        ("elu", "--degree", "2", "--convention", "moment"),
    ),
    "kernel": (("relu", "--rho", "1/2"), ("tanh", "--order", "4"), ("gelu",)),
    "sphere": (("relu", "--dim", "7", "--degree", "3"),),
    "gamma": (("relu", "tanh", "--n", "200", "--m", "100", "--d", "100", "--step", "30"),),
    "spectrum": (("--dim", "20", "--bulk", "1", "--spike", "6"),),
    "mp": (("--ratio", "1/2"), ("--ratio", "3", "--scale", "2")),
    "spike": (("--ratio", "1/2", "--strength", "2"), ("--ratio", "1/2", "--strength", "1/10")),
    "outliers": (("1/3", "2/5", "--degree", "4"),),
    "align": (("He(2, z) + He(3, z)", "--power", "1", "--alpha", "2", "--batch", "reused"),),
    "risk": (("tanh", "z", "--samples", "2", "--width", "1", "--ridge", "1/10", "--step", "1"),),
    "convert": (("--from", "F", "--to", "O"),),
    "features": (("softplus", "tanh", "--exponent", "3/10"), ("tanh", "z", "--exponent", "0")),
    "floor": (("tanh", "z"),),
    "check": (("H4",),),
    "list": ((),),
    "show": (("H3",),),
    "figure": ((),),
    "paper": (("R1.edges", "--no-ledger", "--out", "DIR"),),
    "report": (("DIR", "H4"),),
    "weights": (("MATRIX",),),
    "version": ((),),
}


def emitted(command: str, arguments: tuple[str, ...], folder: Path) -> str:
    """What the command prints with --latex."""
    matrix = folder / "matrix.npy"
    np.save(matrix, np.random.default_rng(0).standard_normal((40, 60)))
    places = {"DIR": str(folder / "out"), "MATRIX": str(matrix)}
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        status = main([command, *(places.get(a, a) for a in arguments), "--latex"])
    assert status == 0
    return out.getvalue().strip()


@pytest.fixture(autouse=True)
def _no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    from bulkedge import tex

    monkeypatch.setattr(tex, "engine", lambda: None)


def test_every_command_is_called_here() -> None:
    assert set(COMMANDS) <= set(CALLS)


@pytest.mark.parametrize("command", COMMANDS)
def test_one_formula_without_dollars(command: str, tmp_path: Path) -> None:
    for arguments in CALLS[command]:
        text = emitted(command, arguments, tmp_path)
        assert text
        assert "$" not in text
        assert "\n\n" not in text


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
    """KaTeX's folder: BULKEDGE_KATEX, else a cache that npm fills once (then no network is needed)."""
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "bulkedge-tests"
    folder = Path(os.environ.get("BULKEDGE_KATEX", cache / "node_modules" / "katex"))
    if not (folder / "package.json").is_file():
        npm = shutil.which("npm")
        assert npm, "KaTeX is not installed; deselect the marker node, or set BULKEDGE_KATEX to its folder"
        cache.mkdir(parents=True, exist_ok=True)
        command = [npm, "install", "--no-audit", "--no-fund", "--silent", "--prefix", str(cache), "katex@0.16"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, f"npm could not install KaTeX: {done.stderr[-300:]}"
    return folder


def compiled(katex: Path, named: list[tuple[str, str]]) -> list[str]:
    """KaTeX's complaints about the formulas."""
    command = ["node", "-e", KATEX, str(katex)]
    done = subprocess.run(command, input=json.dumps(named), capture_output=True, text=True, timeout=60, check=True)
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
