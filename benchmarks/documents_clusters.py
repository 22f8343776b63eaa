"""What clusters of words bring to the default of `fit`, on documents held out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from benchmarks.data import folder
from benchmarks.documents_data import SOURCES, Source, kept
from benchmarks.documents_quality import ratio, shown
from benchmarks.documents_runs import (
    BY_LOOP,
    DEFAULT,
    FOLDS,
    Outcome,
    Split,
    kept_in,
    read,
    write,
)
from benchmarks.tables import save
from joblib import Parallel, delayed

from voile.documents import Corpus
from voile.documents.model.start.lists import clusters_of
from voile.documents.replacements.names import Language

MISS_COST = 10.0


def by_template() -> Corpus:
    """Return made-up sentences with names of persons; those of one template are of one subject."""
    path = folder("presidio-synthetic-pii") / "synth_dataset_v2.jsonl.gz"
    return kept(Corpus.read(path, subject="template_id"), lambda label: label == "PERSON")


CORPORA: Mapping[str, Source] = {**SOURCES, "presidio-synthetic": Source(by_template)}


def language_of(name: str) -> Language:
    return "spanish" if name.startswith("MEDDOCAN") else "english"


def outcome(name: str, fold: int, *, clusters: bool) -> Outcome:
    """Return what the default did to a fold; it is made once, and kept."""
    place = kept_in(f"{name}, clusters" if clusters else name, fold)
    path = place / f"{BY_LOOP} {DEFAULT} {MISS_COST:g}.json"
    if not path.exists():
        public = clusters_of(language_of(name)) if clusters else None
        split = Split(CORPORA[name].read(), fold, place, public=public)
        write(path, split.outcome(split.committee(DEFAULT, MISS_COST)))
    return read(path)


def rows() -> Iterator[tuple[str, ...]]:
    """Yield a row for each corpus: T, and the shares left and kept, without and with clusters."""
    asked = [(name, with_, part) for name in CORPORA for with_ in (0, 1) for part in range(FOLDS)]
    found = Parallel(n_jobs=2)(
        delayed(outcome)(name, part, clusters=bool(with_)) for name, with_, part in asked
    )
    for start in range(0, len(found), 2 * FOLDS):
        without, with_ = (Outcome.pooled(found[at : at + FOLDS]) for at in (start, start + FOLDS))
        yield (
            asked[start][0],
            *(f"{one.cost(MISS_COST).sum():,.0f}" for one in (without, with_)),
            shown(*ratio(with_, without, MISS_COST)),
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
            "corpus", "T", "T, with clusters", "ratio", "left", "left, with", "harmless kept",
            "kept, with",
        ),
        list(rows()),
    )  # fmt: skip


CAPTION = f"""\
The default of `fit` at L/C = {MISS_COST:g} without and with `--clusters`, of held-out
documents, all {FOLDS} folds together. The ratio of T (in tokens) has its 95% interval over
random draws of documents. *Left*: the share of identifiers. *Kept*: the share of harmless
tokens. In presidio-synthetic the sentences of a template are held out together."""


if __name__ == "__main__":
    main()
