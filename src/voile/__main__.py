"""`python -m voile`: the command line."""

from voile.cli import main

if __name__ == "__main__":
    main()
