"""O.spectrum: the data behind the picture show the outlier where it is predicted, and none below the threshold."""

from __future__ import annotations

import pytest

from bulkedge.figures import figures


def test_outlier_of_the_picture_is_where_it_is_predicted() -> None:
    (picture,) = [p for p in figures() if p.name == "O.spectrum"]
    figure, table = picture.draw()
    assert len(figure.axes) == 2
    edge = 1 + 2**0.5

    def column(step: str, curve: str) -> list[float]:
        return [float(row[2]) for row in table.rows if row[:2] == (step, curve)]

    small, large = (column(step, "simulated") for step in ("1", "6"))
    assert column("1", "predicted outlier") == []
    # the edge fluctuates by d^(-2/3) ~ .014, the outlier by about d^(-1/2) ~ .04
    assert max(small) == pytest.approx(edge, abs=0.06)
    (predicted,) = column("6", "predicted outlier")
    assert sorted(large)[-1] == pytest.approx(predicted, abs=0.16)
    assert sorted(large)[-2] < edge + 0.06 < predicted
