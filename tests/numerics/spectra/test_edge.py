"""R4: the outlier count; its false-alarm rate is calibrated in the ledger, here are the parts and the clear cases."""

from __future__ import annotations

import numpy as np
import pytest

from bulkedge.numerics.checks.spectra.edge import planted_at, planted_spectrum, power
from bulkedge.numerics.spectra import edge
from bulkedge.numerics.spectra.edge import sequential, squared_singular_values
from bulkedge.theory.numbers.errors import InputError


def noise(seed, shape, kind="gauss"):
    rng = np.random.default_rng(seed)
    if kind == "rademacher":
        return rng.choice([-1.0, 1.0], shape)
    return rng.standard_normal(shape)


def spiked(seed, shape, strengths, scale=1.0):
    rng = np.random.default_rng(seed)
    matrix = rng.standard_normal(shape)
    for strength in strengths:
        u, v = (x / np.linalg.norm(x) for x in (rng.standard_normal(shape[0]), rng.standard_normal(shape[1])))
        matrix += strength * np.sqrt(max(shape)) * np.outer(u, v)
    return scale * matrix


@pytest.mark.parametrize("shape", [(80, 120), (120, 80), (60, 60), (20, 200)])
def test_spikes_are_counted_and_the_scale_is_right(shape):
    strengths = (3.0, 4.0, 6.0)
    for seed in range(3):
        found = edge.count_outliers(spiked(seed, shape, strengths, 0.3), 0.01)
        assert found.count == 3
        assert found.rate == 0.01
        assert found.variance == pytest.approx(0.09, rel=0.08)
        assert max(found.p_values) < 0.01
        assert found.edge < found.threshold < np.sqrt(found.spectrum.squared[2])
        assert found.spectrum.left.shape == (shape[0], 3)
        assert found.spectrum.right.shape == (shape[1], 3)


def test_noise_alone_has_none():
    for seed, kind in ((1, "gauss"), (2, "rademacher")):
        found = edge.count_outliers(noise(seed, (90, 70), kind), 0.001)
        assert (found.count, found.scaled) == (0, "none")


def test_unequal_rows_are_found_and_equalised():
    rng = np.random.default_rng(4)
    levels = np.sqrt(1 + rng.standard_normal(120) ** 2)
    matrix = levels[:, None] * rng.standard_normal((120, 160))
    found = edge.count_outliers(matrix, 0.01)
    assert (found.count, found.scaled, found.rate) == (0, "rows", 0.01)
    plain = edge.count_outliers(matrix, 0.01, adjust=False)
    assert plain.count > 0  # the control: the iid edge is wrong here
    assert edge.count_outliers(matrix.T, 0.01).scaled == "columns"
    # A spike on top is still found.
    u, v = np.sign(rng.standard_normal(120)), rng.standard_normal(160)
    spike = 6 * np.sqrt(160) * np.outer(u, v) / np.sqrt(120) / np.linalg.norm(v)
    assert edge.count_outliers(matrix + spike, 0.01).count == 1


def test_no_rate_is_quoted_where_there_is_none():
    rng = np.random.default_rng(5)
    rows, columns = (np.exp(0.5 * rng.standard_normal(n)) for n in (100, 120))
    found = edge.count_outliers(np.outer(rows, columns) * rng.standard_normal((100, 120)), 0.01)
    assert (found.rate, found.scaled) == (None, "both")
    assert "rows and over columns" in found.reason
    heavy = edge.count_outliers(rng.standard_t(3, (100, 120)), 0.01)
    assert heavy.rate is None
    assert "heavy tails" in heavy.reason


def test_homogeneity_is_a_p_value():
    p = [edge.homogeneity(m, edge.spectrum(m)).p_rows for m in (noise(s, (30, 50)) for s in range(200))]
    assert abs(np.mean(p) - 0.5) < 4 / np.sqrt(12 * 200)
    signs = edge.homogeneity(noise(0, (30, 50), "rademacher"), edge.spectrum(noise(0, (30, 50), "rademacher")))
    assert (signs.p_rows, signs.kind) == (1.0, "iid")


def test_kurtosis_moves_the_edge():
    centre = edge.noise_edge((300, 200), 0, 1.0).centre
    assert edge.noise_edge((300, 200), 0, 1.0, -2.0).centre / centre == pytest.approx(1 - 2 / np.sqrt(60000))


