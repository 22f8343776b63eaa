"""Attack a map as an adversary would, on readings outside its training set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voile.core.errors import RequestError
from voile.core.evidence import Evidence, Note, Rate
from voile.keys.random import RandomState, streams
from voile.signals.attack import breaks
from voile.signals.attack.attackers import ClassAttacker, bayes, learners
from voile.signals.attack.breaks import FEWEST, LENGTHS, MapBreak, is_enough
from voile.signals.attack.consistency import DecodedMessages, infer_by_consistency
from voile.signals.fitting.maps.privacy_map import PrivacyMap
from voile.signals.fitting.sequences.sequence_map import SequenceMap
from voile.signals.information.leakage import ClassInformation, leakage
from voile.signals.information.mutual import mutual_information
from voile.signals.information.subjects import CheckedSubjects, Subjects, Whose
from voile.signals.model.codec.given import as_labels, as_table
from voile.signals.model.codec.lattice import ValueLattice
from voile.signals.model.codec.pieces import Codes, Floats
from voile.signals.model.codec.place import CLASSES
from voile.signals.model.sequences.messages import ReadingMessage

STORY = Note(
    "The adversary overhears messages, knows every class's map, and has as many messages of known "
    "class as the audit has readings. Success is to name the class of a person not learned from."
)


@dataclass(frozen=True)
class Audit:
    """The results of the attackers in an audit.

    Parameters
    ----------
    classes : the classes, in the order of every tuple here.
    majority : share of the tested people in the most frequent class.
    attackers : attackers that overhear one message of each subject.
    information : I(Z; C) of one message of each subject.
    breaks : standard attacks that bypass the map.
    """

    classes: tuple[str, ...]
    majority: Rate
    attackers: tuple[ClassAttacker, ...]
    information: ClassInformation
    breaks: tuple[MapBreak, ...]

    def evidence(self) -> tuple[Evidence, ...]:
        """Return the results as evidence, for single messages and for the breaks."""
        each = [one.findings(self.classes, (self.majority,)) for one in self.attackers]
        single = Evidence(
            "single messages",
            "inference",
            STORY,
            findings=tuple(finding for findings in each for finding in findings),
            notes=(leakage(self.information), *(one.note() for one in self.attackers)),
        )
        return single, *(one.evidence(STORY) for one in self.breaks)


def audit(
    map: PrivacyMap | SequenceMap,
    X: ArrayLike,
    c: ArrayLike,
    subjects: Whose = None,
    *,
    lengths: Sequence[int] = LENGTHS,
    invariants: Sequence[int] = (),
    permutations: int = 100,
    random_state: RandomState = 0,
) -> Audit:
    """Attack a fitted map.

    The adversary knows half of the people with their classes, and learns the pattern of each class
    from their messages. The adversary then names the classes of the other half.

    Parameters
    ----------
    map : a fitted map. A `SequenceMap` sends the messages of sessions with one pending message at a
        time.
    X : (n, d) readings that the map was not fitted to, numeric only. The readings of a subject are
        in order of time.
    c : (n,) classes. All classes of the map must occur.
    subjects : (n,) the subject of each reading. None: each reading belongs to a different person.
        Attackers of single messages hear each subject's first message, so that every interval
        counts subjects. Attackers of several messages hear the subjects with a constant class. With
        `Subjects`, p(c | s) weights messages, and gained bits are relative to it. If laws are the
        subjects' own, the information is that of all messages for a stronger adversary. This
        adversary knows the subject of each message and how its readings differ.
    lengths : numbers of messages for repeat readings, tried if enough subjects have them.
    invariants : columns that never change within a subject, for a `PrivacyMap`.
    permutations : number of permutations for the null of the mutual information.
    random_state : for the known half and the learners.

    Raises
    ------
    RequestError : a class is unknown to the map or has fewer than 20 subjects, or a column is
        nominal.

    Cost: that of the learners; O(n) readings of sessions for a `SequenceMap`.
    """
    table, labels = as_table(X), as_labels(np.asarray(c))
    if labels.shape != (len(table),):
        raise RequestError(f"there are {len(table)} readings and {len(labels)} classes")
    codes = _codes(map, labels)
    mix, learn = streams(random_state, "halves", "learners")
    known = CheckedSubjects.of(subjects, len(table), len(map.classes_))
    runs = _runs(known.whose, mix)
    first = np.array([run[0] for run in runs])
    seed = int(learn.integers(1 << 31))
    c_first = codes[first]
    if not is_enough(c_first, len(map.classes_)):
        raise RequestError(
            f"a class has under {2 * FEWEST} subjects, too few to audit", where=CLASSES
        )
    Z, heard = _overhear_first(map, table[first], labels[first], c_first, known, first)
    half = len(first) // 2
    c_tried = c_first[half:]
    beliefs = None if known.beliefs is None else known.beliefs[first[half:]]
    found = learners(Z[:half], c_first[:half], Z[half:], c_tried, seed, beliefs)
    runs = [run for run in runs if (codes[run] == codes[run[0]]).all()]
    ways = [*_repeats(map, table, codes, runs, lengths, seed)]
    if heard:
        learned, tried = np.split(np.arange(len(Z)), [half])
        found += infer_by_consistency(heard, c_first, learned, [tried], seed, [beliefs])
    if isinstance(map, PrivacyMap):
        found = (*found, bayes(map, Z[half:], c_tried, beliefs))
        ways += _invariants(map, table, codes, runs, lengths, invariants)
        ways.append(breaks.known_plaintext(map.codec_, table[first], Z, c_first))
    if known.own and isinstance(map, PrivacyMap):
        every = np.arange(len(table))
        spoken = _messages(map, table, labels, known, every), codes, subjects
    else:
        spoken = Z, c_first, _first(known, first)
    information = mutual_information(*spoken, permutations=permutations, random_state=random_state)
    likeliest = np.full(len(c_tried), np.bincount(codes[first[:half]]).argmax())
    if beliefs is not None:
        likeliest = beliefs.argmax(axis=1)
    common = int((c_tried == likeliest).sum())
    names = tuple(str(name) for name in map.classes_)
    return Audit(names, Rate(common, len(c_tried)), found, information, tuple(ways))


def _overhear_first(
    map: PrivacyMap | SequenceMap,
    X: Floats,
    labels: NDArray[np.generic],
    c: Codes,
    known: CheckedSubjects,
    rows: Codes,
) -> tuple[Floats, DecodedMessages | None]:
    """Return each subject's first message, and its decodings if the map's strength is above 0."""
    if isinstance(map, SequenceMap):
        Z, _, messages = breaks.send_readings(map.codec_, X[:, None], c)
        return Z, _decode_sessions(map, Z, messages)
    _numbers_alone(map)
    Z = _messages(map, X, labels, known, rows)
    if map.strength == 0:
        return Z, None
    at = map.codec_.levels(None, len(Z))
    return Z, DecodedMessages.of(map.codec_, Z, at, np.zeros((len(Z), 0)))


def _messages(
    map: PrivacyMap, X: Floats, c: NDArray[np.generic], known: CheckedSubjects, rows: Codes
) -> Floats:
    if map.levels_ is None:
        return np.asarray(map.encode(X, c), dtype=np.float64)
    Z = np.empty_like(X)
    for who in np.unique(known.whose[rows]):
        codec = map.codec(base=map.base, strength=map.strength, subject=known.names[who])
        own = known.whose[rows] == who
        Z[own] = codec.encode(X[own], c[own])
    return Z


def _decode_sessions(
    map: SequenceMap, Z: Floats, messages: Sequence[Sequence[ReadingMessage | None]]
) -> DecodedMessages:
    """Return the first messages of sessions, (n, d), decoded with each class's map."""
    readings = breaks.read_sessions(map.codec_, messages)[:, :, 0]
    middle = np.nanmedian(readings, axis=(0, 1))
    columns = zip(map.codec_.order, map.codec_.codec.columns, strict=True)
    cells = [one.resolution for _, one in sorted(columns, key=lambda pair: pair[0])]  # type: ignore[union-attr]
    none = np.zeros(readings.shape)
    readings = np.where(np.isfinite(readings), readings, middle)
    return DecodedMessages(Z, readings, none, np.array(cells), np.zeros((len(Z), 0)))


