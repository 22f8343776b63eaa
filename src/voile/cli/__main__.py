"""`python -m voile.cli`: the command line, as `python -m voile`."""

from voile.cli import main

if __name__ == "__main__":
    main()
