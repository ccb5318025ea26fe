"""Weight matrices that users bring (R5): the strength behind an outlier."""

from __future__ import annotations

import sympy as sp

from bulkedge.theory.numbers.statement import Statement
from bulkedge.theory.numbers.symbols import theta
from bulkedge.theory.spectra.spike import RECTANGULAR


def rectangular_strength() -> sp.Eq:
    """R5's statement: the strength behind an observed singular value `symbols.x` beyond the edge."""
    return sp.Eq(theta, RECTANGULAR.inverse)


STATEMENTS = (
    Statement(
        id="R5",
        title="Spectrum of a given weight matrix: bulk, edge, outliers, strengths, overlaps, fit",
        formula=rectangular_strength,
        assumptions=(
            "`W` = independent noise + low rank; `x` is a singular value over `sigma sqrt d`, beyond the edge",
            "the bulk `k` spikes leave is Marchenko-Pastur's less their spectral shifts; it is tested against noise "
            "of its shape and kurtosis",
            "where noise levels are equalised, strengths and overlaps are turned back into the file's units",
        ),
        sources=("R3, R4 and O2 combined",),
        status="derived",
    ),
)
