"""What an attacker finds in a release by the default loop, and by one pass of a single learner."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from benchmarks.documents_data import SOURCES, Source
from benchmarks.documents_runs import (
    DEFAULT,
    FOLDS,
    PAPERS,
    Outcome,
    dealt,
    kept_in,
    outcomes,
)
from benchmarks.tables import save
from joblib import Parallel, delayed

from voile.core.evidence import Rate
from voile.documents import Corpus
from voile.documents import attack as adversary
from voile.documents.attack.attack_text import AttackText
from voile.documents.attack.inspections import InspectionOrder
from voile.documents.attack.predictions import ApprenticeAttacker, predict
from voile.documents.learners.named_learners import learners_of
from voile.documents.replacements.published_document import publish
from voile.documents.replacements.removal import TextRemoval
from voile.documents.replacements.replacer import make_replacer
from voile.documents.replacements.spans import join_adjacent

MISS_COSTS = (5, 10)
ATTACKERS = ("crf", "svm", "adaboost", "consensus")
COSTLY = tuple(f"{name}, cost-sensitive" for name in PAPERS)
SINGLE = tuple(f"{name}, by accuracy" for name in PAPERS)
REPEATS, SHARE = 3, 0.25
BUDGETS = (5, 10, 20, 50, 100, 200, 500, 1_000)
"""Inspections, the B of a curve."""
LABELS = ("published", "released", "foreign")


@dataclass(frozen=True)
class Attack:
    """What she found; means over the repeats.

    Parameters
    ----------
    learner : whom she took. tokens, left : in the release, without marks.
    tp, fp : identifiers and harmless tokens among what her classifier takes for identifiers.
    by_left, by_share : identifiers found by margin in as many inspections as identifiers are
        left, and in 1% of the tokens. curve : in each of `BUDGETS`.
    """

    learner: str
    tokens: int
    left: int
    tp: float
    fp: float
    by_left: float
    by_share: float
    curve: list[float]

    @property
    def share(self) -> int:
        """1% of the tokens."""
        return round(self.tokens / 100)


def release(corpus: Corpus, parts: Sequence[Outcome]) -> tuple[Corpus, Corpus]:
    """Return all folds as published, each by the committee that did not see it, and the truth."""
    folds = dealt(corpus)
    order = np.concatenate([np.flatnonzero(folds == fold) for fold in range(FOLDS)])
    truth, marks = corpus.subset(order.tolist()), make_replacer("mark")
    gone = [
        [TextRemoval(start, end, label) for start, end, label in of]
        for of in Outcome.pooled(parts).removals
    ]
    put = (
        publish(one, join_adjacent(one.text, of), marks)
        for one, of in zip(truth, gone, strict=True)
    )
    return Corpus(put), truth


def attack(
    published: Corpus,
    truth: Corpus,
    labels: str,
    training: Corpus | None,
    attackers: Sequence[str] = ATTACKERS,
) -> Attack:
    """Attack a release; as `BudgetedAttacker`, whose evidence does not tell TP_A."""
    learners = learners_of(attackers)
    ground = AttackText.of(published, training, {})
    rngs = [np.random.default_rng(number) for number in range(REPEATS)]
    student = ApprenticeAttacker(learners, dict.fromkeys(learners, 0), 1)
    found = []
    for look, rng in zip(predict(student, ground, labels, SHARE, rngs), rngs, strict=True):
        walk = InspectionOrder.of(ground, look, "margin", rng)
        here = ground.tokens_of(look.documents)
        said = (look.margins > 0) & ground.examples.counted[here]
        hit = int((said & (ground.types[here] > 0)).sum())
        at = np.array([walk.identifier_count, round(len(walk) / 100), *BUDGETS])
        found.append(
            (len(walk), walk.identifier_count, hit, said.sum() - hit, *walk.count_found(at))
        )
    tokens, left, tp, fp, by_left, by_share, *curve = np.mean(found, axis=0).tolist()
    return Attack(look.learner, round(tokens), round(left), tp, fp, by_left, by_share, curve)


Job = tuple[str, str, float, str]
"""The source, the method, its miss_cost, and where the labels are from."""


def attacks(
    sources: Mapping[str, Source],
    found: Mapping[str, Mapping[tuple[str, float], Sequence[Outcome]]],
    jobs: Sequence[Job],
    attackers: Sequence[str] = ATTACKERS,
) -> dict[Job, Attack]:
    """Make each attack, or take it from where it is kept; releases that are alike share one."""
    parts = {job: found[job[0]][job[1], job[2]] for job in jobs}
    paths = {job: _kept(job[0], job[3], parts[job], attackers) for job in jobs}
    first = {path: job for job, path in reversed(paths.items())}
    told = Parallel(n_jobs=2)(
        delayed(_attack)(sources, job, parts[job], path, attackers) for path, job in first.items()
    )
    made = dict(zip(first, told, strict=True))
    return {job: made[path] for job, path in paths.items()}


def _attack(
    sources: Mapping[str, Source],
    job: Job,
    parts: Sequence[Outcome],
    path: Path,
    attackers: Sequence[str],
) -> Attack:
    name, _, _, labels = job
    if path.exists():
        return Attack(**json.loads(path.read_text(encoding="utf-8")))
    source = sources[name]
    published, truth = release(source.read(), parts)
    training = sources[source.foreign].read() if labels == "foreign" else None
    made = attack(published, truth, labels, training, attackers)
    path.write_text(json.dumps(asdict(made)), encoding="utf-8")
    return made


def _kept(name: str, what: str, parts: Sequence[Outcome], attackers: Sequence[str]) -> Path:
    code = Path(__file__).read_bytes() + repr([one.removals for one in parts]).encode()
    code += repr(attackers).encode()
    for path in sorted(Path(adversary.__file__).parent.glob("*.py")):
        code += path.read_bytes()
    folder = kept_in(name, FOLDS)
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"attack {hashlib.sha256(code).hexdigest()[:12]} {what}.json"


Found = Mapping[str, Mapping[tuple[str, float], Sequence[Outcome]]]
Made = Mapping[Job, Attack]


def best_single(found: Mapping[tuple[str, float], Sequence[Outcome]]) -> str:
    """Return the learner whose one pass by accuracy errs least on the documents held out."""

    def errors(method: str) -> int:
        one = Outcome.pooled(found[method, MISS_COSTS[0]])
        return int(one.left.sum() + one.lost.sum())

    return min(SINGLE, key=errors)


def jobs_of(sources: Mapping[str, Source], found: Found) -> Iterator[Job]:
    """Yield every attack that the tables show."""
    for name, source in sources.items():
        single = best_single(found[name])
        for cost in MISS_COSTS:
            for labels in LABELS if source.foreign else LABELS[:2]:
                yield name, DEFAULT, cost, labels
                yield name, single, cost, labels
            for method in COSTLY:
                yield name, method, cost, "published"


def rows_of(sources: Mapping[str, Source], found: Found, made: Made) -> Iterator[tuple[str, ...]]:
    """Yield ours beside one pass, by corpus, labels and L/C."""
    for name, source in sources.items():
        single = best_single(found[name])
        for labels in LABELS if source.foreign else LABELS[:2]:
            for cost in MISS_COSTS:
                ours, one = (made[name, m, cost, labels] for m in (DEFAULT, single))
                told = single.removesuffix(", by accuracy")
                yield (name, labels, str(cost), told, *cells(ours, one))


def cells(ours: Attack, one: Attack) -> Iterator[str]:
    yield f"{ours.left:,} / {one.left:,}"
    for field, tries in (("by_left", "left"), ("by_share", "share")):
        a, b = getattr(ours, field), getattr(one, field)
        yield f"{found_of(a, getattr(ours, tries))} / {found_of(b, getattr(one, tries))}"
        yield f"{a / b:.2f}" if b else "-"


def found_of(hits: float, tries: int) -> str:
    """Return what was found of so many inspections, with Wilson's interval."""
    rate = Rate(min(round(hits), tries), tries)
    low, high = rate.interval()
    return f"{hits:,.0f} of {tries:,} ({low:.0%}-{high:.0%})"


