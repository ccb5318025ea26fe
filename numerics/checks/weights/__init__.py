"""Weight matrices that users bring: reading files, the fit of the bulk, outliers, strengths, what is done with them."""
