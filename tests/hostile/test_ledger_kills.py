"""Kill commands at each call that changes a file of a ledger, its secret's heads or a release.

Each command starts from the same files, is killed at one call, and runs again. The ledger verifies
at once, and every published release counts. No other release counts once the ledger is closed.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
import tomli_w
from tests.determination.conftest import CONTEXT, OFFICER
from tests.determination.conftest import keys as keys
from tests.hostile.cases import cases
from tests.hostile.test_kills import Flow
from tests.hostile.test_kills import tracer as tracer
from tests.hostile.tracing import CALLS, Point, Tracer
from tests.ledger.conftest import INTENT

from voile.cli.run import run
from voile.keys.seal import file_sha256
from voile.ledger.ledger import Ledger, create, open_ledger
from voile.ledger.promise import LedgerPromise

pytestmark = pytest.mark.slow
KILLS = 2
WRITES = f"{CALLS},write,ftruncate,mkdir"
ACCEPTED = {"accept": "The recipient knows nobody"}


class Holder:
    """A data holder's folder: a kit, a key, a ledger of what is out, and a second ledger."""

    def __init__(self, folder: Path, tracer: Tracer, keys: Path) -> None:
        self.folder, self.start, self.tracer = folder / "now", folder / "start", tracer
        self.folder.mkdir()
        flow = Flow("tables", self.folder)
        self.key, self.release = self.folder / "key", flow.out("apply")
        self.ledger, self.second = self.folder / "l.ledger", self.folder / "second.ledger"
        self.key.write_text("a key that the tests alone have")
        self.key.chmod(0o600)
        promise = LedgerPromise(expected_matches=1e9)
        for path in (self.ledger, self.second):
            create(path, promise, self.key)
        for verb in ("fit", "choose"):
            assert tracer.run(flow.words(verb)) == 0
        (self.folder / "subjects.txt").write_text("person 1\nperson 2\n")
        self._write_context()
        shutil.copy(keys / "a", self.folder / "a")
        of, secret = ["--ledger", self.ledger], ["--key-file", self.key]
        ledger = [*secret, "--quiet"]
        determination = self.folder / "determination"
        self.commands: dict[str, list[object]] = {
            "init": ["ledger", "init", self.folder / "new.ledger", "--k", 2, *ledger],
            "apply": flow.words("apply", *map(str, of + secret)),
            "erase": [
                *("ledger", "erase", self.ledger, self.folder / "subjects.txt"),
                *("--reason", "asked", *ledger),
            ],
            "close": [
                "ledger", "verify", self.ledger, "--releases", self.release.parent, *ledger,
            ],
            "judge": [
                *("ledger", "judge", self.ledger, flow.out("fit")),
                *("--policy", self.folder / "policy.toml", *ledger),
            ],
            "determine": [
                *("determine", self.release, "--context", self.folder / "context.toml"),
                *("--no-pdf", "--out", determination, *of, *ledger),
            ],
            "sign": [
                *("sign", determination, "--decision", "refuse", "--as", "a@x.org"),
                *("--reason", "the tests", "--key", self.folder / "a", "--quiet"),
            ],
        }  # fmt: skip
        self._prepare: dict[str, Callable[[], None]] = {
            "close": self._intend,
            "apply over": self._apply,
            "determine": self._apply,
            "determine over": lambda: self._do("apply", "determine"),
            "sign": lambda: self._do("apply", "determine"),
        }

    def _write_context(self) -> None:
        unmeasured = ("re-identification", "singling-out", "inference", "kept-columns")
        thresholds = {
            **CONTEXT["thresholds"],
            **dict.fromkeys(unmeasured, ACCEPTED),
            "joint-risk": OFFICER,
        }
        expires = datetime.now(UTC).date().replace(month=12, day=31)
        context = {**CONTEXT, "thresholds": thresholds, "expires": expires}
        (self.folder / "context.toml").write_text(tomli_w.dumps(context))

    def _intend(self) -> None:
        """Leave one intent open whose release never appeared."""
        with open_ledger(self.ledger, self.key) as opened:
            folder = opened.keys.hash("folder", str(self.release.parent.resolve()))
            opened.append("intent", {**INTENT, "folder": folder})

    def _apply(self) -> None:
        self._do("apply")

    def _do(self, *verbs: str) -> None:
        for verb in verbs:
            assert self.tracer.run(self.words(verb)) == 0, verb

    def words(self, command: str) -> list[object]:
        """A command as it is typed; over what is there with `over` in its name."""
        verb, _, over = command.partition(" ")
        return [*self.commands[verb], *(["--force"] if over else [])]

    def prepare(self, command: str) -> None:
        """Do what comes before a command, and keep the files as the start of each kill."""
        self._prepare.get(command, lambda: None)()
        shutil.copytree(self.folder, self.start)

    def restore(self) -> None:
        """Put the files back to the start."""
        shutil.rmtree(self.folder)
        shutil.copytree(self.start, self.folder)

    def published(self) -> set[str]:
        """The public manifest of the release that is out now, by its hash."""
        manifest = self.release.with_name(f"{self.release.name}.manifest.json")
        return {file_sha256(manifest)} if self.release.exists() else set()

    def counted(self) -> set[str]:
        """The public manifests that count as released."""
        return {line.content["manifest"] for line in Ledger.read_file(self.ledger).released_lines}

    def verifies(self, *more: object) -> bool:
        """Whether every ledger here verifies."""
        more = ("--key-file", self.key, *more)
        each = (["ledger", "verify", one, *more] for one in self.folder.glob("*.ledger"))
        return not any(run([str(word) for word in words]) for words in each)

    def is_done(self, command: str) -> bool:
        """Whether a command that is refused a second time was done the first time."""
        made = {"init": "new.ledger", "sign": "determination/statements/01.json"}
        return command in made and (self.folder / made[command]).exists()

    def hidden(self) -> list[Path]:
        return [path for path in self.folder.rglob("*") if path.name.startswith(".")]