def costly_rows(sources: Mapping[str, Source], made: Made) -> Iterator[tuple[str, ...]]:
    """Yield Figure 4: found in as many inspections as identifiers are left, and in 1%."""
    for name in sources:
        for cost in MISS_COSTS:
            ones = [made[name, method, cost, "published"] for method in (DEFAULT, *COSTLY)]
            yield (name, str(cost), *(f"{o.by_left:,.0f}; {o.by_share:,.0f}" for o in ones))


def verdict(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """Say where she finds more than half."""
    for place, what in ((6, "as many inspections as are left"), (8, "1% of the tokens")):
        tried = [row for row in rows if row[place] != "-"]
        over = [row for row in tried if float(row[place]) > 0.5]
        yield f"- {what}: at most half in {len(tried) - len(over)} of {len(tried)} rows"
        yield ", more in:\n" if over else ".\n"
        yield from (f"  - {row[0]}, {row[1]}, L/C = {row[2]} ({row[place]})\n" for row in over)


def main() -> None:
    found = outcomes(SOURCES, (DEFAULT, *SINGLE, *COSTLY), MISS_COSTS)
    made = attacks(SOURCES, found, list(dict.fromkeys(jobs_of(SOURCES, found))))
    rows = list(rows_of(SOURCES, found, made))
    names = [name.replace(", cost-sensitive", "-cost") for name in COSTLY]
    figure = [
        "Figure 4: identifiers found (published labels), B = left and B = 1%, after the default\n"
        "and after one pass of each cost-sensitive rival.\n",
        f"| corpus | L/C | default | {' | '.join(names)} |",
        f"| --- | --- | --- {'| --- ' * len(names)}|",
        *(f"| {' | '.join(row)} |" for row in costly_rows(SOURCES, made)),
        "",
    ]
    save(
        "documents_attack",
        "Identifiers (tokens) that an attacker finds: ours / one pass. Ours is the text of the\n"
        "default loop, one pass that of the best single learner by accuracy.",
        (
            "corpus",
            "labels",
            "L/C",
            "one pass",
            "left",
            "found, B = left",
            "ratio",
            "found, B = 1%",
            "ratio of these",
        ),
        rows,
        "\n".join(["".join(verdict(rows)), *figure, NOTES]),
    )


NOTES = f"""\
The release is all documents, each published by the committee that did not see it. *Published*:
she learns from the release's other subjects, with their remaining identifiers labelled, on five
folds. *Released*: she labels {SHARE:.0%} of it by hand and attacks the rest, mean of {REPEATS}.
*Foreign*: another corpus of the same language with its own labels, not sanitised. There is none
for MEDDOCAN. She takes the most accurate of {", ".join(ATTACKERS)}, and inspects by margin. B
is that of each release: its number of remaining identifiers, or 1% of its tokens. Intervals are
Wilson's, and treat tokens as independent."""


if __name__ == "__main__":
    main()
