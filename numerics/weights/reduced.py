"""A matrix without its zero rows and columns, and on its range where its rank is deficient.

Differences of weights, pruned layers and inputs that are constant have rows of zeros: they carry no noise, and counted
in, they move every edge. A matrix of rank r below its smaller side is turned into one of side r by an orthogonal change
of basis (a random one, so that the noise stays spread evenly over the rows): no singular value changes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bulkedge.numerics.spectra.edge import SMALLEST
from bulkedge.numerics.spectra.marchenko_pastur import Floats
from bulkedge.theory.numbers.errors import InputError


@dataclass(frozen=True)
class Reduced:
    """The part of a matrix that carries noise: `matrix` = left^T (the matrix's `rows` and `columns`) right.

    `rows`, `columns` are masks of what is not zero; `left`, `right` orthonormal bases, None where nothing was turned.
    `rank` is the number of singular values beyond rounding, `deficient` whether that is less than the smaller side.
    """

    matrix: Floats
    shape: tuple[int, int]
    rows: np.ndarray[tuple[int], np.dtype[np.bool_]]
    columns: np.ndarray[tuple[int], np.dtype[np.bool_]]
    left: Floats | None
    right: Floats | None
    rank: int
    deficient: bool

    @property
    def dropped(self) -> tuple[int, int]:
        """How many rows and columns of zeros were dropped."""
        return int(np.sum(~self.rows)), int(np.sum(~self.columns))

    def lift(self, side: str, vectors: Floats) -> Floats:
        """Vectors (columns) of the reduced matrix's left or right side in the matrix's own coordinates."""
        basis, mask = (self.left, self.rows) if side == "left" else (self.right, self.columns)
        full = np.zeros((len(mask), vectors.shape[1]))
        full[mask] = vectors if basis is None else basis @ vectors
        return full

    def lower(self, side: str, vectors: Floats) -> Floats:
        """The adjoint of `lift`: vectors (columns) of the matrix's side in the reduced coordinates, cut to them."""
        basis, mask = (self.left, self.rows) if side == "left" else (self.right, self.columns)
        return vectors[mask] if basis is None else np.asarray(basis.T @ vectors[mask])


def reduced(array: Floats, precision: float = 2.0**-52) -> Reduced:
    """The matrix without rows and columns of zeros, turned onto its range if its rank is deficient.

    `precision` is the relative rounding error of an entry as it was stored: singular values below
    precision rms (sqrt d + sqrt N), the norm of rounding errors, are none (and those that squares lose in doubles).
    Rows below that share of the largest one count as zero.
    Errors: InputError if fewer than 8 rows, columns or dimensions are left.
    """
    sizes = [np.sqrt(np.einsum("ij,ij->i" if axis else "ij,ij->j", array, array)) for axis in (1, 0)]
    rows, columns = (size > 4 * precision * size.max() for size in sizes)
    living = array if rows.all() and columns.all() else array[np.ix_(rows, columns)]
    _enough("non-zero rows and columns", living.shape, min(living.shape))
    shape = (array.shape[0], array.shape[1])
    rms2 = float(np.mean(living * living))
    rounding = precision * rms2**0.5 * (living.shape[0] ** 0.5 + living.shape[1] ** 0.5)
    if _full(living, rounding**2):
        return Reduced(living, shape, rows, columns, None, None, min(living.shape), False)
    u, values, vt = np.linalg.svd(living, full_matrices=False)
    rank = int(np.sum(values > max(rounding, 2.0**-52 * values[0] * max(living.shape))))
    if rank == len(values):
        return Reduced(living, shape, rows, columns, None, None, rank, False)
    _enough(f"singular values beyond rounding: {rank} of {len(values)}, it has no bulk,", living.shape, rank)
    turn = np.linalg.qr(np.random.default_rng(0).standard_normal((rank, rank)))[0]
    if living.shape[0] <= living.shape[1]:
        basis = u[:, :rank] @ turn
        return Reduced(basis.T @ living, shape, rows, columns, basis, None, rank, True)
    basis = vt[:rank].T @ turn
    return Reduced(living @ basis, shape, rows, columns, None, basis, rank, True)


def _full(array: Floats, floor: float) -> bool:
    """Whether all squared singular values pass `floor` for sure: a Cholesky factor costs a tenth of the spectrum."""
    wide = array if array.shape[0] <= array.shape[1] else array.T
    gram = wide @ wide.T
    size = len(gram)
    gram[np.diag_indices(size)] -= floor + 1e-15 * size * float(np.trace(gram))
    try:
        np.linalg.cholesky(gram)
    except np.linalg.LinAlgError:
        return False
    return True


def _enough(what: str, shape: tuple[int, ...], least: int) -> None:
    if least < SMALLEST:
        problem = f"has too few {what} in {shape[0]} x {shape[1]}"
        raise InputError("matrix", problem, f"give noise plus low rank, at least {SMALLEST} of each side")
