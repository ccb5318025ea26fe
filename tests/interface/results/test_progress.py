"""Progress where stderr is no terminal: a line after a second, then every ten, with an estimate; nothing when quick."""

from __future__ import annotations

import pytest

from bulkedge.results import progress


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        (0.001, ""),
        (
            0.5,
            "trials: 2 of 60, about 29 s left\ntrials: 22 of 60, about 19 s left\ntrials: 42 of 60, about 9 s left\n",
        ),
    ],
)
def test_lines(step: float, expected: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    with progress.RichProgress() as shown:
        shown.start("module:trials(size=3)", 60)
        for _ in range(60):
            now[0] += step
            shown.advance()
    assert capsys.readouterr() == ("", expected)


def test_a_closed_stderr_stops_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "FIRST", 0.0)
    monkeypatch.setattr("sys.stderr", None)
    with progress.RichProgress() as shown:
        shown.start("trials", 1)
        shown.advance()
