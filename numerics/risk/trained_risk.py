"""L1 for a trained network: the spike directions of one or two steps, and the ridge risk of its features."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bulkedge.numerics.risk.conditional import ConditionalRisk, conditional_model, conditional_risk
from bulkedge.numerics.steps.network import Trained
from bulkedge.theory.numbers.errors import InputError

Array = NDArray[np.float64]


def spike_directions(trained: Trained) -> Array:
    """The directions that the steps put into the weights: u_t = X_t^T y_t/n1 for each, and T2's for the second.

    Shapes/units: d x 1 after one step; d x 3 after two, u_1, (1/n1) X_2^T (y_2 o X_2 u_1), u_2 (with a reused batch u_2
    is u_1: d x 2).
    Errors: InputError after more than two steps.
    Source: O1; T2, spikes k = 0 and 1.
    """
    if len(trained.batches) > 2:
        raise InputError("steps", f"{len(trained.batches)} steps", "directions are known for at most two")
    columns: list[Array] = []
    for batch in trained.batches:
        first = columns[0] if columns else None
        u, mixed, count = np.zeros(trained.setting.d), np.zeros(trained.setting.d), 0
        for X, y in batch:
            u += X.T @ y
            count += len(y)
            if first is not None:
                mixed += X.T @ (y * (X @ first))
        if first is not None:
            columns.append(mixed / count)
        if first is None or not trained.setting.reuse:
            columns.append(u / count)
    return np.stack(columns, axis=1) if columns else np.empty((trained.setting.d, 0))


def trained_risk(trained: Trained, count: int | None = None) -> ConditionalRisk:
    """Test and training risk (noise included) of the ridge read-out of a trained network, by L1, without simulation.

    Valid for: one link; one or two steps of any size up to Theta(sqrt N).
    Shapes/units: the setting's `train` and `ridge` (paper O's); `count` nodes a direction.
    Errors: InputError for several links, a setting without train or ridge, or more than two steps.
    Source: L1, T2.
    """
    setting = trained.setting
    if len(setting.links) != 1:
        raise InputError("links", f"{len(setting.links)} links", "give a single one")
    if setting.train is None or setting.ridge is None:
        raise InputError("train" if setting.train is None else "ridge", "missing", "a read-out needs both")
    link: Any = setting.links[0]
    model = conditional_model(
        np.asarray(trained.W),
        spike_directions(trained),
        trained.teacher.directions[:, 0],
        trained.sigma,
        trained.teacher.links[0],
        noise=float(setting.noise),
        kinks=[float(b) for b in setting.activation.kinks],
        link_kinks=[float(b) for b in link.kinks],
        count=count,
    )
    return conditional_risk(model, setting.train, float(setting.ridge))
