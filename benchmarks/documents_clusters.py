"""What clusters of words bring to the default of `fit`, on documents held out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from benchmarks.documents_data import SOURCES
from benchmarks.documents_runs import BY_LOOP, DEFAULT, Outcome, Split, kept_in, read, write
from benchmarks.tables import save
from joblib import Parallel, delayed

from voile.documents.replacements.names import Language
from voile.documents.start.lists import clusters_of

MISS_COST = 10.0
PARTS = 2
"""Folds of the four that are held out, once each."""
LANGUAGES: dict[str, Language] = {
    "MEDDOCAN, names": "spanish",
    "Enron threads": "english",
    "wikigold": "english",
    "broad-twitter": "english",
}


def outcome(name: str, fold: int, *, clusters: bool) -> Outcome:
    """Return what the default did to a fold; it is made once, and kept."""
    folder = kept_in(f"{name}, clusters" if clusters else name, fold)
    path = folder / f"{BY_LOOP} {DEFAULT} {MISS_COST:g}.json"
    if not path.exists():
        public = clusters_of(LANGUAGES[name]) if clusters else None
        split = Split(SOURCES[name].read(), fold, folder, public=public)
        write(path, split.outcome(split.committee(DEFAULT, MISS_COST)))
    return read(path)


def rows() -> Iterator[tuple[str, ...]]:
    """Yield a row for each corpus: T, and the shares left and lost, without and with clusters."""
    asked = [(name, part, with_) for name in LANGUAGES for with_ in (0, 1) for part in range(PARTS)]
    found = Parallel(n_jobs=2)(
        delayed(outcome)(name, part, clusters=bool(with_)) for name, part, with_ in asked
    )
    for start in range(0, len(found), 2 * PARTS):
        without, with_ = (
            Outcome.pooled(found[start + at : start + at + PARTS]) for at in (0, PARTS)
        )
        before, after = (int(one.cost(MISS_COST).sum()) for one in (without, with_))
        yield (
            asked[start][0],
            f"{before:,}",
            f"{after:,}",
            f"{after / before:.2f}",
            *(f"{one.left.sum() / one.identifiers.sum():.1%}" for one in (without, with_)),
            *(f"{1 - _lost(one):.3f}" for one in (without, with_)),
        )


def _lost(one: Outcome) -> float:
    return float(one.lost.sum() / (one.tokens.sum() - one.identifiers.sum()))


def main() -> None:
    save(
        Path(__file__).stem,
        CAPTION,
        (
            "corpus", "T", "T, with clusters", "ratio", "left", "left, with",
            "harmless kept", "kept, with",
        ),
        list(rows()),
    )  # fmt: skip


CAPTION = f"""\
The default of `fit` at L/C = {MISS_COST:g} without and with `--clusters`, of documents held
out: {PARTS} of the four folds, each held out once. *Left*: the share of identifiers; *kept*: that
of harmless tokens."""


if __name__ == "__main__":
    main()
