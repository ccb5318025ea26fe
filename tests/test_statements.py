"""From an ID to its files: one stem in every storey, check IDs as literal text, and `show` prints the way."""

from __future__ import annotations

from pathlib import Path

import pytest

import bulkedge
from bulkedge import registry

ROOT = Path(__file__).resolve().parents[1]
STATEMENTS = registry.statements()


@pytest.mark.parametrize("id", [s.id for s in STATEMENTS])
def test_one_stem_in_every_storey(id: str) -> None:
    homes = registry.homes(id)
    (theory,) = homes["theory"]
    place = theory.removeprefix("bulkedge.theory.")
    assert set(homes["numerics"]) <= {f"bulkedge.numerics.{place}"}
    assert homes["checks"] == (f"bulkedge.numerics.checks.{place}",)
    assert set(homes["derivations"]) <= {f"bulkedge.derivations.{place}"}


def test_check_ids_are_literal_text() -> None:
    """A search for an ID finds the line that makes the check."""
    for name in {module for s in STATEMENTS for module in registry.homes(s.id)["checks"]}:
        text = (ROOT / registry.file_of(name)).read_text()
        for check in registry.checks():
            if name in registry.homes(registry.owner(check.id))["checks"]:
                assert f'"{check.id}"' in text, f"{check.id} is built from pieces in {name}"


def test_show_prints_the_files_and_the_formula_s_name() -> None:
    for statement in STATEMENTS:
        result = bulkedge.show(statement.id)
        payload = result.to_dict()
        assert payload["formula_name"] == statement.formula_name
        assert all((ROOT / file).is_file() for file in payload["files"])
        assert all(file in str(result) for file in payload["files"])


def test_a_statement_stands_beside_its_formula() -> None:
    for module, items in registry.exporting("bulkedge.theory", "STATEMENTS").items():
        assert {item.formula_name.split(":")[0] for item in items} == {module}
