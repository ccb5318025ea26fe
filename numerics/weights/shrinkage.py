"""Optimal shrinkage of outliers: the value that each singular value gets in the denoised matrix, and what is lost.

A spike of strength theta whose vectors are found with cosines c and c' (O2) is met by eta u^ v^^T. What is left is, in
the planes of the true and the found vectors, the block theta e e^T - eta (c, s)(c', s')^T, s^2 = 1 - c^2; the loss of
orthogonal spikes is that of their blocks. Its minimum over eta is
theta c c' (Frobenius),   theta min(c/c', c'/c) (operator),   theta max(c c' - s s', 0) (nuclear).
Source: Gavish & Donoho 2017 (the operator norm for square matrices), Leeb 2022 (for others); O2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bulkedge.numerics.spectra.marchenko_pastur import Floats
from bulkedge.theory.functions import parse

LOSSES = ("frobenius", "operator", "nuclear")


@dataclass(frozen=True)
class Shrinkage:
    """The shrunken singular values, and the loss that remains: of the norm itself, asymptotic, by the estimates."""

    loss: str
    values: Floats
    risk: float


def shrinkage(strengths: Floats, kept_left: Floats, kept_right: Floats, loss: str = "frobenius") -> Shrinkage:
    """The optimal values of the outliers for a loss (frobenius, operator, nuclear), and the loss left over.

    Shapes/units: strengths and the vectors' squared overlaps with the signal (k each); values and risk in the units of
    the strengths. Valid for: orthogonal spikes in noise with independent entries, as the sizes grow.
    Errors: InputError for another loss. Source: Gavish & Donoho 2017, Leeb 2022.
    """
    loss = parse.choice(loss, "loss", LOSSES)
    cosine, other = np.sqrt(kept_left), np.sqrt(kept_right)
    sine, across = np.sqrt(1 - kept_left), np.sqrt(1 - kept_right)
    if loss == "frobenius":
        values = strengths * cosine * other
    elif loss == "operator":
        larger = np.maximum(cosine, other)
        values = strengths * np.where(larger > 0, np.minimum(cosine, other) / np.where(larger > 0, larger, 1.0), 0.0)
    else:
        values = strengths * np.maximum(cosine * other - sine * across, 0.0)
    blocks = -values[:, None, None] * np.stack([cosine, sine], 1)[:, :, None] * np.stack([other, across], 1)[:, None, :]
    blocks[:, 0, 0] += strengths
    left = np.linalg.svd(blocks, compute_uv=False) if len(strengths) else np.zeros((0, 2))
    norm = {"frobenius": np.sqrt(np.sum(left**2)), "operator": np.max(left, initial=0.0), "nuclear": np.sum(left)}
    return Shrinkage(loss, values, float(norm[loss]))
