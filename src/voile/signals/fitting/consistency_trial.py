"""Try the consistency adversary on messages of people whom no map was fitted to."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np

from voile.signals.attack.attackers import by_chances
from voile.signals.attack.breaks import FEWEST
from voile.signals.attack.choice import infer_others
from voile.signals.attack.consistency import DecodedMessages, infer_by_consistency
from voile.signals.fitting.maps.trials import MapTrial, MethodTrials
from voile.signals.model.codec.pieces import Codes

PEOPLE = 2_000  # at most, on whom it is tried


@dataclass(frozen=True, eq=False)
class ConsistencyTrial:
    """Messages at strength 1 of people held out of the maps, decoded under every class."""

    heard: DecodedMessages
    c: Codes  # (n,) classes
    learned: Codes  # rows of people of known classes
    tried: Codes  # rows of others
    seed: int

    @classmethod
    def of(cls, trials: MethodTrials, seed: int) -> ConsistencyTrial | None:
        """Decode the messages; None where one column has nothing to be consistent with.

        None also where people are too few.
        """
        first = trials.folds[0].map
        if first.fitted_ is None or sum(first.spans) + len(first.side) < 2:
            return None
        c = np.concatenate([one.c for one in trials.folds])
        people = np.random.default_rng(seed).permutation(len(c))[:PEOPLE]
        learned, tried = np.split(people, [len(people) // 2])
        k = len(first.classes_)
        if min(np.bincount(c[half], minlength=k).min() for half in (learned, tried)) < FEWEST:
            return None
        heard = DecodedMessages.join_parts([_decode(one) for one in trials.folds])
        return cls(heard, c, learned, tried, seed)

    def measure(self) -> dict[str, float]:
        """Return the balanced accuracy of consistency and of messages alone."""
        (consistent,) = infer_by_consistency(
            self.heard, self.c, self.learned, [self.tried], self.seed
        )
        people = np.concatenate([self.learned, self.tried])
        both = np.concatenate([self.heard.Z, self.heard.known], axis=1)[people]
        is_learned = np.arange(len(people)) < len(self.learned)
        chances = infer_others({"messages": both}, self.c[people], is_learned, self.seed).chances
        messages = by_chances("messages", chances, self.c[self.tried])
        figures = {
            "balanced": consistent.balanced,
            "low": consistent.low,
            "high": consistent.high,
            "permuted": consistent.permuted,
            "chance": 1 / len(self.heard.readings),
            "messages": messages.balanced,
            "people": float(len(self.tried)),
        }
        return {name: round(value, 4) for name, value in figures.items()}

    def find_revealing(self, columns: Collection[int]) -> int:
        """Return the numeric column without which the adversary infers the class least."""

        def infer_without(column: int) -> float:
            heard = self.heard.drop_column(column)
            (found,) = infer_by_consistency(heard, self.c, self.learned, [self.tried], self.seed)
            return found.balanced

        return min(columns, key=infer_without) if len(columns) > 1 else next(iter(columns))


def exceeds_messages(figures: Mapping[str, float]) -> bool:
    """Whether consistency reveals more than messages alone, by more than its interval."""
    return figures["low"] > max(figures["messages"], figures["permuted"])


def _decode(trial: MapTrial) -> DecodedMessages:
    codec = trial.map.at("normal", 1.0).codec_
    at = codec.levels(None, len(trial.c)) if trial.levels is None else trial.levels
    known = np.zeros((len(trial.c), 0))
    if trial.levels is not None:
        exact = trial.levels.values[np.isfinite(trial.levels.values).any(axis=1)].T
        missing = np.isnan(exact)
        exact = np.where(missing, np.nanmedian(exact, axis=0) if exact.size else 0.0, exact)
        known = np.concatenate([trial.beside(), exact], axis=1)
    return DecodedMessages.of(codec, trial.encode_messages("normal", 1.0), at, known)
