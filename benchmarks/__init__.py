"""Side-by-side timings against peers and against the physical limit: `python -m benchmarks [NAME ...]`.

Every module here exports BENCHMARKS; all contestants of a row run in the same process, one after the other, so that
ratios travel between machines where seconds do not.
"""