def test_leading_vectors_agree_with_a_full_decomposition():
    matrix = spiked(3, (500, 450), (5.0, 3.0))
    found = edge.spectrum(matrix, 2)
    u, s, vt = np.linalg.svd(matrix)
    assert found.squared == pytest.approx(s**2, rel=1e-8, abs=1e-8)
    assert np.abs(np.sum(found.left * u[:, :2], axis=0)) == pytest.approx([1, 1])
    assert np.abs(np.sum(found.right * vt[:2].T, axis=0)) == pytest.approx([1, 1])


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        (np.ones((10, 10)), "constant"),
        (np.ones(10), "dimensions"),
        (np.ones((10, 3)), "shape"),
        (np.full((10, 10), np.nan), "nan"),
        (np.ones((10, 10), dtype=object), "object"),
        (np.ones((10, 10), dtype=complex), "complex"),
        (np.full((10, 10), "a"), "U1"),
    ],
)
def test_unusable_matrices(values, problem):
    with pytest.raises(InputError, match=problem):
        edge.count_outliers(values)


@pytest.mark.parametrize("alarm", [0, 1, -0.1])
def test_unusable_alarm(alarm):
    with pytest.raises(InputError, match="alarm"):
        edge.count_outliers(noise(0, (10, 10)), alarm)


@pytest.mark.parametrize("shape", [(16, 40), (60, 60), (120, 60)])
@pytest.mark.parametrize("alarm", [1e-4, 0.01, 0.1])
def test_the_threshold_is_not_below_the_edge(shape, alarm):
    """Whatever was equalised and however many spikes were found: both belong to the shape that they leave."""
    for seed in range(3):
        levels = np.exp(np.random.default_rng(seed).standard_normal(shape[0]) / 2) if seed else np.ones(shape[0])
        matrix = levels[:, None] * spiked(seed, shape, (4.0, 5.0, 6.0))
        found = edge.count_outliers(matrix, alarm)
        assert found.threshold > found.edge


def test_a_count_leaves_a_bulk():
    for small in (8, 12, 16, 40, 400):
        most = edge.most_outliers(small)
        assert 1 <= most < small
        assert small - most >= min(8, 3 * small // 4)
        assert small - most >= small // 4
    levels = np.exp(np.linspace(0, 4, 16))
    rng = np.random.default_rng(0)
    turn = np.linalg.qr(rng.standard_normal((16, 16)))[0]
    found = edge.count_outliers(turn @ (levels[:, None] * rng.standard_normal((16, 900))), adjust=False)
    assert (found.count, found.exhausted, found.rate) == (8, True, None)


def test_heavy_tails_with_a_quoted_rate_alarm_no_more_often():
    """t5 noise: what makes its edge fail are single entries, also those an outlier has absorbed; then no rate holds."""
    rng = np.random.default_rng(8)
    found = [edge.count_outliers(rng.standard_t(5, (60, 60)), 0.05) for _ in range(150)]
    alarms = sum(f.count > 0 for f in found)
    quoted = [f for f in found if f.rate is not None]
    false = sum(f.count > 0 for f in quoted)
    # Two standard deviations above the binomial mean; without the rule some one in five of the quoted ones alarm.
    assert len(quoted) > 10
    assert false <= 0.05 * len(quoted) + 2 * np.sqrt(0.05 * len(quoted))
    assert alarms > false + 5


def test_a_known_scale_is_used():
    matrix = spiked(3, (60, 80), (4.0,), 0.5)
    found = edge.count_outliers(matrix, scale=0.5)
    assert (found.count, found.variance, found.scaled) == (1, 0.25, "none")
    # Twice the scale: the spike is within the noise.
    assert edge.count_outliers(matrix, scale=2.0).count == 0
    with pytest.raises(InputError, match="scale"):
        edge.count_outliers(matrix, scale=-1.0)


def test_the_bidiagonal_form_of_a_spiked_matrix_is_seen_as_often_as_the_matrix_and_as_predicted():
    """4 standard errors; the prediction leaves out terms of order size^(-1/3): here a third of that, measured .05."""
    size, trials = 40, 300
    shape = (size, 3 * size // 2)
    strength, predicted = planted_at(size, -1.5)
    rng = np.random.default_rng(4)
    seen = {"form": 0, "matrix": 0}
    for _ in range(trials):
        noise = rng.standard_normal(shape)
        noise[0, 0] += strength
        seen["matrix"] += sequential(squared_singular_values(noise), shape, 0.05) > 0
        seen["form"] += sequential(planted_spectrum(rng, size, strength), shape, 0.05) > 0
    form, dense = (count / trials for count in seen.values())
    error = float(np.sqrt(0.25 / trials))
    assert form == pytest.approx(dense, abs=4 * error * np.sqrt(2))
    assert form == pytest.approx(predicted, abs=4 * error + size ** (-1 / 3) / 3)


def test_the_power_grows_with_the_spike_from_the_rate_of_noise_alone():
    assert power(np.inf) == pytest.approx(0.05, rel=2e-3)
    found = [power(w) for w in (3.0, 0.0, -1.5, -2.5, -4.0)]
    assert found == sorted(found)
    assert found[-1] > 0.999
