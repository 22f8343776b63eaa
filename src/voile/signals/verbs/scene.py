"""The data of an attack: the overheard messages, the original data and the subject of each row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import RequestError
from voile.core.evidence import Rate
from voile.data import Source, open_source
from voile.data.hold_out import HoldOut
from voile.data.roles import Roles
from voile.keys.random import ProtectiveRandom
from voile.release.kit import StoredKit
from voile.release.manifest import StoredRelease
from voile.release.scoring import private_manifest_of, rows_held_out, rows_released
from voile.signals.attack.breaks import FEWEST, is_enough
from voile.signals.attack.known_columns import known_columns
from voile.signals.attack.overheard import as_numbers
from voile.signals.information.beliefs import ClassBeliefs
from voile.signals.model.codec.pieces import Codes, Floats
from voile.signals.model.content import KIND, SignalsContent
from voile.signals.model.maps.stored import StoredMap, mark_of
from voile.signals.model.policies import SignalsPolicy
from voile.signals.model.readings.sources import SignalReader, SourceReadings
from voile.signals.options import AttackOptions
from voile.signals.verbs.certify import messages
from voile.signals.verbs.release_columns import AS_IN_SOURCE


class FreshMessages(NamedTuple):
    """Messages of people outside the attackers' training set; fields as in `MessagePeople`."""

    Z: Floats
    c: Codes
    prior: Floats | None
    known: NDArray[np.object_] | None
    number: NDArray[np.int64]  # row numbers in their file
    table: NDArray[Any]  # (n, d) messages


@dataclass(frozen=True, eq=False)
class MessagePeople:
    """One message of each subject, with the subjects shuffled."""

    X: NDArray[Any]  # (n, d) readings
    table: NDArray[Any]  # (n, d) messages
    Z: Floats  # (n, features) messages as numbers
    c: Codes  # (n,) classes
    whose: Codes  # (n,) subjects
    number: NDArray[np.int64]  # (n,) row numbers in the original data
    known: NDArray[np.object_] | None  # (n, q) side columns of the map
    prior: Floats | None  # (n, k) the adversary's beliefs; None: shares of the known half

    @property
    def half(self) -> int:
        return len(self.c) // 2

    @property
    def after(self) -> Floats | None:
        """The adversary's beliefs about the attacked people."""
        return None if self.prior is None else self.prior[self.half :]

    @property
    def attacked_people(self) -> FreshMessages:
        """The half of the people on whom the attack is tested."""
        rows = slice(self.half, None)
        known = None if self.known is None else self.known[rows]
        parts = self.Z[rows], self.c[rows], self.after, known
        return FreshMessages(*parts, self.number[rows], self.table[rows])

    @property
    def majority(self) -> Rate:
        """The success of guessing without messages.

        The guess is the most frequent class of the known half, or each person's likeliest class by
        the prior beliefs.
        """
        half = self.half
        if self.after is not None:
            guess = self.after.argmax(axis=1)
            return Rate(int((self.c[half:] == guess).sum()), len(guess))
        common = np.bincount(self.c[:half]).argmax()
        return Rate(int((self.c[half:] == common).sum()), len(self.c) - half)


