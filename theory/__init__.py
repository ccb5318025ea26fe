"""Symbols only: every formula of the toolkit, stated once, exactly, in SymPy."""