def _first(known: CheckedSubjects, rows: Codes) -> Subjects:
    """Return p(s) and p(c | s) of subjects, given one reading of each."""
    weights = np.bincount(known.whose, known.share)[known.whose[rows]]
    beliefs = None if known.beliefs is None else known.beliefs[rows]
    return Subjects(rows, weights, beliefs)


def _codes(map: PrivacyMap | SequenceMap, labels: NDArray[np.generic]) -> Codes:
    at = np.searchsorted(map.classes_, labels).clip(0, len(map.classes_) - 1)
    if (map.classes_[at] != labels).any():
        raise RequestError("the map has not seen a class", where=CLASSES)
    if len(np.unique(at)) < len(map.classes_) or len(map.classes_) < 2:
        raise RequestError("an audit needs readings of each of two classes or more", where=CLASSES)
    return at


def _numbers_alone(map: PrivacyMap) -> None:
    if not all(isinstance(column, ValueLattice) for column in map.codec_.columns):
        remedy = "audit the other columns by themselves"
        raise RequestError("a column is nominal", where="X", instead=remedy)


def _runs(whose: Codes, rng: np.random.Generator) -> list[Codes]:
    """Return each subject's rows in order, with the subjects shuffled."""
    by_subject = np.argsort(whose, kind="stable")
    runs = np.split(by_subject, np.cumsum(np.bincount(whose))[:-1])
    return [runs[one] for one in rng.permutation(len(runs))]


