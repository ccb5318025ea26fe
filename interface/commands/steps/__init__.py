"""One and two gradient steps: settings and scalings, the gradient, the covariance, outliers and their alignment."""
