"""Functions of one variable as users write them: reading, the catalogue, smooth pieces between kinks, and growth."""
