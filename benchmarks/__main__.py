"""Run the benchmarks and print one table; exit status 1 if a ratio or a growth that is asked for is missed."""

from __future__ import annotations

import importlib
import pkgutil
import sys

from threadpoolctl import threadpool_limits

import benchmarks
from benchmarks.benchmark import Benchmark


def collect() -> list[Benchmark]:
    """All benchmarks, by module."""
    found: list[Benchmark] = []
    for info in sorted(pkgutil.iter_modules(benchmarks.__path__), key=lambda i: i.name):
        if info.name != "__main__":
            found.extend(getattr(importlib.import_module(f"benchmarks.{info.name}"), "BENCHMARKS", ()))
    return found


def main(names: list[str]) -> int:
    """Run the benchmarks whose names begin with one of `names` (all, without any), say `growth` or `peers.rmtool`."""
    chosen = [b for b in collect() if not names or any(b.name.startswith(n) for n in names)]
    if not chosen:
        print(f"no benchmark is named so; there are {', '.join(b.name for b in collect())}", file=sys.stderr)
        return 2
    header, missed = "", 0
    importlib.import_module("scipy.linalg")  # its BLAS must be loaded to be limited
    with threadpool_limits(1):
        for benchmark in chosen:
            for row in benchmark.run():
                if header != row.HEADER:
                    header = row.HEADER
                    print(header)
                print(row.line, flush=True)
                missed += not row.met
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
