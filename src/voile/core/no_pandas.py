"""Commands need no pandas, and pyarrow would take a quarter of a second to look at it."""

from __future__ import annotations

import sys

NEED_PANDAS = {"pyspark", "pyreadstat"}  # the second before its version 1.3


class _NoPandas:
    @staticmethod
    def find_spec(name: str, *_: object) -> None:
        """Say that there is no pandas, unless a library that needs it is there."""
        if name == "pandas" and NEED_PANDAS.isdisjoint(sys.modules):
            raise ModuleNotFoundError(
                "voile's commands run without pandas, and a package tried to import it", name=name
            )


def leave_pandas_out() -> None:
    """Import no pandas in this process."""
    sys.meta_path.insert(0, _NoPandas)


def let_pandas_in() -> None:
    """Import pandas as ever: a user's own module may need it."""
    if _NoPandas in sys.meta_path:
        sys.meta_path.remove(_NoPandas)
