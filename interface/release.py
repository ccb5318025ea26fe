"""The version of bulkedge, where whoever prints it finds it without importing the front door."""

__version__ = "0.1.0"
