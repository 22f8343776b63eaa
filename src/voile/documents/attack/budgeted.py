"""The paper's adversary, who learns the look of identifiers and inspects a number of tokens.

The adversary trains every learner on labelled text and takes the most accurate one. Then the
adversary inspects predicted identifiers first, up to B inspections (Li et al. 2016, section 3.2).
Marks are recognised and skipped, but a surrogate looks like any other word.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import RequestError, nearest
from voile.core.estimator import EstimatorParameters
from voile.core.evidence import Count, Note
from voile.documents.attack import predictions
from voile.documents.attack.attack_text import AttackText
from voile.documents.attack.inspection_evidence import InspectionEvidence, draw_curves, find_all
from voile.documents.attack.inspections import Counts, InspectionOrder, Order, count_tokens
from voile.documents.attack.remaining import match_documents
from voile.documents.learners.learner import TokenLearner
from voile.documents.learners.named_learners import learners_of
from voile.documents.model.start.rules.language import guess_language
from voile.documents.model.start.starter.shipped import STARTERS, load_starter
from voile.documents.model.start.starter.starter import PretrainedStarter
from voile.documents.patterns.gazetteers import gazetteer_words
from voile.documents.text.sequence import DocumentSequence
from voile.documents.words.subjects import count_by_subject
from voile.documents.words.token_classes import token_labels
from voile.documents.words.tokens import tokenise
from voile.keys.random import RandomState, streams

Labels = Literal["published", "released", "foreign", "starter"]


@dataclass(eq=False, repr=False)
class BudgetedAttacker(EstimatorParameters):
    """An attacker who searches a release for identifiers with a number of inspections.

    It supports cloning and setting parameters as in scikit-learn. It has `attack` instead of `fit`,
    since it stores nothing of a release.

    Parameters
    ----------
    learners : names or objects, as in `GreedySanitizer`. The attack uses the learner that is most
        accurate on text of unseen subjects.
    labels : the source of the training labels. ``published`` is labelled text of this publisher,
        published like the release (`training`), or else the release's other subjects. ``released``
        is a share of the release's subjects, labelled by hand. ``foreign`` is another publisher's
        text, not sanitised (`training`). ``starter`` uses only voile's pretrained model, which
        knows names in English. All types count as one, so that the two texts may have different
        types.
    order : the order of inspection. ``margin`` takes the most certain tokens first. ``paper`` takes
        predicted identifiers in random order, then the other tokens. ``negatives`` is the reverse,
        the adversary of Lemma 2.
    random_state : the same seed gives the same evidence, with any number of processes.
    n_jobs : the number of processes, as in joblib.
    repeats : how often the labelled share and the order of ties are drawn, at least 1.
    share : the share of the subjects labelled by hand, in (0, 1).
    lists : the adversary's gazetteers, name -> phrases.

    Examples
    --------
    >>> from voile.documents import Corpus, Document, Span
    >>> notes = Corpus(
    ...     Document(f"Patient {name} came on foot , and was well .", (Span(8, 11, "NAME"),))
    ...     for name in ("Ana", "Eva", "Leo", "Max", "Ida", "Tom", "Pia", "Jan") * 5
    ... )
    >>> found = BudgetedAttacker(("svm",), random_state=1).attack(notes, notes, inspections=40)
    >>> found.true_positives
    40
    """

    learners: Sequence[str | TokenLearner] = ("crf", "svm", "adaboost", "ensemble", "consensus")
    labels: Labels = "published"
    order: Order = "margin"
    random_state: RandomState = None
    n_jobs: int | None = None
    repeats: int = 5
    share: float = 0.25
    lists: Mapping[str, Iterable[str]] | None = None

    def attack(
        self,
        published: DocumentSequence,
        truth: DocumentSequence,
        *,
        inspections: int | Sequence[int] | None = None,
        training: DocumentSequence | None = None,
    ) -> InspectionEvidence:
        """Attack a release, and score the attack with the original data.

        Parameters
        ----------
        published : the release, as documents with `edits`. Its spans are ignored.
        truth : the source with its spans, in the same order or with the same ids.
        inspections : B, at least 1, or several numbers. By default the number of identifiers left,
            and 1% of the tokens.
        training : labelled training text, for ``published`` and ``foreign``.

        Raises
        ------
        RequestError : a setting is unknown, the original belongs to another release, or `training`
            is missing or has no use. Also raised for fewer than two subjects to learn from and
            attack, or for a language without a pretrained model.

        Guarantees: no classifier is applied to a subject of the release that it learned from. The
        caller must ensure that `training` is about other subjects.

        Cost: 3 fits of each learner and one more. It is 5 of each if the attack learns from the
        release's other subjects. With labels by hand, the fits are repeated for each repeat. A
        pretrained model needs no fit.
        """
        self._check(training)
        asked = None if inspections is None else _numbers(inspections)
        pairs = list(match_documents(published, truth))
        release = DocumentSequence(one for one, _ in pairs)
        ground = AttackText.of(release, training, gazetteer_words(self.lists or {}))
        names = [f"repeat {number}" for number in range(self.repeats)]
        seeds, *rngs = streams(self.random_state, "seeds", *names)
        if self.labels == "starter":
            seen = [predictions.rank_by_starter(ground, _starter(release))] * self.repeats
        else:
            seen = predictions.predict(self._student(seeds), ground, self.labels, self.share, rngs)
        walks = [
            InspectionOrder.of(ground, look, self.order, rng)
            for look, rng in zip(seen, rngs, strict=True)
        ]
        asked = asked or _usual(walks)
        totals = _totals(
            DocumentSequence(source for _, source in pairs), ground.subject[ground.attacked]
        )
        return InspectionEvidence(
            attack=NAMES[self.labels],
            heading="singling out",
            story=self._story(training),
            knows=(_KNOWS[self.labels],),
            findings=tuple(find_all(ground, walks, asked, totals)),
            curves=draw_curves(walks, asked),
            notes=tuple(self._notes(seen, walks, max(asked))),
        )

    def _student(self, seeds: np.random.Generator) -> predictions.ApprenticeAttacker:
        learners = learners_of(self.learners)
        each = {name: int(seeds.integers(2**31)) for name in learners}
        return predictions.ApprenticeAttacker(learners, each, self.n_jobs)

    def _check(self, training: DocumentSequence | None) -> None:
        for what, legal in (("labels", Labels), ("order", Order)):
            value, names = getattr(self, what), get_args(legal)
            if value not in names:
                raise RequestError(f"no {what} are called {value}", instead=nearest(value, names))
        if self.labels == "foreign" and not training:
            raise RequestError("foreign labels need a corpus to learn from", instead="training=")
        if self.labels in ("released", "starter") and training is not None:
            raise RequestError(
                f"{_KNOWS[self.labels]} leave no use for other training text",
                instead="leave training out, or use published or foreign labels",
            )
        if self.repeats < 1 or not 0 < self.share < 1:
            raise RequestError("repeats are 1 or more, and the share is above 0 and below 1")

    def _story(self, training: DocumentSequence | None) -> Note:
        learns = _LEARNS["others" if self.labels == "published" and not training else self.labels]
        trains = "trains every learner on it, takes the most accurate, and " * (
            self.labels != "starter"
        )
        return Note(
            f"{learns} The adversary {trains}inspects the release token by token, "
            f"{_INSPECTS[self.order]}; marks are skipped. Each token that is part of an identifier "
            "is a success."
        )

    def _notes(
        self,
        seen: Sequence[predictions.ClassifierPrediction],
        walks: Sequence[InspectionOrder],
        most: int,
    ) -> Iterator[Note]:
        chosen = [look.learner for look in seen if look.learner]
        learners = ", ".join(dict.fromkeys(chosen)) or "no classifier"
        yield Note(
            "The adversary used {learners}. All types of identifiers count as one.",
            {"learners": learners},
        )
        if len(chosen) < len(seen):
            yield Note(
                "In {blind:.0%} of the repeats the labelled text held no identifier, and the "
                "adversary inspected at random.",
                {"blind": 1 - len(chosen) / len(seen)},
            )
        if self.labels == "released":
            yield Note(
                "The adversary labels {share:.0%} of the subjects; neither that work nor the "
                "identifiers found meanwhile are counted.",
                {"share": self.share},
            )
        if not any(int(walk.count_found(np.array([most]))[0]) for walk in walks):
            yield Note(
                "Nothing found in {inspections} inspections does not mean no risk: the interval "
                "says how many tokens may still be identifiers.",
                {"inspections": Count(most)},
            )
        yield Note(
            "Averages of {repeats} repeats. The intervals are Wilson's with the design effect of "
            "subjects, whose tokens are not independent.",
            {"repeats": len(seen)},
        )
        yield Note("Baseline: the expectation for as many tokens drawn at random.")


NAMES: Mapping[Labels, str] = {
    "published": "inspections, other documents labelled",
    "released": "inspections, a part labelled by hand",
    "foreign": "inspections, text of others labelled",
    "starter": "inspections, ready-made classifier",
}
"""The name of the attack for each source of labels."""
_KNOWS = {
    "published": "labels of published text",
    "released": "labels of a part of the release",
    "foreign": "labelled text of others",
    "starter": "voile's starter",
}
_LEARNS = {
    "published": "The adversary holds other text of the same publisher, sanitised in the same way, "
    "with the identifiers left in it labelled.",
    "others": f"The release is attacked in {predictions.FOLDS} parts. Of each part the adversary "
    "knows which identifiers are left in the other parts.",
    "released": "The adversary labels a part of the release by hand, and attacks the rest.",
    "foreign": "The adversary holds labelled text of somebody else, not sanitised.",
    "starter": "The adversary has the classifier of names that comes with voile, and no label of "
    "any text: it was learnt from public text.",
}
_INSPECTS = {
    "margin": "the most certain identifiers first",
    "paper": "predicted identifiers first, in random order",
    "negatives": "predicted harmless tokens first, in random order",
}


def _starter(release: DocumentSequence) -> PretrainedStarter:
    """Return the pretrained model for the apparent language of a release."""
    language = guess_language(one.text for one in release)
    if language not in STARTERS:
        raise RequestError(
            f"no starter comes with voile for {language.capitalize()}, which the release seems to "
            "be in",
            instead="attack with other labels",
        )
    return load_starter(language)


def _numbers(inspections: int | Sequence[int]) -> list[int]:
    numbers = list(inspections) if isinstance(inspections, Iterable) else [inspections]
    whole = all(isinstance(one, Integral) and not isinstance(one, bool) for one in numbers)
    if not numbers or not whole or min(numbers) < 1:
        raise RequestError("the number of inspections is a whole number from 1 up")
    return numbers


def _usual(walks: Sequence[InspectionOrder]) -> list[int]:
    tokens, left = (float(np.mean(part)) for part in zip(*map(count_tokens, walks), strict=True))
    return [max(round(left), 1), max(round(tokens / 100), 1)]


def _totals(source: DocumentSequence, subject: NDArray[np.intp]) -> dict[str, Counts]:
    """Count the source's tokens of each type, by subject.

    `subject` is the subject of each document.
    """
    labels, tokens = source.labels, tokenise(one.text for one in source)
    types = token_labels(tokens, source, labels)
    return {
        label: count_by_subject(tokens, types == kind, subject)
        for kind, label in enumerate(labels, 1)
    }
