"""Noise whose variance is a product of row and column levels: its spectrum's edge, spikes, and Tracy-Widom scale.

W has independent entries of variance a_i b_j. With A(p) = sum a_i/(1 - a_i p) and B(q) = sum b_j/(1 - b_j q) the
equations of the resolvent of W W^T (Dyson's for this profile; Silverstein's where one side is even) are, above the
spectrum,   p A(p) = q B(q),   z = A(p)/q,
a curve of one real parameter: z falls from infinity as p leaves 0 and turns at the edge. Nothing complex is needed.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from bulkedge.numerics.spectra import tracy_widom
from bulkedge.numerics.spectra.marchenko_pastur import Floats
from bulkedge.theory.numbers.errors import InputError

_FURTHEST = 0.99975  # of the way to the loudest row's own pole


@dataclass(frozen=True, eq=False)
class SeparableNoise:
    """Independent entries of variance rows[i] columns[j] (d x N), for squared singular values.

    Valid for: bounded positive levels as the sizes grow. Source: Hachem, Loubaton & Najim 2007; R2 where one is even.
    """

    rows: Floats
    columns: Floats

    def __post_init__(self) -> None:
        for name in ("rows", "columns"):
            levels = np.asarray(getattr(self, name), dtype=float)
            if levels.ndim != 1 or not levels.size or not np.all(np.isfinite(levels)) or np.min(levels) <= 0:
                raise InputError(name, "are not positive variances", "give a vector of positive numbers")
            object.__setattr__(self, name, levels)

    @functools.cached_property
    def edge(self) -> float:
        """The right edge of the squared singular values."""
        return self._position(self._critical)

    @functools.cached_property
    def scale(self) -> float:
        """The Tracy-Widom scale: eigenvalues near the edge count as (2 kappa/3 pi) t^(3/2), and it is kappa^(-2/3)."""
        p = self._critical
        step = 1e-5 * p
        curvature = (self._slope(p + step) - self._slope(p - step)) / (2 * step)
        trace = float(np.sum(self.rows / (1 - self.rows * p) ** 2))
        return math.pow(trace / self.edge * math.sqrt(2 / curvature), -2 / 3)

    def threshold(self, alarm: float) -> float:
        """The squared singular value that the noise exceeds with probability `alarm`."""
        return self.edge + self.scale * float(tracy_widom.isf(alarm))

    def p_value(self, squared: float) -> float:
        """P(the noise's largest squared singular value exceeds `squared`)."""
        return float(tracy_widom.sf((squared - self.edge) / self.scale))

    def traces(self, squared: float) -> tuple[float, float]:
        """(1/d) tr (z - W W^T)^-1 and (1/N) tr (z - W^T W)^-1 at z above the edge."""
        p, q = self._at(squared)
        first = float(np.mean(1 / (1 - self.rows * p))) / squared
        return first, float(np.mean(1 / (1 - self.columns * q))) / squared

    def strength(self, squared: float) -> float:
        """The strength of a spike with vectors spread evenly over rows and columns whose outlier is at `squared`.

        1/theta^2 = z m1(z) m2(z), the `traces`. Errors: InputError within the bulk.
        """
        first, second = self.traces(squared)
        return 1 / math.sqrt(squared * first * second)

    def outlier(self, strength: float) -> float | None:
        """The squared singular value of that spike's outlier; None below the threshold."""
        low, high = self.edge * (1 + 1e-12), self.edge + 4 * strength**2 + self.edge
        if strength <= self.strength(low):
            return None
        return float(brentq(lambda z: self.strength(z) - strength, low, high, xtol=1e-12 * high))

    def kept(self, squared: float) -> tuple[float, float]:
        """The squared overlaps of an outlier's left and right vector with the spike's (Benaych-Georges & Nadakuditi).

        -2 m/(theta^2 d/dy (y^2 m1 m2)) at y = sqrt z with m = y m1, y m2; the derivative by central differences.
        """
        y = math.sqrt(squared)
        step = 1e-5 * min(y, y - math.sqrt(self.edge))

        def product(at: float) -> float:
            first, second = self.traces(at * at)
            return at * first * at * second

        slope = (product(y + step) - product(y - step)) / (2 * step)
        first, second = self.traces(squared)
        over = -2 / (self.strength(squared) ** 2 * slope)
        return y * first * over, y * second * over

    @functools.cached_property
    def _critical(self) -> float:
        """Where z turns.

        With u = p A(p) = q B(q), z = u/(p q), so d log z/d log u = 1 - d log p/d log u - d log q/d log u. Of
        x = a p/(1 - a p), d log u/d log p = 1 + sum x^2/sum x increases with p (Cauchy-Schwarz), and so for q: there is
        one zero, and it is bracketed.
        """
        end = 1 / float(np.max(self.rows))
        low, high = 1e-9 * end, _FURTHEST * end
        if self._turning(high) < 0:
            raise InputError("rows", "have levels too far apart", "leave the loudest out")
        return float(brentq(self._turning, low, high, xtol=1e-15 * end, rtol=1e-14))

    def _turning(self, p: float) -> float:
        """d log z/d log u: -1 far above the spectrum, 0 at the edge."""
        found = 1.0
        for level, at in ((self.rows, p), (self.columns, self._other(p))):
            x = level * at
            x = x / (1 - x)
            total = float(x.sum())
            found -= total / (total + float(x @ x))
        return found

    def _a(self, p: float) -> float:
        return float(np.sum(self.rows / (1 - self.rows * p)))

    def _other(self, p: float) -> float:
        """q(p): q B(q) = p A(p), increasing in q."""
        target, end = p * self._a(p), 1 / float(np.max(self.columns))

        def gap(q: float) -> float:
            x = self.columns * q
            return float((x / (1 - x)).sum()) - target

        high = end * (1 - 1 / (2 + target))  # the largest level alone passes the target there
        return float(brentq(gap, 0.0, min(high, end * (1 - 1e-15)), xtol=1e-16 * end, rtol=1e-14))

    def _position(self, p: float) -> float:
        return self._a(p) / self._other(p)

    def _slope(self, p: float) -> float:
        """dz/dp, with q' from the derivative of p A = q B."""
        q = self._other(p)
        a = self._a(p)
        growth = float(np.sum((self.rows / (1 - self.rows * p)) ** 2))
        # (p A)' = sum a/(1 - a p)^2, and the same for q B.
        turned = float(np.sum(self.rows / (1 - self.rows * p) ** 2))
        other = float(np.sum(self.columns / (1 - self.columns * q) ** 2))
        return growth / q - a / q**2 * turned / other

    def _at(self, squared: float) -> tuple[float, float]:
        if not squared > self.edge:
            raise InputError("squared", f"{squared:.6g} is no outlier", f"give values beyond the edge {self.edge:.6g}")
        low = self._critical
        while self._position(low) < squared:
            low /= 2
        p = float(brentq(lambda t: self._position(t) - squared, low, self._critical, rtol=1e-14))
        return p, self._other(p)
