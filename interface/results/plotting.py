"""Saving pictures: one place that knows the formats, the style and how not to leave half a file."""

from __future__ import annotations

import contextlib
import contextvars
import functools
import io
import os
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from bulkedge.theory.numbers.errors import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Drawable(Protocol):
    """What is read of a result: stated here, as results draw by this module."""

    def figure(self) -> Figure | None:
        """The picture, if there is one."""


FORMATS = (".pdf", ".svg", ".png")

# Okabe and Ito's colour-blind safe palette.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")

# Told apart without colour too. Seven, six and eight of them: no two series share all three before the 168th.
LINES: tuple[Any, ...] = ("-", "--", "-.", ":", (0, (6, 1.5, 1, 1.5, 1, 1.5)), (0, (8, 3)))
MARKERS = "osD^vPX*"

_STYLE = {
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


@dataclass(frozen=True)
class _Look:
    """How figures are drawn inside `looking`: their width in inches, settings beside the house style, given axes."""

    width: float | None = None
    style: Mapping[str, Any] = field(default_factory=dict)
    axes: Any = None


_LOOK: contextvars.ContextVar[_Look] = contextvars.ContextVar("look", default=_Look())  # noqa: B039 -- a frozen value


@contextlib.contextmanager
def looking(width: float | None = None, style: str | Mapping[str, Any] | None = None, ax: Any = None) -> Iterator[None]:
    """Inside this block figures are `width` inches wide, in a style of matplotlib's beside ours, or drawn onto `ax`.

    `style`: the name of a style ("grayscale"), a .mplstyle file, or a mapping of settings. `ax`: axes, or a sequence of
    them for a picture of several panels.
    Errors: InputError for a width, style or axes that are not usable.
    """
    import matplotlib

    token = _LOOK.set(_Look(width, style_settings(style), ax))
    try:
        with matplotlib.rc_context(dict(_LOOK.get().style)):
            yield
    finally:
        _LOOK.reset(token)


def style_settings(style: str | Mapping[str, Any] | None) -> dict[str, Any]:
    """The settings of a style by name, file or mapping.

    Errors: InputError for a style that matplotlib does not know.
    """
    import warnings

    import matplotlib
    import matplotlib.style as styles

    if style is None:
        return {}
    if isinstance(style, Mapping):
        return dict(style)
    if not isinstance(style, str):
        raise InputError("style", f"{style!r:.60} is no style", "give a name as 'grayscale' or a .mplstyle file")
    try:
        with warnings.catch_warnings(), matplotlib.rc_context():
            warnings.simplefilter("ignore")  # of settings that a style may not hold
            if style in styles.library:
                return dict(styles.library[style])
            return dict(matplotlib.rc_params_from_file(style, use_default_template=False))
    except (OSError, ValueError) as error:
        reason = f"{style!r} is no style of matplotlib's and no file of one ({type(error).__name__})"
        raise InputError("style", reason, "give a name as 'grayscale' or a .mplstyle file") from None


def new_figure(width: float = 5.2, height: float = 3.4, **subplots: Any) -> tuple[Figure, Any]:
    """A figure in the house style and its axes (as pyplot.subplots); no display and no global state is touched.

    Inside `looking` its width, style or axes are those given there.
    Errors: InputError for given axes that are not as many as the picture has panels.
    """
    import matplotlib
    from cycler import cycler
    from matplotlib.figure import Figure

    look = _LOOK.get()
    if look.axes is not None:
        return _given(look.axes, subplots.get("nrows", 1) * subplots.get("ncols", 1))
    style = {**_STYLE, "axes.prop_cycle": cycler(color=PALETTE), **look.style}
    if look.width is not None:
        width, height = look.width, height * look.width / width
    with matplotlib.rc_context(style):
        figure = Figure(figsize=(width, height))
        axes = figure.subplots(**subplots)
    vars(figure)["_repr_svg_"] = functools.partial(_svg, figure)  # notebooks show it, whatever their backend
    return figure, axes


def _given(axes: Any, panels: int) -> tuple[Figure, Any]:
    import numpy as np

    flat = np.atleast_1d(np.asarray(axes, dtype=object)).ravel()
    if len(flat) != panels or not all(hasattr(x, "plot") and hasattr(x, "figure") for x in flat):
        some = "one axes" if panels == 1 else f"{panels} axes, one for each panel"
        raise InputError("ax", f"{len(flat)} are given where the picture has {panels}", f"give {some}")
    return flat[0].figure, flat[0] if panels == 1 else flat


def _svg(figure: Figure) -> str:
    import matplotlib

    buffer = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": "bulkedge"}):
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    return buffer.getvalue()


def to_the_edges(lower: float, upper: float, points: int = 201) -> Any:
    """Places over an interval, its ends among them, dense there: where a law rises like a root."""
    import numpy as np

    return lower + (upper - lower) * np.sin(np.linspace(0, np.pi / 2, points)) ** 2


def line(index: int) -> dict[str, Any]:
    """Colour and dashes of the index-th curve."""
    return {"color": PALETTE[index % len(PALETTE)], "linestyle": LINES[index % len(LINES)]}


def points(index: int) -> dict[str, Any]:
    """Colour and marker of the index-th set of points."""
    return {"color": PALETTE[index % len(PALETTE)], "marker": MARKERS[index % len(MARKERS)], "markersize": 4}


def check_plot_path(path: str) -> Path:
    """The path of a picture, or InputError: unknown format, missing folder, folder that cannot be written."""
    target = Path(path)
    if target.suffix.lower() not in FORMATS:
        raise InputError("plot", f"cannot draw to {path!r}", f"end the file name in {', '.join(FORMATS)}")
    if not target.parent.is_dir():
        raise InputError("plot", f"the folder {str(target.parent)!r} does not exist", "make it first")
    if target.is_dir():
        raise InputError("plot", f"{path!r} is a folder", "name a file in it")
    try:  # permissions do not tell the whole: the superuser has them all, also where nothing can be made
        with tempfile.TemporaryFile(dir=target.parent):
            return target
    except OSError as error:
        raise _unwritable(path, error) from None


def _unwritable(path: str | Path, error: OSError) -> InputError:
    return InputError("plot", f"{str(path)!r} cannot be written ({error.strerror})", "choose another file")


def write_figure(figure: Figure, path: Path, title: str = "", description: str = "") -> None:
    """Write a figure to a file, whole or not at all; the same figure gives the same bytes.

    `title` and `description` go into the file's metadata, for readers who do not see the picture.
    Errors: OSError where the disk does not take it.
    """
    import matplotlib

    suffix = path.suffix.lower()
    dates: dict[str, dict[str, str | None]] = {".pdf": {"CreationDate": None}, ".svg": {"Date": None}}
    words = {"Title": title, "Subject" if suffix == ".pdf" else "Description": description} if title else {}
    metadata = dates.get(suffix, {}) | words
    # Drawn in memory, written beside the file and renamed: matplotlib's writers do not survive a full disk.
    drawn = io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": "bulkedge", "pdf.fonttype": 42}):
        figure.savefig(drawn, format=suffix.removeprefix("."), dpi=200, metadata=metadata)
    name = None
    try:
        handle, name = tempfile.mkstemp(suffix=path.suffix, dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(drawn.getbuffer())
        os.chmod(name, 0o644)
        os.replace(name, path)
        name = None
    finally:
        if name is not None:
            os.unlink(name)


def save_figure(result: Drawable, path: str) -> None:
    """Draw a result's figure to `path`."""
    figure = result.figure()
    if figure is None:
        raise InputError("plot", "this result has no curve", "leave --plot out")
    target = check_plot_path(path)
    try:
        write_figure(figure, target)
    except OSError as error:
        raise _unwritable(path, error) from None
