"""The errata ledger: every erratum names checks that exist, and the command prints them with their verdicts."""

from __future__ import annotations

import json

import pytest

from bulkedge import registry
from bulkedge.cli import main
from bulkedge.commands.ledger.check import select_errata
from bulkedge.theory.numbers.errors import InputError


def test_every_erratum_has_running_evidence() -> None:
    ids = {c.id for c in registry.checks()}
    errata = select_errata(())
    assert len(errata) >= 7
    for _, erratum in errata:
        assert erratum.evidence
        assert set(erratum.evidence) <= ids
        assert erratum.printed != erratum.corrected


def test_the_command_prints_them_with_verdicts(capsys: pytest.CaptureFixture[str]) -> None:
    # G5's evidence takes a second.
    assert main(["check", "G5", "--errata", "--jobs", "1", "--json"]) == 0
    out = json.loads(capsys.readouterr().out)
    assert [e["statement"] for e in out["errata"]] == ["G5"]
    evidence = out["errata"][0]["evidence"]
    assert {x["id"] for x in evidence} == {c["id"] for c in out["checks"]}
    assert all(x["verdict"] == "CONFIRMED" and x["control"] == "REFUTED" for x in evidence)


def test_unknown_statement_is_refused() -> None:
    with pytest.raises(InputError, match="no erratum"):
        select_errata(("Z9",))


def test_the_table_comes_first(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "G5", "--errata", "--jobs", "1", "--csv"]) == 0
    assert capsys.readouterr().out.startswith("statement,printed,found,corrected,evidence\nG5,")
