"""The parent of Spark's Python workers: it imports once what is slow to import, not each worker.

PySpark is taken as it is installed, not from Spark's archives of the same: before each task a
worker would list what is in them anew, once for every package: a fifth of a second.
"""

from __future__ import annotations

import gc
import sys
from importlib import import_module

SLOW_TO_IMPORT = "duckdb numba numpy pyarrow.parquet pydantic scipy.sparse scipy.special"
ARCHIVES = (".jar", ".zip")


def main() -> None:
    sys.path = [place for place in sys.path if not place.endswith(ARCHIVES)]
    for place in {*sys.path_importer_cache} - {*sys.path}:
        del sys.path_importer_cache[place]
    from pyspark.daemon import manager

    for name in SLOW_TO_IMPORT.split():
        import_module(name)
    gc.freeze()  # a worker collects after each task, and need not walk all that was imported
    manager()


if __name__ == "__main__":
    main()
