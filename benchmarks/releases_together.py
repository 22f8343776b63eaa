"""Releases of the Tennessee pair judged together: the time 100 take, and what choosing loses."""

from __future__ import annotations

import hmac
import resource
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from benchmarks.data import folder
from benchmarks.tables import save
from benchmarks.tennessee import COLUMNS, RACES, tennessee_counts

import voile.tables as vt
from voile.core.frontier import Frontier
from voile.ledger.ledger import create
from voile.ledger.promise import LedgerPromise
from voile.tables.domains.domain import ValueDomain
from voile.tables.domains.parser import CellParser
from voile.tables.fitting.after import BESIDE, EVALUATIONS
from voile.tables.fitting.search import search
from voile.tables.fitting.space import PolicySpace
from voile.tables.joint.disclosed import SpaceNames, rules_of
from voile.tables.joint.figures import ShownRelease, joint_figures
from voile.tables.joint.linking import count_linked_matches
from voile.tables.people.counts import Constraints, PopulationCounts, row_keys
from voile.tables.policies.policy import Policy
from voile.tables.verbs.content import TablesContent

TIMES, TARGETS = (1.0, 1.5, 2.0, 4.0), (0.321, 0.279, 0.248, 0.160)
RELEASES, RUNS, SAFE_HARBOR = 100, 3, 84.3


def main() -> None:
    hundred = [judged(Constraints()), judged(Constraints(k=5, suppress=0.9))]  # memory first
    rows = [*linking(), *after(), *trees(), *hundred]
    save(
        "releases_together",
        "The Tennessee pair, 32,561 records, 734 bits; the first release shows every year of age.",
        ("what", "result", "target", "CPU s"),
        rows,
        "CPU seconds of one core. Loss by eq. 4 of policies that hold for a whole column.\n"
        f"Searches have {EVALUATIONS:,} evaluations, or {BESIDE:,} with a tree. Judging:\n"
        f"entries read and joined, median of {RUNS}.",
    )


def space_of(rules: Constraints) -> PolicySpace:
    counts = tennessee_counts()
    domains = tuple(
        ValueDomain(name, tuple(f"{i:04d}" for i in range(size)), CellParser("text"))
        for name, size in zip(COLUMNS, counts.sizes, strict=True)
    )
    return PolicySpace(
        domains, counts, rules, PopulationCounts(counts.codes, counts.population, "all")
    )


def searched(required: np.ndarray) -> tuple[PolicySpace, Frontier, np.ndarray]:
    """Return the policies with these cuts, and the expected matches of each."""
    space = space_of(Constraints(required=required))
    found = search(space, method="best", evaluations=EVALUATIONS, random_state=1).frontier
    return space, found, space.evaluator.figures(found.policies).expected_matches


def linking() -> list[tuple[str, ...]]:
    """Link two releases at Safe Harbor's risk, one by age and one by ZIP, through kept columns."""
    rows = pq.read_table(folder("tennessee") / "adult.parquet")
    pair = []
    for first, last in ((0, 105), (110, 734)):  # every year of age; every ZIP
        required = np.zeros(space_of(Constraints()).n_bits, dtype=np.bool_)
        required[first:last] = True
        space, found, matches = searched(required)
        pair.append(
            ShownRelease(space.policy(found.policies[np.flatnonzero(matches <= SAFE_HARBOR)[-1]]))
        )
    low = max(joint_figures(space, [one]).matches for one in pair)
    high = joint_figures(space, pair).matches
    combination, kept = combinations_of(rows, space), rows.column_names[len(COLUMNS) :]
    made = []
    for many, noted in ((0, "180"), (2, "365"), (3, "697"), (6, "859"), (11, "936")):
        shared = [pc.rank(rows[name], tiebreaker="dense") for name in kept[:many]]
        columns = [one.to_numpy().astype(np.int64) for one in shared]
        began = time.process_time()
        found_by = count_linked_matches(space, combination, *pair, columns)
        spent = time.process_time() - began
        what = f"linked through {many} kept columns; best alone {low:.1f}, every row {high:.0f}"
        made.append((what, f"{found_by:.0f} matches", f"{noted} noted", f"{spent:.2f}"))
    return made


