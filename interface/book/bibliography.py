"""The papers that the statements come from."""

from __future__ import annotations

import re
from collections.abc import Iterable

# key -> (authors, title, where). The letters are those of the statements' sources.
BIBLIOGRAPHY = {
    "F": ("", "How does feature learning reshape the function space?", "arXiv:2605.17718, 2026"),
    "T": (
        "B. Moniri, H. Hassani",
        "Feature learning in linear-width two-layer networks: two vs. one step of gradient descent",
        "arXiv:2605.17767, 2026",
    ),
    "O": (
        "J. Ba, M. A. Erdogdu, T. Suzuki, Z. Wang, D. Wu, G. Yang",
        "High-dimensional asymptotics of feature learning: how one gradient step improves the representation",
        "arXiv:2205.01445, 2022",
    ),
    "M": (
        "B. Moniri, D. Lee, H. Hassani, E. Dobriban",
        "A theory of non-linear feature learning with one gradient step in two-layer neural networks",
        "arXiv:2310.07891, 2023",
    ),
    "B": (
        "F. Benaych-Georges, R. R. Nadakuditi",
        "The singular values and vectors of low rank perturbations of large rectangular random matrices",
        "Journal of Multivariate Analysis 111, 2012",
    ),
    "P5": (
        "H. Cui, L. Pesce, Y. Dandi, F. Krzakala, Y. M. Lu, L. Zdeborova, B. Loureiro",
        "Asymptotics of feature learning in two-layer networks after one gradient-step",
        "arXiv:2402.04980, 2024",
    ),
    "P7": (
        "Y. Dandi, F. Krzakala, B. Loureiro, L. Pesce, L. Stephan",
        "How two-layer neural networks learn, one (giant) step at a time",
        "arXiv:2305.18270, 2023",
    ),
    "P9": (
        "S. Mei, A. Montanari",
        "The generalization error of random features regression: precise asymptotics and double descent curve",
        "arXiv:1908.05355, 2019",
    ),
    "P10": (
        "H. Hu, Y. M. Lu",
        "Universality laws for high-dimensional learning with random features",
        "arXiv:2009.07669, 2020",
    ),
    "P11": ("Y. Cho, L. K. Saul", "Kernel methods for deep learning", "NIPS 2009"),
    "MP": (
        "V. A. Marchenko, L. A. Pastur",
        "Distribution of eigenvalues for some sets of random matrices",
        "Mathematics of the USSR-Sbornik 1, 1967",
    ),
    "BS": ("Z. Bai, J. W. Silverstein", "Spectral analysis of large dimensional random matrices", "Springer, 2010"),
    "Mehler": (
        "F. G. Mehler",
        "Ueber die Entwicklung einer Function von beliebig vielen Variablen nach Laplaceschen Functionen "
        "hoeherer Ordnung",
        "Journal fuer die reine und angewandte Mathematik 66, 1866",
    ),
    "Price": (
        "R. Price",
        "A useful theorem for nonlinear devices having Gaussian inputs",
        "IRE Trans. Inform. Theory 4, 1958",
    ),
    "SC": (
        "J. W. Silverstein, S.-I. Choi",
        "Analysis of the limiting spectral distribution of large dimensional random matrices",
        "Journal of Multivariate Analysis 54, 1995",
    ),
    "Johnstone": (
        "I. M. Johnstone",
        "On the distribution of the largest eigenvalue in principal components analysis",
        "Annals of Statistics 29, 2001",
    ),
    "Baik": (
        "J. Baik, J. W. Silverstein",
        "Eigenvalues of large sample covariance matrices of spiked population models",
        "Journal of Multivariate Analysis 97, 2006",
    ),
    "Paul": (
        "D. Paul",
        "Asymptotics of sample eigenstructure for a large dimensional spiked covariance model",
        "Statistica Sinica 17, 2007",
    ),
    "CDF": (
        "M. Capitaine, C. Donati-Martin, D. Feral",
        "The largest eigenvalues of finite rank deformation of large Wigner matrices: convergence and nonuniversality "
        "of the fluctuations",
        "Annals of Probability 37, 2009",
    ),
    "KN": (
        "S. Kritchman, B. Nadler",
        "Non-parametric detection of the number of signals: hypothesis testing and random matrix theory",
        "IEEE Transactions on Signal Processing 57, 2009",
    ),
    "Dobriban": (
        "E. Dobriban, S. Wager",
        "High-dimensional asymptotics of prediction: ridge regression and classification",
        "Annals of Statistics 46, 2018",
    ),
    "Karoui": (
        "N. El Karoui",
        "The spectrum of kernel random matrices",
        "Annals of Statistics 38, 2010",
    ),
    "Bornemann": (
        "F. Bornemann",
        "On the numerical evaluation of distributions in random matrix theory: a review",
        "Markov Processes and Related Fields 16, 2010",
    ),
    "BN": (
        "F. Benaych-Georges, R. R. Nadakuditi",
        "The eigenvalues and eigenvectors of finite, low rank perturbations of large random matrices",
        "Advances in Mathematics 227, 2011",
    ),
    "BY": (
        "Z. Bai, J. Yao",
        "On sample eigenvalues in a generalized spiked population model",
        "Journal of Multivariate Analysis 106, 2012",
    ),
    "Ma": (
        "Z. Ma",
        "Accuracy of the Tracy-Widom limits for the extreme eigenvalues in white Wishart matrices",
        "Bernoulli 18, 2012",
    ),
    "Daniely": (
        "A. Daniely, R. Frostig, Y. Singer",
        "Toward deeper understanding of neural networks: the power of initialization and a dual view on expressivity",
        "NIPS 2016",
    ),
    "Bach": (
        "F. Bach",
        "Breaking the curse of dimensionality with convex neural networks",
        "Journal of Machine Learning Research 18, 2017",
    ),
    "FW": (
        "Z. Fan, Z. Wang",
        "Spectra of the conjugate kernel and neural tangent kernel for linear-width neural networks",
        "NeurIPS 2020",
    ),
    "HT": (
        "U. Haagerup, S. Thorbjornsen",
        "A new application of random matrices",
        "Annals of Mathematics 162, 2005",
    ),
    "HRS": (
        "J. W. Helton, R. Rashidi Far, R. Speicher",
        "Operator-valued semicircular elements: solving a quadratic matrix equation with positivity constraints",
        "Int. Math. Res. Notices, 2007",
    ),
}


def cited(sources: Iterable[str]) -> tuple[str, ...]:
    """The papers' letters that a statement's sources begin with: "F, Theorem 3.1" names F, "P11: Bach 2017" P11."""
    keys = [key for source in sources for key in re.findall(r"\b[A-Z]\d*\b", source.split(",")[0])]
    return tuple(dict.fromkeys(key for key in keys if key in BIBLIOGRAPHY))