def _long(runs: Sequence[Codes], length: int) -> Codes:
    """Return the first `length` rows of subjects with enough rows, (subjects, length)."""
    return np.array([run[:length] for run in runs if len(run) >= length], dtype=np.intp)


def _repeats(
    map: PrivacyMap | SequenceMap,
    table: Floats,
    codes: Codes,
    runs: Sequence[Codes],
    lengths: Sequence[int],
    seed: int,
) -> list[MapBreak]:
    """Attack with several overheard messages of each subject."""
    found = []
    for length in (one for one in lengths if one > 1):
        rows = _long(runs, length)
        if not len(rows) or not is_enough(codes[rows[:, 0]], len(map.classes_)):
            continue
        X, own = table[rows], codes[rows[:, 0]]
        if isinstance(map, SequenceMap):
            Z = breaks.send_readings(map.codec_, X, own)[1]
        else:
            flat = map.codec_.encode(X.reshape(rows.size, -1), map.classes_[codes[rows.ravel()]])
            Z = np.asarray(flat, dtype=np.float64).reshape(X.shape)
        rate, majority = breaks.repeats(Z, own, seed)
        promised = isinstance(map, SequenceMap)
        found.append(
            MapBreak("repeat readings", rate, majority, promised=promised, messages=length)
        )
    return found


def _invariants(
    map: PrivacyMap,
    table: Floats,
    codes: Codes,
    runs: Sequence[Codes],
    lengths: Sequence[int],
    columns: Sequence[int],
) -> list[MapBreak]:
    """Attack with invariant columns, using the longest usable run of messages."""
    usable = [one for one in lengths if one > 1 and len(_long(runs, one))]
    if not columns or not usable:
        return []
    rows = _long(runs, max(usable))
    own = codes[rows[:, 0]]
    flat = map.codec_.encode(table[rows.ravel()], map.classes_[codes[rows.ravel()]])
    Z = np.asarray(flat, dtype=np.float64).reshape(*rows.shape, -1)
    return [breaks.invariants(map.codec_, Z, own, columns)]