@pytest.fixture
def holder(tmp_path: Path, tracer: Tracer, keys: Path) -> Holder:
    return Holder(tmp_path, tracer, keys)


def again(holder: Holder, command: str) -> list[object]:
    """The command to type after a kill: with --force where its output appeared already."""
    outputs = {"apply": holder.release, "determine": holder.folder / "determination"}
    out = outputs.get(command)
    return holder.words(f"{command} over" if out is not None and out.exists() else command)


def fault_after(holder: Holder, command: str, point: Point) -> str | None:
    """Kill a command at a point, run it again, and say what is wrong then."""
    holder.restore()
    before = holder.counted() if holder.published() else set()
    if not holder.tracer.kill(holder.words(command), point):
        return "the kill came too late"
    out = holder.published()
    if not holder.verifies():
        return "the ledger does not verify after the kill"
    if not out <= holder.counted():
        return "a published release does not count"
    done = holder.is_done(command)  # what was begun or signed is not begun or signed twice
    if holder.tracer.run(again(holder, command)) != (2 if done else 0):
        return "the command fails when it runs again"
    folder = holder.release.parent
    if not holder.verifies("--releases", folder):
        return "the ledger does not verify at the end"
    if (
        holder.counted() != before | out | holder.published()
        or Ledger.read_file(holder.ledger).open
    ):
        return "other releases count than were published"
    if holder.hidden():
        return f"{holder.hidden()[0].relative_to(holder.folder)} stays"
    return None


COMMANDS = (
    "init", "apply", "apply over", "erase", "close", "judge", "determine", "determine over", "sign",
)  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS)
def test_a_killed_command_leaves_a_ledger_that_goes_on(
    holder: Holder, tracer: Tracer, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    holder.prepare(command)
    tracer.run(holder.words(command))  # imports make folders of their own, once
    holder.restore()
    points = tracer.points(holder.words(command), holder.folder, calls=WRITES)
    some = random.Random(command).sample(points, min(cases(KILLS), len(points)))
    found = {point: fault_after(holder, command, point) for point in some}
    capsys.readouterr()
    assert {fault for fault in found.values() if fault} == set(), f"{len(some)} points: {found}"
