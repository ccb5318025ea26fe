"""Commands about the toolkit itself: statements, checks, figures, the book and the report."""
