"""Trials: what a check is, who runs it, where finished trials are kept, and the random streams they draw from."""
