"""R5: reading files, the fit, strengths and overlaps on known matrices, and a small network trained on digits here."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits

from bulkedge.numerics.weights import bulk_fit, weight_files
from bulkedge.numerics.weights import weights as w
from bulkedge.theory.numbers.errors import InputError


def rng(seed=0):
    return np.random.default_rng(seed)


def spiked(shape=(150, 220), strength=6.0, scale=0.2, seed=0):
    g = rng(seed)
    u, v = (x / np.linalg.norm(x) for x in (g.standard_normal(shape[0]), g.standard_normal(shape[1])))
    return scale * g.standard_normal(shape) + strength * np.outer(u, v), u, v


def test_noise_fits_and_has_no_outliers():
    report = w.analyse(0.3 * rng(1).standard_normal((120, 90)), rng=rng())
    assert report.outliers == ()
    assert report.fit.p > 0.05
    assert report.scale == pytest.approx(0.3, abs=4 * report.scale_error)
    assert report.fit.scale == pytest.approx(0.3, rel=0.03)
    assert report.fit.ratio == pytest.approx(0.75, rel=0.12)
    assert report.rate == 0.01


@pytest.mark.parametrize("shape", [(150, 220), (220, 150)])
def test_a_spike_is_read_back(shape):
    matrix, u, v = spiked(shape)
    report = w.analyse(matrix, np.stack([v, rng(9).standard_normal(shape[1])]), rng=rng())
    assert len(report.outliers) == 1
    assert report.strengths[0] == pytest.approx(6.0, abs=4 * report.strength_sd[0])
    assert report.fit.p > 0.05
    own, other = report.overlaps
    assert (own.side, own.outlier, own.direction, other.direction) == ("right", 0, 0, 1)
    assert own.squared < 1
    assert own.signal == pytest.approx(1, abs=0.06)
    assert other.squared < 0.1
    (left,) = w.analyse(matrix, u, rng=rng()).overlaps
    assert left.side == "left"
    assert left.signal == pytest.approx(1, abs=0.06)


def test_the_units_are_those_of_the_file():
    matrix, _, _ = spiked()
    one, ten = (w.analyse(factor * matrix, rng=rng()) for factor in (1.0, 10.0))
    assert ten.scale == pytest.approx(10 * one.scale)
    assert ten.strengths[0] == pytest.approx(10 * one.strengths[0])
    assert ten.strength_sd[0] == pytest.approx(10 * one.strength_sd[0], rel=1e-4)
    assert ten.fit.p == one.fit.p


def test_strength_errors_are_honest():
    z = []
    for seed in range(12):
        report = w.analyse(spiked((40, 60), 4.0, 0.3, seed)[0], rng=rng())
        z.append((report.strengths[0] - 4.0) / report.strength_sd[0])
    # Means of 12: the standard error of z is 0.29, of its deviation 0.2; the bias of order 1/sqrt d stays within one.
    assert abs(np.mean(z)) < 1.3
    assert 0.4 < np.std(z) < 1.8


def test_a_bulk_that_does_not_fit_is_said():
    g = rng(3)
    columns = np.linalg.qr(g.standard_normal((160, 160)))[0]
    matrix = g.standard_normal((100, 160)) @ np.diag(np.linspace(0.2, 2, 160)) @ columns
    report = w.analyse(matrix, rng=rng())
    assert report.fit.p < 0.01
    assert report.fit.distance > 0.05
    assert report.rate is None
    assert "does not fit" in report.reason


def heavy(g):
    return g.standard_t(1.5, (80, 120))


def sparse(g):
    return g.standard_normal((80, 120)) * (g.random((80, 120)) < 0.03)


def diagonal(g):
    return np.diag(g.uniform(1, 2, 80))


@pytest.mark.parametrize("draw", [heavy, sparse, diagonal])
def test_entries_with_heavy_tails_do_not_fit(draw):
    """Not even where any iid matrix of such entries would look the same."""
    report = w.analyse(draw(rng(4)), rng=rng(), draws=199)
    assert report.fit.p < 0.01
    assert report.fit.distance > 0.05
    assert report.rate is None
    assert "heavy tails" in report.reason
    assert "Marchenko-Pastur does not fit" in report.reason


def test_moderate_tails_fit():
    p = [w.analyse(rng(seed).laplace(size=(60, 90)), rng=rng(seed), draws=99).fit.p for seed in range(6)]
    assert min(p) >= bulk_fit.MISFIT
    assert max(p) > 0.2


def test_the_fit_p_value_is_uniform_under_the_null():
    p = [w.analyse(rng(seed).uniform(-1, 1, (24, 36)), rng=rng(seed)).fit.p for seed in range(14)]
    assert abs(np.mean(p) - 0.5) < 4 / np.sqrt(12 * 14)


def train(steps, rate):
    """First-layer weights (input x width) of a softmax network on the digits, before and after gradient descent."""
    x, labels = load_digits(return_X_y=True)
    x = x[:, x.std(axis=0) > 0]
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    n, d = x.shape
    width, g = 150, rng(7)
    first, second = g.standard_normal((d, width)) / np.sqrt(d), g.standard_normal((width, 10)) / np.sqrt(width)
    start, target = first.copy(), np.eye(10)[labels]
    for _ in range(steps):
        hidden = np.tanh(x @ first)
        logits = hidden @ second
        odds = np.exp(logits - logits.max(axis=1, keepdims=True))
        error = (odds / odds.sum(axis=1, keepdims=True) - target) / n
        gradient = x.T @ ((error @ second.T) * (1 - hidden**2))
        second -= rate * hidden.T @ error
        first -= rate * gradient
    accuracy = float(np.mean(np.argmax(np.tanh(x @ first) @ second, axis=1) == labels))
    return start, first, accuracy


def test_a_trained_layer():
    start, trained, accuracy = train(60, 5.0)
    assert accuracy > 0.9
    before = w.analyse(start, rng=rng())
    assert before.outliers == ()
    assert before.fit.p > 0.01
    learned = np.linalg.svd(trained - start)[0][:, 0]
    after = w.analyse(trained, learned, rng=rng())
    assert len(after.outliers) >= 1
    assert after.strengths[0] > 0
    # The leading outlier's input direction is the one that training moved most.
    assert max(o.squared for o in after.overlaps) > 0.3


@pytest.mark.parametrize(("step", "trusted"), [(0.0, True), (7.0, True), (16.0, False)])
def test_after_one_gradient_step(step, trusted):
    """A ReLU network's step leaves one spike and uneven columns, which are equalised; near sqrt N no rate is quoted."""
    g, size = rng(11), 240
    weights = g.standard_normal((size, size)) / np.sqrt(size)
    readout, x, beta = g.standard_normal(size) / np.sqrt(size), g.standard_normal((size, size)), g.standard_normal(size)
    y, z = x @ beta / np.linalg.norm(beta), x @ weights
    rest = y - np.maximum(z, 0) @ readout / np.sqrt(size)
    stepped = weights + step * x.T @ (rest[:, None] * (z > 0) * readout) / size
    report = w.analyse(stepped, beta, alarm=0.001, rng=rng())
    if trusted:
        assert len(report.outliers) == (step > 0)
        assert report.rate == 0.001
        assert report.scaled == ("columns" if step else "none")
        assert all(o.squared > 0.3 for o in report.overlaps if o.side == "left")
    else:
        assert report.rate is None
        assert "does not fit" in report.reason


