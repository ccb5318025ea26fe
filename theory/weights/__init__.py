"""Weight matrices that users bring: what the theory says of their outliers."""
