"""Numbers that know their error: the symbols of the theory, enclosures, ball arithmetic, and the toolkit's errors."""
