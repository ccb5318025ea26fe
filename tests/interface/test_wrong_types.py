"""Whatever a public function is given for an argument: the result, or InputError in one line; never another error."""

from __future__ import annotations

import contextlib
import inspect
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bulkedge
from bulkedge.theory.functions.nonlinearity import nonlinearity
from bulkedge.theory.numbers.errors import ConvergenceError, InputError, PrecisionError
from bulkedge.theory.spectra.spike import RECTANGULAR

X = np.array([[1.0, 0.0], [0.5, 2.0]])
MATRIX = np.random.default_rng(0).standard_normal((12, 8))


class Odd:
    """An object that is nothing else."""


WRONG: dict[str, Any] = {
    "none": None,
    "five": 5,
    "minus": -1,
    "half": 0.5,
    "text": "x",
    "empty": "",
    "list": [],
    "numbers": [1, 2],
    "mapping": {},
    "bytes": b"x",
    "true": True,
    "nan": float("nan"),
    "numpy nan": np.float64("nan"),
    "numpy float": np.float64(2.0),
    "numpy integer": np.int64(2),
    "numpy array": np.array([1.0, 2.0]),
    "object": Odd(),
    "complex": 1j,
    "path": Path("nowhere"),
}
# Good arguments, by name; each is replaced in turn.
GOOD: dict[str, dict[str, Any]] = {
    "hermite": {"function": "z", "degree": 1},
    "kernel": {"function": "z", "rho": "1/2", "order": 1},
    "sphere": {"function": "z", "dim": 3, "degree": 1},
    "kernel_matrix": {"X": X, "nonlinearity": "relu"},
    "kernel_gradient": {"X": X, "nonlinearity": "relu"},
    "outliers": {"alpha1": "0.35", "alpha2": "0.2", "degree": 1},
    "align": {"link": "z", "power": 1, "alpha": 2, "batch": "reused"},
    "mp": {"ratio": 2},
    "spike": {"ratio": 2, "strength": 3},
    "equivalent": {
        "expression": "tr(inv(X.T*X + lam))",
        "gaussian": "X: n x d, 1/n",
        "size": "n=2,d=1",
        "positive": "lam",
        "set": "lam=1",
        "simulate": 4,
        "trials": 2,
    },
    "convert": {"from_": "F", "to": "O"},
    "risk": {"activation": "tanh", "link": "z", "samples": 2, "width": 1, "ridge": 0.1, "step": 1},
    "gamma": {"activation": "z", "link": "z", "n": 20, "m": 10, "d": 10, "step": 1},
    "spectrum": {"dim": 3, "bulk": 1, "spike": 0.1, "degree": 2},
    "features": {"activation": "z", "link": "z", "exponent": "0.3"},
    "floor": {"activation": "z", "link": "z"},
    "weights": {"file": "matrix.npy"},
    "check": {"names": "H1.relu"},
    "show": {"id": "H4"},
    "figure": {"name": "F"},
    "paper": {"names": "K1.relu", "out": "book", "ledger": False},
    "report": {"out": "page", "names": "X9"},
    "spiked_kernel_matrix": {"X": X, "Y": None, "spike": np.array([1.0, 0.0]), "A": 1.0, "B": 0.5},
    "sector": {"d": 4, "A": 1.0, "B": 0.5},
    "truncated_sector": {"d": 4, "A": 1.0, "B": 0.5, "activation": nonlinearity("tanh"), "degree": 2},
    "nonlinearity": {"spec": "relu"},
    "Setting": {"activation": "relu", "links": "z", "d": 3, "width": 2},
    "Limit": {"activation": "relu", "links": "z", "width": 2},
    "Growth": {"coefficient": 1},
    "MarchenkoPastur": {"ratio": 2.0},
    "SpikedModel": {"law": RECTANGULAR, "ratio": 2.0},
    "Runner": {},
    "Store": {"path": "store"},
}
SKIPPED = {"progress", "self", "argument"}
# What may take long, or is another meaning: no names at all are all of them.
MEANS_MORE = {
    *((command, "names", "list") for command in ("check", "paper", "report")),
    *(("figure", "out", label) for label in ("text", "path")),
    *(("spectrum", name, label) for name in ("dim", "sectors") for label in ("five", "numpy float", "numpy integer")),
}
CALLS = [
    (name, parameter)
    for name, good in GOOD.items()
    for parameter in inspect.signature(getattr(bulkedge, name)).parameters
    if parameter not in SKIPPED
]


@pytest.fixture(scope="module")
def folder() -> Iterator[None]:
    with tempfile.TemporaryDirectory() as place, contextlib.chdir(place):
        np.save("matrix.npy", MATRIX)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("bulkedge.book.tex.engine", lambda: None)
            yield


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(("name", "parameter"), CALLS, ids=map("-".join, CALLS))
def test_only_input_errors_come_out(name: str, parameter: str) -> None:
    function = getattr(bulkedge, name)
    for label, value in WRONG.items():
        if (name, parameter, label) in MEANS_MORE:
            continue
        said = "fine"
        try:
            function(**{**GOOD[name], parameter: value})
        except InputError as error:
            said = str(error)
        except (PrecisionError, ConvergenceError):
            pass
        assert "\n" not in said, label
        assert len(said) < 600, label


@pytest.mark.parametrize(
    ("name", "arguments", "argument"),
    [
        ("convert", {"ratio": 3}, "ratio"),
        ("weights", {"file": 5}, "FILE"),
        ("paper", {"out": None}, "out"),
        ("check", {"names": "H4", "jobs": "x"}, "jobs"),
        ("check", {"names": [3]}, "names"),
        ("figure", {"out": 5}, "out"),
        ("show", {"id": 3}, "ID"),
        ("risk", {"width": None}, "width"),
        ("risk", {"from_weights": "w.npy"}, "width"),
    ],
)
def test_the_argument_is_named_as_in_python(name: str, arguments: dict[str, Any], argument: str) -> None:
    with pytest.raises(InputError) as error:
        getattr(bulkedge, name)(**{**GOOD[name], **arguments})
    assert error.value.argument == argument
    assert "--" not in str(error.value)


def test_numpy_numbers_are_numbers() -> None:
    for integer in (np.int64, np.int32, np.uint8):
        assert bulkedge.hermite("relu", integer(3)).to_json() == bulkedge.hermite("relu", 3).to_json()
        assert bulkedge.kernel("relu", order=integer(2), digits=integer(9)) == bulkedge.kernel(
            "relu", order=2, digits=9
        )
        aligned = [bulkedge.align("He(2,z)", power=k, alpha=2, batch="reused", digits=9) for k in (integer(1), 1)]
        assert aligned[0].to_json() == aligned[1].to_json()
        assert bulkedge.sphere("relu", integer(3), integer(2)).to_json() == bulkedge.sphere("relu", 3, 2).to_json()
    assert bulkedge.kernel("relu", rho=np.float64(0.1)).to_json() == bulkedge.kernel("relu", rho=0.1).to_json()
    assert bulkedge.mp(np.float32(0.5)).to_json() == bulkedge.mp("1/2").to_json()
    assert bulkedge.spike(2, 3, size=np.int64(50)).to_json() == bulkedge.spike(2, 3, size=50).to_json()
    assert bulkedge.nonlinearity(np.int64(2)).degree == 0
