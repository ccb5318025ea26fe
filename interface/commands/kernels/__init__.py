"""Dual kernels: closed forms, values, derivatives, the sphere, and the kernel and spectrum of spiked features."""
