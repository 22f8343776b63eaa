"""Run voile's commands in children of one process that has imported everything already.

The process reads the words of a command, a line of JSON, from standard input, and answers with the
child's process number. The child is stopped until it gets a signal to go on, and a second line then
reports its end. So a tracer has the time to attach, and counts no system call of an import. This
process imports the modules that the first child of a kind imported, before it starts the next one.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
from contextlib import suppress
from importlib import import_module
from pathlib import Path

from voile.cli.run import run


def work(words: list[str], learnt: Path) -> int:
    """Do what a command does, with nothing on standard output; say what was imported."""
    known = set(sys.modules)
    os.kill(os.getpid(), signal.SIGSTOP)
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    code = run(words)
    learnt.write_text("\n".join(name for name in sys.modules if name not in known))
    return code


def import_all(names: list[str]) -> None:
    """Import what a child did; what can be had only from within something else, not."""
    for name in names:
        with suppress(Exception):
            package, _, own = name.rpartition(".")
            getattr(import_module(package), own, None)  # a function may have its module's name
            import_module(name)


def main() -> None:
    """Serve until the input ends."""
    with tempfile.TemporaryDirectory() as folder:
        learnt = Path(folder) / "learnt"
        for line in sys.stdin:
            child = os.fork()
            if not child:
                os._exit(work(json.loads(line), learnt))
            print(child, flush=True)
            print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
            if learnt.exists():
                import_all(learnt.read_text().split())
                learnt.unlink()


if __name__ == "__main__":
    main()
