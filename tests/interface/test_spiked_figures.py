"""Paper F's figures at small sizes: what is drawn, and that the data holds the three kinds of curve."""

from __future__ import annotations

from bulkedge.figures import figures
from bulkedge.figures.spiked import alignment, approximation, generalisation, skipping, width


def _curves(table) -> set[str]:  # type: ignore[no-untyped-def]
    return {row[0] for row in table.rows}


def test_alignment_has_published_simulated_and_exact() -> None:
    figure, table = alignment((50, 100), (3, 3))
    assert _curves(table) == {"exact", "published", "simulated"}
    exact = next(row for row in table.rows if row[:3] == ("exact", "B = 5 d^0.9", "50"))
    assert abs(float(exact[3]) - 0.2162) < 5e-5
    assert len(figure.axes) == 1


def test_generalisation_has_the_floor() -> None:
    _, table = generalisation((50, 100), (2, 2), 300, (1.0,))
    assert _curves(table) == {"simulated", "published", "predicted", "floor"}
    assert len({row[1] for row in table.rows if row[0] == "simulated"}) <= 5
    values = {row[1]: float(row[3]) for row in table.rows if row[0] == "simulated" and row[2] == "100"}
    assert values["k1(0.9)"] < values["k0"]
    assert abs(float(next(r for r in table.rows if r[0] == "floor")[3]) - 6.845) < 1e-3


def test_approximation_errors_grow_with_the_spike() -> None:
    _, table = approximation((60,), (0.01, 0.3))
    errors = {(row[0], row[2]): float(row[-1]) for row in table.rows}
    assert errors["printed", "0.01"] < errors["printed", "0.3"]
    assert errors["third order", "0.01"] < errors["printed", "0.01"]


def test_width_stays_above_the_averaged_kernel() -> None:
    _, table = width(30, 4, (1.0, 4.0))
    risks = {(row[0], row[1], row[2]): float(row[3]) for row in table.rows}
    network, averaged = (risks["m -> infinity", name, ""] for name in ("network after one step", "features of k1"))
    assert averaged < network < risks["simulated", "network after one step", "4.0"]


def test_skipping() -> None:
    _, table = skipping(30, 2, (0.5, 3.0))
    assert _curves(table) == {"untrained", "trained", "conditional", "averaged"}


def test_they_are_registered() -> None:
    assert {"F.alignment", "F.generalisation", "F.approximation", "F.skipping"} <= {f.name for f in figures()}
