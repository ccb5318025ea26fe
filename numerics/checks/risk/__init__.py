"""Ridge risks: Gaussian equivalence after a step, the floor of kernels, conditional equivalence, spiked features."""
