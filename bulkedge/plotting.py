"""Saving pictures: one place that knows the formats, the style and how not to leave half a file."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from theory.errors import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from bulkedge.result import Result

FORMATS = (".pdf", ".svg", ".png")

# Okabe and Ito's colour-blind safe palette.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")

STYLE = {
    "axes.prop_cycle": None,  # set in new_figure: a cycler cannot be built without importing matplotlib
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.25,
    "font.size": 9,
    "legend.frameon": False,
    "figure.constrained_layout.use": True,
    "svg.hashsalt": "bulkedge",  # the same picture gives the same bytes
}


def new_figure(width: float = 5.2, height: float = 3.4, **subplots: Any) -> tuple[Figure, Any]:
    """A figure in the house style and its axes (as pyplot.subplots); no display and no global state is touched."""
    import matplotlib
    from cycler import cycler
    from matplotlib.figure import Figure

    style = {**STYLE, "axes.prop_cycle": cycler(color=PALETTE)}
    with matplotlib.rc_context(style):
        figure = Figure(figsize=(width, height))
        axes = figure.subplots(**subplots)
    return figure, axes


def check_plot_path(path: str) -> Path:
    """The path of a picture, or InputError: unknown format, missing folder, folder that cannot be written."""
    target = Path(path)
    if target.suffix.lower() not in FORMATS:
        raise InputError("plot", f"cannot draw to {path!r}", f"end the file name in {', '.join(FORMATS)}")
    if not target.parent.is_dir():
        raise InputError("plot", f"the folder {str(target.parent)!r} does not exist", "make it first")
    if target.is_dir() or not os.access(target.parent, os.W_OK):
        raise InputError("plot", f"{path!r} cannot be written", "choose another file")
    return target


def write_figure(figure: Figure, path: Path) -> None:
    """Write a figure to a file, whole or not at all; the same figure gives the same bytes."""
    import matplotlib

    metadata = {".pdf": {"CreationDate": None}, ".svg": {"Date": None}}.get(path.suffix.lower())
    try:
        handle, name = tempfile.mkstemp(suffix=path.suffix, dir=path.parent)
    except OSError as error:
        raise InputError("plot", f"{str(path)!r} cannot be written ({error.strerror})", "choose another file") from None
    os.close(handle)
    try:
        with matplotlib.rc_context({"svg.hashsalt": "bulkedge", "pdf.fonttype": 42}):
            figure.savefig(name, dpi=200, metadata=metadata)
        os.chmod(name, 0o644)
        os.replace(name, path)
    except OSError as error:
        os.unlink(name)
        raise InputError("plot", f"{str(path)!r} cannot be written ({error.strerror})", "choose another file") from None


def save_figure(result: Result, path: str) -> None:
    """Draw a result's figure to `path`."""
    figure = result.figure()
    if figure is None:
        raise InputError("plot", "this result has no curve", "leave --plot out")
    write_figure(figure, check_plot_path(path))
