"""O6 in numbers: where the outlier of a link without a linear coefficient stands, and d times its overlap with beta."""

from __future__ import annotations

from typing import NamedTuple

from bulkedge.numerics.spectra.spike import rectangular
from bulkedge.numerics.steps.covariance import label_moments
from bulkedge.numerics.steps.gradient import spike_strength
from bulkedge.theory.numbers.errors import InputError
from bulkedge.theory.steps.setting import Limit

SMALL = 1e-12  # E z g against the root of E y^2: zero up to the quadrature's error


class Unlearned(NamedTuple):
    """The outlier's position, its left vector's squared overlaps: with u/|u|, and d times that with beta."""

    outlier: float
    overlap_u: float
    scaled_overlap: float


def unlearned_outlier(model: Limit) -> Unlearned:
    """The outlier of a first step on one link with E z g = 0.

    Formula: theory.steps.unlearned_outlier.unlearned_overlap, position_statement.
    Valid for: eta of order one; above O2's threshold, else there is no outlier.
    Accuracy: that of the link's moments by quadrature, 1e-12 relative.
    Errors: InputError for several links, a link with a linear coefficient, or a step below the threshold.
    Source: O6.
    """
    if len(model.links) != 1:
        raise InputError("links", "several directions", "give one link")
    label2, linear, along = label_moments(model.links[0], float(model.noise))
    if not abs(linear) <= SMALL * label2**0.5:
        raise InputError("links", f"E z g = {linear:.3g} is not 0: one step learns it", "see O2")
    theta, spikes = spike_strength(model), rectangular(float(model.width))
    if not spikes.above(theta):
        raise InputError("steps", f"the spike of strength {theta:.3g} leaves no outlier", "take a larger step")
    omega = float(spikes.overlap("d", theta))
    return Unlearned(float(spikes.outlier(theta)), omega, omega * along / label2 + 1 - omega)
