"""The papers that the statements come from."""

from __future__ import annotations

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
}