PEER = json.loads((Path(__file__).parents[2] / "reference" / "weightwatcher_fits.json").read_text())["rows"]


@pytest.mark.parametrize("row", PEER, ids=lambda row: f"seed {row['case'][0]}")
def test_against_weightwatcher(row):
    """The same counts on the same matrices (drawn as in tests/reference/weightwatcher_fits.py), a better scale."""
    seed, rows, columns, sd, strengths = row["case"]
    g = rng(seed)
    matrix = sd * g.standard_normal((rows, columns))
    for strength in strengths:
        u, v = g.standard_normal(rows), g.standard_normal(columns)
        matrix += strength * sd * np.sqrt(rows) * np.outer(u, v) / np.linalg.norm(u) / np.linalg.norm(v)
    report = w.analyse(matrix, rng=rng(), draws=19)
    assert len(report.outliers) == row["spikes"] == len(strengths)
    assert report.scale == pytest.approx(sd, rel=0.01)
    # Its brute-force density fit follows the outliers: up to 42 per cent too large here.
    assert abs(report.scale / sd - 1) < abs(row["sd"] / sd - 1)


class TestFiles:
    def test_formats_agree(self, tmp_path):
        matrix = rng().standard_normal((12, 15))
        np.save(tmp_path / "a.npy", matrix)
        np.savez(tmp_path / "a.npz", weight=matrix, bias=np.ones(3))
        np.savetxt(tmp_path / "a.csv", matrix, delimiter=",", fmt="%.17g")
        (tmp_path / "b.csv").write_text(",".join("abcdefghijklmno") + "\n" + (tmp_path / "a.csv").read_text())
        for name in ("a.npy", "a.npz", "a.csv", "b.csv"):
            assert np.array_equal(weight_files.read_matrix(tmp_path / name), matrix)
        assert np.array_equal(weight_files.read_matrix(tmp_path / "a.npz", "bias"), np.ones(3))

    @pytest.mark.parametrize(
        ("name", "content", "problem"),
        [
            ("a.txt", b"1", "suffix"),
            ("a.npy", b"", "empty"),
            ("a.npy", b"not an array", "no .npy file"),
            ("a.npz", b"not an archive", "no .npz file"),
            ("a.csv", b"a;b\n1;2\n3;4\n", "line 2 separates its numbers by semicolons"),
            ("a.csv", b"1\t2\n3\t4\n", "by tabs"),
            ("a.csv", b"1 2\n3 4\n", "by spaces"),
            ("a.csv", b"", "empty"),
            ("a.csv", b"\n\n", "no numbers"),
            ("a.csv", b"1,2\n3,x\n", "line 2, column 2"),
            ("a.csv", b"a,2\n3,4\n", "line 1, column 1"),
            ("a.csv", b"1,2\n3\n", "line 2 has 1 numbers"),
            ("a.csv", b"\xff\xfe\x00", "not text"),
        ],
    )
    def test_bad_content(self, tmp_path, name, content, problem):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InputError, match=problem):
            weight_files.read_matrix(tmp_path / name)

    def test_bad_arrays(self, tmp_path):
        np.save(tmp_path / "o.npy", np.array([[1, None]], dtype=object), allow_pickle=True)
        np.savez(tmp_path / "o.npz", a=np.array([[1, None]], dtype=object))
        np.savez(tmp_path / "two.npz", a=np.eye(9), b=np.eye(9))
        np.savez(tmp_path / "none.npz", a=np.ones(9), b=np.ones(9))
        np.save(tmp_path / "m.npy", np.eye(9))
        (tmp_path / "short.npy").write_bytes((tmp_path / "m.npy").read_bytes()[:-80])
        cases = [
            ("o.npy", None, "no plain array"),
            ("o.npz", None, "no plain array"),
            ("two.npz", None, "2 matrices.*a, b"),
            ("two.npz", "c", "no array 'c'"),
            ("none.npz", None, "no matrix, but a, b"),
            ("m.npy", "a", "single array"),
            ("short.npy", None, "cannot be read"),
            ("missing.npy", None, "no file"),
        ]
        for name, array, problem in cases:
            with pytest.raises(InputError, match=problem):
                weight_files.read_matrix(tmp_path / name, array)

    def test_a_header_that_lies_allocates_nothing(self, tmp_path):
        header = b"\x93NUMPY\x01\x00\x76\x00{'descr': '<f8', 'fortran_order': False, 'shape': (1000000, 1000000), }"
        (tmp_path / "big.npy").write_bytes(header.ljust(127) + b"\n" + b"\0" * 80)
        with pytest.raises(InputError, match="cannot be read"):
            weight_files.read_matrix(tmp_path / "big.npy")


