"""A small real checkpoint: a network of two hidden layers trained on scikit-learn's digits, before and after.

    python examples/digits_checkpoint.py FOLDER

writes start.npz and trained.npz (arrays layer1.weight, layer2.weight, outputs x inputs; the images' constant pixels
leave columns that training does not touch), and prints the accuracy. NumPy and scikit-learn only; a second or two.
"""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

WIDTHS = (128, 96)
STEPS, BATCH, RATE, MOMENTUM = 1500, 64, 0.1, 0.9


def train(seed: int = 1) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray], float]:
    """Weights before and after stochastic gradient descent with momentum on cross-entropy, and the test accuracy."""
    rng = np.random.default_rng(seed)
    images, labels = load_digits(return_X_y=True)
    images = (images - images.mean()) / images.std() * (images.std(axis=0) > 0)
    order = rng.permutation(len(images))
    test, rest = order[:360], order[360:]
    sizes = (images.shape[1], *WIDTHS, 10)
    weights = [rng.standard_normal((out, into)) * np.sqrt(2 / into) for into, out in itertools.pairwise(sizes)]
    start, speed = [w.copy() for w in weights], [np.zeros_like(w) for w in weights]

    def forward(x: np.ndarray) -> list[np.ndarray]:
        values = [x]
        for k, w in enumerate(weights):
            z = values[-1] @ w.T
            values.append(np.maximum(z, 0) if k < len(weights) - 1 else z)
        return values

    for _ in range(STEPS):
        batch = rng.choice(rest, BATCH, replace=False)
        values = forward(images[batch])
        odds = np.exp(values[-1] - values[-1].max(axis=1, keepdims=True))
        error = (odds / odds.sum(axis=1, keepdims=True) - np.eye(10)[labels[batch]]) / BATCH
        for k in reversed(range(len(weights))):
            gradient = error.T @ values[k]
            error = (error @ weights[k]) * (values[k] > 0)
            speed[k] = MOMENTUM * speed[k] - RATE * gradient
            weights[k] += speed[k]
    accuracy = float(np.mean(forward(images[test])[-1].argmax(axis=1) == labels[test]))
    names = [f"layer{k + 1}.weight" for k in range(len(WIDTHS))]
    return dict(zip(names, start, strict=False)), dict(zip(names, weights, strict=False)), accuracy


def main(folder: str) -> None:
    """Write the two checkpoints."""
    start, trained, accuracy = train()
    np.savez(Path(folder) / "start.npz", **start)
    np.savez(Path(folder) / "trained.npz", **trained)
    print(f"test accuracy {accuracy:.3f}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else ".")
