"""The version of voile, and the versions of the libraries on which results depend."""

__version__ = "0.2.0"
LIBRARIES = ("numpy", "scipy", "scikit-learn", "python-crfsuite", "numba", "pyarrow", "duckdb")


def versions() -> dict[str, str]:
    """Return the versions of Python and of the installed libraries on which results depend."""
    from importlib.metadata import PackageNotFoundError, version
    from platform import python_version

    found = {"Python": python_version()}
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