@dataclass(frozen=True, eq=False)
class SignalsScene:
    """A release with its original data, as an attack needs it."""

    release: StoredRelease
    truth: Source
    options: AttackOptions
    reader: SignalReader
    rows: SourceReadings  # sent rows of the original data, in each subject's order
    table: NDArray[Any]  # (n, d) their messages
    Z: Floats  # (n, features) messages as numbers
    c: Codes  # (n,) class numbers
    classes: tuple[str, ...]  # the classes, sorted
    map: StoredMap | None  # the map that the adversary knows, if any

    @classmethod
    def of(cls, release: StoredRelease, truth: Source, options: AttackOptions) -> SignalsScene:
        """Read the release and its original data.

        Raises
        ------
        RequestError : the attack cannot be scored on these data.
        """
        private = private_manifest_of(release)
        reader = _reader(private)
        _check_known(release, options, reader)
        rows = reader.read_rows(truth, strict=False)
        release.check_source(truth, len(rows.labels) + rows.left_out)
        table, numbers = _messages(release, reader)
        place = np.full(len(rows.labels) + rows.left_out, -1, dtype=np.intp)
        place[numbers] = np.arange(len(numbers))
        order = np.lexsort((rows.number, rows.moments, rows.whose))
        rows = rows.take(order[place[rows.number[order]] >= 0])
        table = table[place[rows.number]]
        classes = tuple(np.unique(rows.labels).tolist())
        map = _public_map(release, options)
        if map is not None and tuple(map.classes_.tolist()) != classes:
            raise RequestError("nobody of some class is in the release", where=str(release.path))
        c = np.searchsorted(np.array(classes), rows.labels)
        Z = as_numbers(reader.forms, table)
        return cls(release, truth, options, reader, rows, table, Z, c, classes, map)

    def people(self, rng: np.random.Generator) -> MessagePeople:
        """Draw one message of each subject, with the subjects in random order."""
        picked = rng.permutation(self.rows.one_each(rng))
        if not self.enough(self.c[picked]):
            raise RequestError(
                f"a class has under {2 * FEWEST} subjects in the release, too few to attack"
            )
        rows = self.rows.take(picked)
        parts = self.table[picked], self.Z[picked], self.c[picked]
        prior = self._prior(rows)
        return MessagePeople(rows.table, *parts, rows.whose, rows.number, rows.beside, prior)

    @cached_property
    def _beliefs(self) -> ClassBeliefs | None:
        if self.options.beliefs is None:
            return None
        return ClassBeliefs.read_table(
            open_source(self.options.beliefs), self.reader.subject, self.classes
        )

    def _prior(self, rows: SourceReadings) -> Floats | None:
        return None if self._beliefs is None else self._beliefs.of(rows.names, rows.whose)

    def enough(self, c: Codes) -> bool:
        return len(self.classes) > 1 and is_enough(c, len(self.classes))

    def runs(self, people: MessagePeople, length: int) -> tuple[Codes, Codes]:
        """Return the first rows of subjects with enough rows, (m, length), and their classes."""
        sizes = np.bincount(self.rows.whose)
        first = np.searchsorted(self.rows.whose, people.whose)
        long = first[sizes[people.whose] >= length]
        return long[:, None] + np.arange(length), self.c[long]

    @cached_property
    def knows(self) -> tuple[str, ...]:
        """The adversary's known columns: the requested ones, or all known and kept columns."""
        return self.options.knows or tuple(_knowable(self.release, self.reader))

    def beside(self, people: MessagePeople) -> list[Floats]:
        """Return the adversary's known columns of `people`, and of `fresh` if it has them."""
        whose = [(self.truth, people.number)]
        if self.fresh and {*self.knows} <= {*self._others.columns}:
            whose.append((self._others, self.fresh.number))
        return known_columns(self.knows, *whose)

    @cached_property
    def fresh(self) -> FreshMessages | None:
        """People outside the map's fit, encoded by it, or None without a map or such people."""
        if self.map is None:
            return None
        rows = self._control
        known = np.isin(rows.labels, self.map.classes_)
        rows = rows.take(known)
        if set(rows.labels) != set(self.classes):
            return None
        table, labels = rows.table, rows.labels
        Z = self.map.codec_.encode(table, labels, known=rows.beside, protective=ProtectiveRandom())
        c = np.searchsorted(np.array(self.classes), rows.labels)
        own = as_numbers(self.reader.forms, Z), c, self._prior(rows), rows.beside
        return FreshMessages(*own, rows.number, Z)

    @cached_property
    def _others(self) -> Source:
        """The source of people who are not in the release."""
        control = self.options.control
        return self.truth if control is None else open_source(control)

    @property
    def _control(self) -> SourceReadings:
        """One row of each person who is not in the release."""
        rows = self.reader.read_rows(self._others, strict=False)
        if self.options.control is None:
            rows = rows.take(np.isin(rows.number, rows_held_out(self.release)))
        return rows.take(np.unique(rows.whose, return_index=True)[1])


def _reader(private: Mapping[str, Any]) -> SignalReader:
    roles = Roles.model_validate(private["roles"])
    columns, time = private["story"]["columns"], private["story"]["time"]
    return SignalReader(roles, tuple(columns), HoldOut(0.0, b"", roles.subject), time)


def _messages(
    release: StoredRelease, reader: SignalReader
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the messages of a release, and their row numbers in the original data."""
    numbers = rows_released(release)
    tables, there = [], []
    for batch in release.rows().batches(list(reader.columns)):
        Z, blank = messages(batch, reader.forms)
        tables.append(Z[~blank])
        there.append(~blank)
    if not tables or not np.concatenate(there).any():
        raise RequestError("there is no message in the release", where=str(release.path))
    return np.concatenate(tables), numbers[np.concatenate(there)]


def _public_map(release: StoredRelease, options: AttackOptions) -> StoredMap | None:
    """Return the release's map if the adversary knows it, else None."""
    if options.public_map is None:
        return None
    content = SignalsContent.of(StoredKit.load(options.public_map, KIND))
    map = content.map(SignalsPolicy.from_data(release.public["policy"], content.maps))
    if mark_of(map.codec_) != release.public["map"]:
        raise RequestError(
            "the release was sent by another map",
            where=str(options.public_map),
            instead="give the kit that it was applied with",
        )
    return map


def _knowable(release: StoredRelease, reader: SignalReader) -> list[str]:
    """Return the known columns of the roles, and the columns that the release keeps."""
    columns = release.public["columns"]
    kept = [one["column"] for one in columns if one["what"] == AS_IN_SOURCE]
    return [*dict.fromkeys([*(one.column for one in reader.sides), *kept])]


def _check_known(release: StoredRelease, options: AttackOptions, reader: SignalReader) -> None:
    kept = _knowable(release, reader)
    for name in options.knows:
        if name not in kept:
            said = f"there are {', '.join(kept)}" if kept else "the release keeps none"
            what = f"no kept or known column is called {name}"
            raise RequestError(what, where="--knows", instead=said)
