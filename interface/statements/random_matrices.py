"""Statements of the random-matrix layer (R1-R5) and of the spike of one step (O2)."""

from __future__ import annotations

from bulkedge.registry import Statement

STATEMENTS = (
    Statement(
        id="R1",
        title="Marchenko-Pastur law: edges, density, atom, moments and transforms at any ratio and scale",
        formula="bulkedge.theory.spectra.marchenko_pastur:stieltjes_equation",
        assumptions=(
            "(1/n) Z^T Z, Z an n x p matrix of iid entries of variance sigma2, p/n -> c in (0, oo)",
            "m(w) = E 1/(lambda - w), the atom 1 - 1/c at zero included for c > 1",
        ),
        sources=("Marchenko & Pastur 1967", "Bai & Silverstein 2010, section 3"),
    ),
    Statement(
        id="R2",
        title="General population spectrum: edges of every component, density, spikes; the conjugate kernel's bulk",
        formula="bulkedge.theory.spectra.silverstein:general_equation",
        assumptions=(
            "(1/n) S^(1/2) Z^T Z S^(1/2), p/n -> c, spectrum of S -> H with Stieltjes transform m_H",
            "alpha = -1/(companion transform); edges are critical values; spikes of positive slope leave outliers",
            "conjugate kernel: population mu1^2 W0^T W0 + mu2^2 for isotropic inputs, ratio N/n; its own outlier is "
            "the spike of strength c_2^2 N/d (c_2 orthonormal) added to that population",
        ),
        sources=("Silverstein & Choi 1995", "Bai & Yao 2012", "Fan & Wang 2020; the kernel's outlier: derived here"),
        status="derived",
    ),
    Statement(
        id="R3",
        title="Spiked covariance, Wishart, Wigner, rectangular: thresholds, outliers, overlaps, fluctuations, inverse",
        formula="bulkedge.theory.spectra.spike:covariance_outlier",
        assumptions=(
            "spikes of fixed rank and strength, distinct, with orthogonal vectors",
            "fluctuations: Gaussian noise; the rectangular variance is derived here",
        ),
        sources=("Baik & Silverstein 2006", "Paul 2007", "Benaych-Georges & Nadakuditi 2011, 2012"),
        status="derived",
    ),
    Statement(
        id="R4",
        title="The largest eigenvalue of finite noise, and how many outliers a matrix has at a false-alarm rate",
        formula="bulkedge.theory.spectra.tracy_widom:largest_eigenvalue",
        assumptions=(
            "iid entries of mean 0 and variance 1, excess kurtosis kappa of order one; T is Tracy-Widom, beta = 1",
            "unequal variances of rows (or of columns) are equalised first: then kappa = -2",
            "unequal on both sides, heavy tails, or a bulk that is not Marchenko-Pastur: no rate is quoted",
        ),
        sources=(
            "Johnstone 2001",
            "Ma 2012",
            "Bornemann 2010",
            "Kritchman & Nadler 2009",
            "kurtosis term: derived here",
        ),
        status="derived",
    ),
    Statement(
        id="R5",
        title="Spectrum of a given weight matrix: bulk, edge, outliers, strengths, overlaps, fit",
        formula="bulkedge.theory.spectra.spike:rectangular_strength",
        assumptions=(
            "W = independent noise + low rank; x is a singular value over sigma sqrt d, beyond the edge",
            "the bulk k spikes leave is Marchenko-Pastur's less their spectral shifts; it is tested against noise of "
            "its shape and kurtosis",
            "where noise levels are equalised, strengths and overlaps are turned back into the file's units",
        ),
        sources=("R3, R4 and O2 combined",),
        status="derived",
    ),
    Statement(
        id="O2",
        title="The outlier of one gradient step, its threshold and both overlaps",
        formula="bulkedge.theory.spectra.spike:rectangular_outlier",
        assumptions=(
            "W0 is d x N with iid N(0, 1/d) entries, N/d -> psi; theta = eta |mu1| |u|, u = X^T y/n1",
            "squared overlaps: with u/|u| on the d side; with beta multiply by mu1*^2/|u|^2",
            "the remainder of the step is small in operator norm: eta = o(sqrt N) (O1)",
        ),
        sources=("paper O, Theorem on the spike", "Benaych-Georges & Nadakuditi 2012"),
    ),
)
