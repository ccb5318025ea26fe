"""What the README and CONVENTIONS say is so: the example prints what it says, tables match the program."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from importlib.resources import files
from pathlib import Path

import pytest
import sympy as sp

from bulkedge.cli import UsageError, parse
from bulkedge.commands import COMMANDS, table
from bulkedge.commands import module as command_module
from bulkedge.theory.functions import catalogue
from bulkedge.theory.functions import parse as reader

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (.+?) \| `(bulkedge .+?)` \|$", README, flags=re.MULTILINE)


def test_the_example_prints_what_it_says():
    code = re.search(r"```python\n(.*?)```", README, flags=re.DOTALL)
    printed = re.search(r"```text\n(.*?)```", README, flags=re.DOTALL)
    assert code
    assert printed
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(code[1], "README.md", "exec"), {})
    assert out.getvalue() == printed[1]
    assert code[1].count("\n") <= 12


def test_the_formula_is_the_programs():
    import sympy as sp

    from bulkedge.theory.numbers.symbols import psi, theta
    from bulkedge.theory.spectra.spike import RECTANGULAR

    assert r"\hat s=\frac{\sqrt{(1+\theta^2)(\psi+\theta^2)}}{\theta}" in README
    assert sp.simplify(RECTANGULAR.outlier**2 - (1 + theta**2) * (psi + theta**2) / theta**2) == 0
    assert RECTANGULAR.above == (theta**4 > psi)


def test_the_table_lists_the_commands():
    assert [command.split()[1] for _, command in ROWS] == list(COMMANDS)
    assert [text for text, _ in ROWS] == list(COMMANDS.values())
    assert table() in README, "write bulkedge.commands.table() there"


@pytest.mark.parametrize("command", [c for _, c in ROWS])
def test_the_tables_commands_parse(command):

    name, *tokens = shlex.split(command)[1:]
    with contextlib.suppress(UsageError):
        assert parse(name, command_module(name), tokens)
        return
    raise AssertionError(f"{command} is not understood")


def test_one_screen():
    assert README.count("\n") <= 80


def test_conventions_list_the_catalogue():
    text = (ROOT / "CONVENTIONS.md").read_text(encoding="utf-8")
    for entry in catalogue.CATALOGUE.values():
        assert f"| `{entry.usage if entry.parameters else entry.name}` |" in text
    for name in [*reader.FUNCTIONS, "Max", "Min", "Piecewise", "He"]:
        assert f"`{name}" in text
    for limit in (reader.MAX_LENGTH, reader.MAX_DEPTH, reader.MAX_NUMBER, reader.MAX_EXPONENT, reader.MAX_KINKED):
        assert str(limit) in text


def test_the_package_carries_the_conventions():
    """What `bulkedge conventions` prints is CONVENTIONS.md."""
    import bulkedge

    text = (ROOT / "CONVENTIONS.md").read_text(encoding="utf-8")
    assert files("bulkedge").joinpath("conventions.md").read_text(encoding="utf-8") == text
    found = bulkedge.conventions()
    assert "\n\n".join(f"## {title}\n\n{body}" for title, body in found.sections) in text
    assert len(found.sections) == text.count("\n## ")


def test_the_catalogue_is_listed_with_its_formulas():
    import bulkedge
    from bulkedge.theory.functions.nonlinearity import nonlinearity

    rows = bulkedge.functions().to_dict()["functions"]
    assert [row["name"] for row in rows] == list(catalogue.CATALOGUE)
    for row in rows:
        defaults = {sp.Symbol(p["name"]): sp.Rational(p["default"]) for p in row["parameters"]}
        listed = sp.sympify(row["formula"], locals={"beta": sp.Symbol("beta")}).subs(defaults)
        for name in (row["usage"], *row["aliases"]):
            f = nonlinearity(name)
            for x in (sp.Rational(-7, 3), sp.Rational(1, 5), sp.Rational(9, 2)):
                assert float(f(x).evalf(20)) == pytest.approx(
                    float(listed.subs(sp.Symbol("z"), x).evalf(20)), rel=1e-13
                )


def test_versions_agree():
    import bulkedge

    assert f"version: {bulkedge.__version__}\n" in (ROOT / "CITATION.cff").read_text()
    assert f"## {bulkedge.__version__}" in (ROOT / "CHANGELOG.md").read_text()
    assert f'version = "{bulkedge.__version__}"' in (ROOT / "pyproject.toml").read_text()