@pytest.mark.parametrize(
    ("directions", "problem"),
    [
        (np.ones(7), "length 20 or 30"),
        (np.ones((2, 3, 4)), "shape"),
        (np.zeros(20), "zero vector"),
        (np.full(30, np.nan), "nan"),
        (np.array(["a"] * 20), "U1"),
    ],
)
def test_unusable_directions(directions, problem):
    with pytest.raises(InputError, match=problem):
        w.analyse(rng().standard_normal((20, 30)), directions, rng=rng())


def test_directions_as_columns_rows_or_for_both_sides():
    matrix, u, v = spiked((40, 60), 8.0)
    columns = w.analyse(matrix, np.stack([u, u], axis=1), rng=rng()).overlaps
    rows = w.analyse(matrix, np.stack([v, v]), rng=rng()).overlaps
    assert [o.side for o in columns] == ["left", "left"]
    assert [o.side for o in rows] == ["right", "right"]
    square, u, v = spiked((50, 50), 8.0)
    both = w.analyse(square, u, rng=rng()).overlaps
    with pytest.raises(InputError, match="say --directions-as"):
        w.analyse(square, np.stack([u] * 50), rng=rng())
    many = np.stack([u] * 50)  # a square file, read as told
    assert w.analyse(square, many, rng=rng(), layout="rows").overlaps[0] == both[0]
    assert w.analyse(square, many.T, rng=rng(), layout="columns").overlaps[0] == both[0]
    assert [(o.side, o.direction) for o in both] == [("left", 0), ("right", 0)]
    assert both[0].squared > 0.8 > both[1].squared


@pytest.mark.parametrize(("strength", "cosine"), [(1.6, 1.0), (1.6, 0.6), (2.5, 1.0), (2.5, 0.3), (4.0, 0.8)])
@pytest.mark.parametrize("shape", [(120, 180), (150, 90)])
def test_overlaps_are_within_their_errors(shape: tuple[int, int], strength: float, cosine: float) -> None:
    """The estimate of c^2 and its error against 30 matrices whose signal is known: 1.5 is 5 sd of the root mean."""
    rng = np.random.default_rng(3)
    deviations, passed_one = [], 0
    for _ in range(30):
        (u, other), v = np.linalg.qr(rng.standard_normal((shape[0], 2)))[0].T, rng.standard_normal(shape[1])
        W = rng.standard_normal(shape) / np.sqrt(shape[0]) + strength * np.outer(u, v / np.linalg.norm(v))
        direction = cosine * u + np.sqrt(1 - cosine**2) * other
        found = w.analyse(W, direction, alarm=0.3, rng=rng, draws=1)
        deviations += [(o.signal - cosine**2) / o.signal_sd for o in found.overlaps if o.outlier == 0]
        passed_one += any(o.signal > 1 for o in found.overlaps)
    assert len(deviations) >= 25
    assert 0.5 < float(np.sqrt(np.mean(np.square(deviations)))) < 1.5
    assert cosine < 1 or passed_one > 0  # the estimate is not clamped
