"""Which IDs a list of names means, with a file of one's own beside them."""

from __future__ import annotations

from pathlib import Path

import pytest

import bulkedge
from bulkedge import registry
from bulkedge.book.selection import given, matching, select
from bulkedge.cli import main
from bulkedge.commands.ledger.check import select as select_checks
from bulkedge.commands.ledger.check import select_errata
from bulkedge.theory.numbers.errors import InputError

MINE = """
from bulkedge import Check, Control, Derivation, SecondRoute, Step
from bulkedge.theory.numbers.symbols import rho

def one(*_):
    return 1.0

def steps():
    yield Step((rho + 1) ** 2)
    yield Step(rho**2 + 2 * rho + 1, "=", "expand")

def make(id):
    return Check(id, "one is one", "my note", one, SecondRoute(one), 0.1, Control("two", one))

CHECKS = tuple(make(id) for id in ("X1.first", "X1.second", "X2.other"))
DERIVATIONS = (Derivation("X2.square", "A square", lambda: rho**2 + 2 * rho + 1, steps, "my note"),)
"""


@pytest.fixture
def mine(tmp_path: Path) -> str:
    file = tmp_path / "mine.py"
    file.write_text(MINE)
    return str(file)


def chosen(*names: str) -> tuple[list[str], list[str]]:
    checks, derivations = select_checks(names)
    return [c.id for c in checks], [d.id for d in derivations]


def test_ids_of_a_file_of_ones_own_can_be_named(mine: str) -> None:
    assert chosen(mine) == (["X1.first", "X1.second", "X2.other"], ["X2.square"])
    assert chosen(mine, "X1") == (["X1.first", "X1.second"], [])
    assert chosen("x1.second", mine) == (["X1.second"], [])
    assert chosen(mine, "X2") == (["X2.other"], ["X2.square"])
    # The registry's IDs are added to the file, which then counts whole.
    checks, derivations = chosen(mine, "H1")
    assert {"X1.first", "X2.other", "H1.relu.c2"} & set(checks) >= {"X1.first", "X2.other"}
    assert any(id.startswith("H1.") for id in checks)
    assert derivations == ["X2.square"]
    book = select([mine, "X2"])
    assert [d.id for d in book.derivations] == ["X2.square"]
    assert [c.id for c in book.checks] == ["X2.other"]


def test_an_own_id_without_its_file_is_told_so(mine: str) -> None:
    with pytest.raises(InputError, match=r"an ID of your own needs its FILE\.py beside it"):
        select_checks(["X1"])
    with pytest.raises(InputError, match="did you mean X1"):
        select_checks([mine, "X11"])
    with pytest.raises(InputError, match="your own"):
        bulkedge.show("X1")


def test_case_and_spelling() -> None:
    ids = {"H1", "H1.relu", "H11", "G1.a"}
    assert matching("h1", ids) == matching("H1", ids) == {"H1", "H1.relu"}
    assert matching("h", ids) == {"H1", "H1.relu", "H11"}
    assert matching("g1.A", ids) == {"G1.a"}
    assert matching("K", ids) == set()
    assert [s.id for s in select(["h1"]).statements] == ["H1"]
    assert bulkedge.show("h1").statement.id == "H1"
    with pytest.raises(InputError, match="did you mean H3"):
        bulkedge.show("H33")


def test_a_plain_string_is_one_id() -> None:
    assert given("H4") == ("H4",)
    assert select("H4") == select(["H4"])
    for names in ("", [""], ["H1", " "], 3, [3], {}, {"H4": 1}):
        with pytest.raises(InputError, match="names"):
            given(names)  # type: ignore[arg-type]


@pytest.mark.parametrize("command", ["check", "paper", "report"])
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("CHECKS = 1", "CHECKS"),
        ("CHECKS = (1, 2)", "holds one of type int"),
        ("CHECKS = {}", "is of type dict"),
        ("DERIVATIONS = 1", "DERIVATIONS"),
        ("DERIVATIONS = [None]", "holds one of type NoneType"),
        ("import bulkedge\nCHECKS = DERIVATIONS = bulkedge.registry.checks()[:1]", "holds one of type Check"),
    ],
)
def test_exports_of_the_wrong_type_are_one_line(
    command: str, text: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert registry.checks()
    file = tmp_path / "bad.py"
    file.write_text(text.replace("import bulkedge", "import bulkedge.registry") + "\n")
    place = {"check": [], "paper": ["--out", str(tmp_path / "out")], "report": [str(tmp_path / "out")]}[command]
    tokens = [*place, str(file)] if command == "report" else [str(file), *place]
    assert main([command, *tokens]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert said in err
    assert not (tmp_path / "out").exists()


def test_a_statement_whose_formula_cannot_be_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "bad.py"
    file.write_text('from bulkedge import Statement\nSTATEMENTS = (Statement("X1", "t", "nonsense", (), ()),)\n')
    assert main(["paper", str(file), "--out", str(tmp_path / "out")]) == 2
    assert "formula 'nonsense' of X1" in capsys.readouterr().err


def test_what_is_required_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    for command, required in (("report", "DIR"), ("paper", "--out")):
        assert main([command]) == 2
        assert capsys.readouterr().err.strip().endswith(f"required: {required}")
    assert main(["check", ""]) == 2
    assert "an ID is empty" in capsys.readouterr().err


@pytest.mark.parametrize("letter", ["F", "f", "T", "O", "M", "P5"])
def test_a_paper_s_letter_means_the_statements_with_that_source(letter: str) -> None:
    key = letter.upper()
    named = {s.id for s in registry.statements() if any(x.split(",")[0].split()[0] == key for x in s.sources)}
    prefixed = {s.id for s in registry.statements() if s.id.startswith(key)}
    book = select([letter])
    assert {s.id for s in book.statements} == named | prefixed
    assert {registry.owner(c.id) for c in book.checks} == named | prefixed
    assert {c.id for c in book.checks} == set(chosen(letter)[0])
    if key == "F":
        assert {"G1", "G2", "G6", "G7", "G8"} <= named
        assert not prefixed


def test_the_errata_of_a_paper() -> None:
    errata = {s.id for s in registry.statements() if s.errata}
    found = {id for id, _ in select_errata(["F"])}
    assert found == errata & {s.id for s in select(["F"]).statements}
    assert "G6" in found
