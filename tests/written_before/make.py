"""Write what voile leaves on disk, small, for later versions to read: run once a format.

python -m tests.written_before.make writes the folder `files` anew. Where a format gets another
version, keep the old folder under a name of its own, and let the tests say what becomes of it.

It keeps `files/signals_private_noise`, written by 0.1.0, which alone can fit it. The input is its
`source.parquet`, `roles.toml` and `key`; in that folder, 0.1.0 writes the rest with

    voile signals fit source.parquet --roles roles.toml --method normal --strength 0 \\
        --strength 0.5 --strength 1 --epsilon 8 --seed 1 --out kit
    voile signals choose kit --max-loss 1 --out policy.toml
    voile signals apply kit source.parquet --policy policy.toml --key-file key \\
        --out release.parquet
    voile signals attack release.parquet --truth source.parquet --key-file key --seed 1 \\
        --permutations 5
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from datetime import UTC, date, datetime
from importlib import import_module
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
from tests.determination.conftest import CONTEXT
from tests.study.made import write_cohort
from tests.written_before import under_way

from voile import signals
from voile.cli.run import run
from voile.determination import determine, sign
from voile.modules import MODULES
from voile.opening import open_release
from voile.study import Study

FILES = Path(__file__).parent / "files"
DAY, NOON = date(2030, 5, 1), datetime(2030, 5, 1, 12, tzinfo=UTC)
KEY = "a key known to the tests alone"
ROLES = {
    "subject": "id",
    "columns": {"id": "identifier", "state": "private", "day": "keep", "pulse": "reading"},
}
ENDS = {"documents": "jsonl", "itemsets": "parquet", "signals": "parquet", "tables": "csv"}
"""How each wing's release ends."""


def write_key(folder: Path) -> Path:
    key = folder / "key"
    key.write_text(KEY)
    key.chmod(0o600)
    return key


def make_wing(kind: str, folder: Path) -> None:
    """Write a wing's kit, policy, release and evidence; a table's in a ledger."""
    tiny, verbs = import_module(f"tests.contracts.{kind}"), import_module(f"voile.{kind}")
    folder.mkdir()
    options, table = tiny.options(folder), tiny.ordinary()
    kit = verbs.fit(table, roles=tiny.roles(), seed=1, **options["fit"])
    kit.save(folder / "kit")
    policy = kit.choose(policy=len(kit.frontier.to_arrow()) // 2)
    policy.save(folder / "policy.toml")
    more = {"key_file": write_key(folder)}
    if kind == "tables":
        words = ["--expected-matches", "1000", "--key-file", str(folder / "key")]
        assert run(["ledger", "init", str(folder / "ledger"), *words]) == 0
        more |= {"ledger": folder / "ledger"}
    out = folder / f"release.{ENDS[kind]}"
    kit.apply(policy, table, out, **more)
    source = folder / "source.parquet"
    pq.write_table(table, source)
    words = [str(out), "--truth", str(source), "--key-file", str(folder / "key"), "--seed", "1"]
    for name, value in options["attack"].items():
        for one in value if isinstance(value, list) else [value]:
            words += [f"--{name.replace('_', '-')}", str(one)]
    assert run([kind, "attack", *words, "--quiet"]) == 0


def make_determination(folder: Path) -> None:
    """Judge the table's release, and sign."""
    words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "a", "-f", "a"]
    subprocess.run(words, cwd=folder, check=True)
    (folder / "allowed").write_text(f"a@x.org {(folder / 'a.pub').read_text()}")
    out = folder / "determination"
    release, key = folder / "release.csv", folder / "key"
    determine(open_release(release), CONTEXT, out, key_file=key, pdf=False, on=DAY)
    sign(out, "approve with conditions", signer="a@x.org", key=folder / "a", now=NOON)
    (folder / "a").unlink()


def make_enrolment(folder: Path) -> None:
    """Write a kit of sessions, what one of its devices is given, and sessions under way."""
    folder.mkdir()
    states, noise = np.arange(60) % 2, np.random.default_rng(3).normal(size=(60, 8))
    people = {"id": [f"p{i}" for i in range(60)], "state": ["ill" if x else "well" for x in states]}
    readings = {
        **{name: np.repeat(column, 8) for name, column in people.items()},
        "day": np.tile(np.arange(8), 60),
        "pulse": np.rint(70 + 15 * states[:, None] + 8 * noise).ravel(),
    }
    kit = signals.fit(readings, roles=ROLES, time="day", seed=1)
    kit.save(folder / "kit")
    pa.csv.write_csv(pa.table(people).slice(0, 2), folder / "classes.csv")
    words = ["--classes", folder / "classes.csv", "--key-file", write_key(folder)]
    (folder / "under_way.json").write_text(json.dumps(under_way.written()))
    out = folder / "enrolment"
    assert run(["signals", "enrol", *map(str, [folder / "kit", "--out", out, *words])]) == 0


def make_study(folder: Path) -> None:
    """Write a study with its kit and release."""
    folder.mkdir()
    write_cohort(folder)
    Study.open(folder / "study.toml").apply()


def main() -> None:
    for folder in (*MODULES, "sessions", "study"):
        shutil.rmtree(FILES / folder, ignore_errors=True)
    os.umask(0o077)
    for kind in sorted(MODULES):
        make_wing(kind, FILES / kind)
    make_determination(FILES / "tables")
    make_enrolment(FILES / "sessions")
    make_study(FILES / "study")


if __name__ == "__main__":
    main()
