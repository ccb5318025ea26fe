"""The symbols of the theory, made once, so that equal names are equal symbols everywhere.

Names are those of the papers (CONVENTIONS.md); assumptions are the weakest under which the formulas hold.
"""

from __future__ import annotations

import sympy as sp

# The Gaussian variable of activations and links, and a pair of them with correlation rho.
z = sp.Symbol("z", real=True)
z1, z2 = sp.symbols("z1 z2", real=True)
rho = sp.Symbol("rho", real=True)
q11, q22 = sp.symbols("q11 q22", positive=True)
q12 = sp.Symbol("q12", real=True)

# Indices.
k, l, j, m, p = sp.symbols("k l j m p", integer=True, nonnegative=True)

# Sizes (paper O): input dimension, width, training samples, samples of the step.
d, N, n, n1 = sp.symbols("d N n n1", positive=True)

# Ratios and step.
psi, psi1, psi2, alpha, beta, c = sp.symbols("psi psi1 psi2 alpha beta c", positive=True)
eta, theta, lam, sigma2 = sp.symbols("eta theta lambda sigma2", positive=True)
zeta = sp.Symbol("zeta", real=True)

# Hermite constants of the activation (mu) and of the link (mu_star), paper O's convention.
mu0, mu1 = sp.symbols("mu0 mu1", real=True)
mu2 = sp.Symbol("mu2", nonnegative=True)
mu0_star, mu1_star = sp.symbols("mu0_star mu1_star", real=True)
mu2_star = sp.Symbol("mu2_star", nonnegative=True)
s_eps = sp.Symbol("s_eps", nonnegative=True)

# E sigma'(z)^2 and E sigma''(z) (distributional) of the activation.
slope2 = sp.Symbol("slope2", nonnegative=True)
curvature = sp.Symbol("curvature", real=True)

# Spiked covariance Gamma = A I + B w* w*^T.
A = sp.Symbol("A", positive=True)
B = sp.Symbol("B", real=True)

# Spectra: a point of the real line, a point of the complex plane, the value of a transform there, a population spike.
x = sp.Symbol("x", real=True)
w = sp.Symbol("w")
stieltjes = sp.Symbol("m")
ell = sp.Symbol("ell", positive=True)

# Two steps (paper T): exponents of the step sizes, degree of the activation, readout entry, mean and second moment of
# the label, row variance v of the first step's remainder, and the pre-activation's parts: q = x.u without the sample's
# own term, the Gaussian G, its coefficient e for a link with a mean, and the switch iota = 1 reused, 0 fresh.
alpha1, alpha2 = sp.symbols("alpha1 alpha2", nonnegative=True)
L = sp.Symbol("L", integer=True, positive=True)
eta1, eta2 = sp.symbols("eta1 eta2", positive=True)
a, y, q, G, e, xi = sp.symbols("a y q G e xi", real=True)
v, m2 = sp.symbols("v m2", nonnegative=True)
iota = sp.Symbol("iota", integer=True, nonnegative=True)
# Ridge regression on features: the effective (population) ridge kappa and the normalised resolvent trace g.
kappa = sp.Symbol("kappa", positive=True)
g_res = sp.Symbol("g", positive=True)
