"""Makes weightwatcher_fits.json with weightwatcher 0.7.7: its Marchenko-Pastur fit on matrices of known content.

Run in an environment of its own: pip install weightwatcher==0.7.7; python tests/reference/weightwatcher_fits.py
The matrices are drawn here from seeds and again, the same ones, in tests/numerics/weights/test_weights.py.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import weightwatcher

# seed, rows, columns, standard deviation of the noise, strengths in units of sd * sqrt(rows)
CASES = [
    (1, 300, 200, 0.05, []),
    (2, 200, 300, 1.0, []),
    (3, 300, 200, 0.05, [3.0]),
    (4, 200, 300, 0.2, [2.0, 4.0, 8.0]),
    (5, 400, 100, 1.0, [1.2]),
    (6, 250, 250, 0.1, [20.0]),
]


def matrix(seed: int, rows: int, columns: int, sd: float, strengths: list[float]) -> np.ndarray:
    """Noise plus spikes."""
    rng = np.random.default_rng(seed)
    found = sd * rng.standard_normal((rows, columns))
    for strength in strengths:
        u, v = rng.standard_normal(rows), rng.standard_normal(columns)
        found += strength * sd * np.sqrt(rows) * np.outer(u, v) / np.linalg.norm(u) / np.linalg.norm(v)
    return found


def main() -> None:
    """Write the reference file next to this script."""
    watcher = weightwatcher.WeightWatcher()
    rows = []
    for case in CASES:
        weights = matrix(*case)
        n, m = max(weights.shape), min(weights.shape)
        evals = np.sort(np.linalg.svd(weights, compute_uv=False) ** 2)
        spikes, sigma, *_, wscale = watcher.mp_fit(
            evals, n, m, 1, "layer", 0, 0, False, False, ".", "blue", 1.0, True, evals
        )
        # Its sigma is that of the eigenvalues after scaling by wscale, in the convention W/sqrt(n).
        rows.append({"case": case, "spikes": int(spikes), "sd": float(sigma / wscale / np.sqrt(n))})
    target = Path(__file__).with_suffix(".json")
    target.write_text(
        json.dumps({"program": f"weightwatcher {weightwatcher.__version__}", "rows": rows}, indent=1) + "\n"
    )


if __name__ == "__main__":
    main()
