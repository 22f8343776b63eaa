"""Run the command line with `python -m voile.cli`, as with `python -m voile`."""

from voile.cli import main

if __name__ == "__main__":
    main()
