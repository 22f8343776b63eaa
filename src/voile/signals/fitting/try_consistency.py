"""Try the consistency attack on messages of people whom no map was fitted to."""

from __future__ import annotations

import numpy as np

from voile.signals.attack.attackers import by_chances
from voile.signals.attack.breaks import FEWEST
from voile.signals.attack.choice import infer_others
from voile.signals.attack.consistency import DecodedMessages, infer_by_consistency
from voile.signals.fitting.maps.trials import MapTrial, MethodTrials

PEOPLE = 2_000  # maximum number of people in the trial


def try_consistency(trials: MethodTrials, seed: int) -> dict[str, float] | None:
    """Return the balanced accuracy of the consistency attack and of messages alone, at strength 1.

    Half of the people have known classes. Return None if there is only one column, or if there are
    too few people.
    """
    first = trials.folds[0].map
    if first.fitted_ is None or sum(first.spans) + len(first.side) < 2:
        return None
    heard = DecodedMessages.join_parts([_decode(one) for one in trials.folds])
    c = np.concatenate([one.c for one in trials.folds])
    people = np.random.default_rng(seed).permutation(len(c))[:PEOPLE]
    learned, tried = np.split(people, [len(people) // 2])
    k = len(first.classes_)
    if min(np.bincount(c[half], minlength=k).min() for half in (learned, tried)) < FEWEST:
        return None
    (consistent,) = infer_by_consistency(heard, c, learned, [tried], seed)
    both = np.concatenate([heard.Z, heard.known], axis=1)[people]
    is_learned = np.arange(len(people)) < len(learned)
    chances = infer_others({"messages": both}, c[people], is_learned, seed).chances
    messages = by_chances("messages", chances, c[tried])
    figures = {
        "balanced": consistent.balanced,
        "low": consistent.low,
        "high": consistent.high,
        "permuted": consistent.permuted,
        "chance": 1 / k,
        "messages": messages.balanced,
        "people": float(len(tried)),
    }
    return {name: round(value, 4) for name, value in figures.items()}


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