def combinations_of(rows: pa.Table, space: PolicySpace) -> np.ndarray:
    people = pq.read_table(folder("tennessee") / "population.parquet")
    domains = [pc.unique(people[c]).sort() for c in COLUMNS]
    domains[COLUMNS.index("race")] = pa.array(RACES, people.schema.field("race").type)
    codes = np.column_stack(
        [
            pc.index_in(rows[c].cast(domain.type), domain).to_numpy()
            for c, domain in zip(COLUMNS, domains, strict=True)
        ]
    )
    sizes = space.counts.sizes
    keys = row_keys(space.counts.codes, sizes)
    return np.searchsorted(keys, row_keys(codes.astype(np.int32), sizes))


def after() -> list[tuple[str, ...]]:
    ages = np.zeros(space_of(Constraints()).n_bits, dtype=np.bool_)
    ages[:105] = True
    space, found, matches = searched(ages)
    number = int(np.flatnonzero(matches <= SAFE_HARBOR)[-1])
    first, alone = space.policy(found.policies[number]), matches[number]
    print(f"first release: {alone:.1f} expected matches, loss {found.loss[number]:.4f}")
    began = time.process_time()
    space, found, matches = searched(first.bits)
    spent = time.process_time() - began
    rows = []
    for times, asked in zip(TIMES, TARGETS, strict=True):
        best = int(np.flatnonzero(matches <= times * alone + 1e-9)[-1])
        both = [ShownRelease(first), ShownRelease(space.policy(found.policies[best]))]
        assert joint_figures(space, both).matches <= times * alone + 1e-9
        what = f"loss at joint risk {times:g} times the first release's"
        rows.append((what, f"{found.loss[best]:.4f}", f"{asked:.3f}", f"{spent:.1f} for all four"))
    return rows


def trees() -> list[tuple[str, ...]]:
    """Choose after a tree that is out, at Safe Harbor's risk."""
    rows = pq.read_table(folder("tennessee") / "adult.parquet", columns=list(COLUMNS))
    people = pq.read_table(folder("tennessee") / "population.parquet")
    orders = {"race": {"role": "quasi", "order": list(RACES)}}
    roles = {**dict.fromkeys(COLUMNS, "quasi"), **orders}
    kit = vt.fit(rows, roles, population=people, people="people", family="tree", seed=1)
    content = TablesContent.of(kit)
    matches, loss = content.figures.expected_matches, content.frontier.loss
    first = int(np.argmin(np.where(matches <= SAFE_HARBOR, loss, np.inf)))
    made = []
    with TemporaryDirectory() as place:
        at = Path(place)
        key = at / "key"
        key.write_text("a key for measuring alone")
        key.chmod(0o600)
        create(at / "ledger", LedgerPromise(joint_risk=1.0), key)
        how = {"ledger": at / "ledger", "key_file": key}
        kit.apply(kit.choose(policy=first), rows, at / "a.parquet", **how)
        for times in TIMES:
            began = time.process_time()
            risk = min(1.0, times * matches[first] / content.space.matches)
            chosen = kit.choose(after=at / "ledger", key_file=key, joint_risk=risk)
            spent = time.process_time() - began
            what = f"after a tree (loss {loss[first]:.4f}), at joint risk {times:g} times its own"
            best = loss[matches <= times * matches[first] + 1e-9].min()
            found = f"{chosen.figures['loss']:.4f}"
            made.append((what, found, f"{best:.4f} if nothing were out", f"{spent:.1f}"))
    return made


def judged(rules: Constraints) -> tuple[str, ...]:
    space = space_of(Constraints())
    rng = np.random.default_rng(1)
    bits = [rng.random(space.n_bits) < rng.uniform(0.01, 0.1) for _ in range(RELEASES)]
    lines = [
        {"rules": rules_of(rules), "sensitive": [], **SpaceNames(space, keyed).grouping(policy)}
        for policy in (Policy(space.domains, own) for own in bits)
    ]
    spent = []
    for _ in range(RUNS):
        began = time.process_time()
        names = SpaceNames(space, keyed)
        _ = names.counts_hash
        joint_figures(space, [names.read_disclosed(line, ())[0] for line in lines])
        spent.append(time.process_time() - began)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    what = "each suppressing groups under 5" if rules.k > 1 else "none suppressing"
    seconds = f"{sorted(spent)[RUNS // 2]:.2f}"
    return (f"{RELEASES} releases judged, {what}", f"{peak} MB at most", "1 s, 500 MB", seconds)


def keyed(*parts: str) -> str:
    return hmac.digest(b"a key for measuring", "\0".join(parts).encode(), "sha256").hex()[:16]


if __name__ == "__main__":
    main()
