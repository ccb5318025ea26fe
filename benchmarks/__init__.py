"""Side-by-side timings against peers and against the physical limit: `python -m benchmarks [NAME ...]`.

Every module here exports BENCHMARKS; all contestants of a row run one after the other, so that ratios travel between
machines where seconds do not. Seconds are processor seconds, on one core each: a loaded machine bends both sides alike
at most. RESULTS.md is the last whole table that was recorded.
"""
