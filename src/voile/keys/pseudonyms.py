"""Keyed pseudonyms, surrogates and date shifts, the same for every kind of data.

All are *pseudonymous*. The holder of the secret can find their subjects by trying each one. Anyone
else can still link all data with the same pseudonym. Each use derives its own key from the one
`Secret`, so no output helps to undo an output of another use.

A subject has one canonical form, whether read from CSV, a database or a document. Whole numbers
become their decimal digits (7 is "7", but not "007"), and text becomes Unicode NFC. Nothing is
trimmed or lower-cased. Other types are rejected, including floats: 7.0 may be the integer 7 in a
column with missing values.
"""

from __future__ import annotations

import operator
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, TypeAlias

from voile.core.errors import RequestError
from voile.keys.macs import hmac_sha256, remainders, utf8_of
from voile.keys.secret import Secret

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "Secret",
    "ShiftedDates",
    "Subject",
    "canonical_of",
    "choose",
    "date_shift",
    "pseudonym",
    "pseudonyms_of",
    "purpose_of",
    "shift_dates",
    "without_subject",
]

Subject: TypeAlias = str | int

_BASE32 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
_NO_SUBJECT = "name every row's subject, or set the row aside"


def pseudonym(
    secret: Secret, subject: Subject, *, purpose: str = "subject", length: int = 16
) -> str:
    """Return the pseudonym of a subject, a text that is always the same for one secret and purpose.

    Parameters
    ----------
    secret : the key.
    subject : text or a whole number, not blank. This module defines its canonical form.
    purpose : pseudonyms of different purposes cannot be linked without the secret.
    length : the number of characters, 12 to 51, of 5 bits each. With n subjects, two of them share
        a pseudonym with a chance of at most n^2 / 2^(5 length + 1). For a million subjects this is
        4e-13 at length 16, and 4e-7 at 12.

    Returns
    -------
    str : capitals and the digits 2 to 7 (RFC 4648 base32), so that no 0, 1 or 8 is confused with O,
        I or B. They are the first bits of HMAC-SHA-256 under the key of this purpose.

    Raises
    ------
    RequestError : a subject is missing, blank or of another type, or the length is out of range.

    >>> secret = Secret(bytes(32))
    >>> pseudonym(secret, "A-17") == pseudonym(secret, "A-17")
    True
    >>> pseudonym(secret, 7) == pseudonym(secret, "7")
    True
    """
    return str(_pseudonyms(secret, purpose, length)([_canonical(subject).encode()])[0])


def purpose_of(recipient: str | None) -> str:
    """Return the key purpose of one recipient's pseudonyms, or of the pseudonyms for everybody."""
    return "subject" if recipient is None else f"subject for {recipient}"


def choose(secret: Secret, subject: Subject, value: str, candidates: Sequence[str]) -> str:
    """Choose a surrogate for one of a subject's values, which differs from the value itself.

    A value of a subject always has the same surrogate, as long as the candidates and their order
    stay the same. Other subjects have other surrogates. Letter case and Unicode form are ignored
    when values are recognised and compared with surrogates.

    Guarantee: over secrets, the choice is uniform over the candidates that differ from the value.

    Cost: O(1), or O(candidates) in the rare cases in which the value itself is drawn first.

    Raises
    ------
    RequestError : no candidate differs from the value.

    Examples
    --------
    >>> choose(Secret(bytes(32)), "A-17", "ANNA", ["Anna", "Berta"])
    'Berta'
    """
    value = _fold_text(value)
    digest = secret.derive("surrogate", _canonical(subject), value)
    if candidates:
        first = candidates[_index(digest[:16], len(candidates))]
        if _fold_text(first) != value:
            return first
    others = [candidate for candidate in candidates if _fold_text(candidate) != value]
    if not others:
        raise RequestError(
            "every surrogate candidate equals the value",
            where="candidates",
            instead="give more candidates",
        )
    return others[_index(digest[16:], len(others))]


def date_shift(secret: Secret, subject: Subject, *, days: int = 365, step: int = 1) -> int:
    """Return the number of days by which all dates of a subject move, in [-days, days] and never 0.

    Guarantee: the offset is uniform over secrets. One offset per subject preserves every interval
    between the subject's dates, so whoever knows one true date knows them all.

    Parameters
    ----------
    secret, subject : as in `pseudonym`.
    days : 1 to 36,500. Another value of `days` gives another offset.
    step : every offset is a multiple of `step`. For example, 7 preserves weekdays.

    Raises
    ------
    RequestError : `pseudonym` rejects the subject, or `days` is out of range.

    >>> 1 <= abs(date_shift(Secret(bytes(32)), "A-17", days=30)) <= 30
    True
    """
    return int(_shifts(secret, days, step)([_canonical(subject).encode()])[0].as_py())


def pseudonyms_of(
    secret: Secret,
    subjects: pa.Array | pa.ChunkedArray,
    *,
    purpose: str = "subject",
    length: int = 16,
) -> pa.Array | pa.ChunkedArray:
    """Return the `pseudonym` of the subject of each row.

    Parameters
    ----------
    subjects : (n,), text, whole numbers, or a dictionary of them, without null and blank text.
    secret, purpose, length : as in `pseudonym`.

    Returns
    -------
    pa.Array or pa.ChunkedArray : (n,) strings, in the same chunks as the subjects.

    Raises
    ------
    RequestError : as for `pseudonym`, with the row, counted from 1.

    Cost: one pseudonym per distinct subject of a chunk.

    Examples
    --------
    >>> import pyarrow as pa
    >>> secret = Secret(bytes(32))
    >>> names = pseudonyms_of(secret, pa.array([7, 8, 7]))
    >>> names[0] == names[2], names[0].as_py() == pseudonym(secret, 7)
    (True, True)
    """
    import pyarrow as pa

    return _map_subjects(_pseudonyms(secret, purpose, length), subjects, pa.string())


def without_subject(subjects: pa.Array) -> pa.BooleanArray:
    """Return which rows have no subject, (n,): null, or blank text.

    >>> import pyarrow as pa
    >>> without_subject(pa.array(["A-17", " ", None])).to_pylist()
    [False, True, True]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    blank = pc.equal(pc.utf8_trim_whitespace(subjects.cast(pa.string())), "")
    return pc.fill_null(blank, True)


@dataclass(frozen=True)
class ShiftedDates:
    """Dates moved with their subject, and a mask of the dates that could not be moved.

    dates : (n,), in the source's type. They are null where the source is null or rejected.
    set_aside : (n,) booleans, True for a date that could not be moved.
    """

    dates: pa.Array
    set_aside: pa.BooleanArray


def shift_dates(
    secret: Secret,
    dates: pa.Array | pa.ChunkedArray,
    subjects: pa.Array | pa.ChunkedArray,
    *,
    days: int = 365,
    step: int = 1,
) -> ShiftedDates:
    """Move every date by the `date_shift` of its subject.

    A day is 24 hours. Timestamps keep their time of day, except for a change of clocks if they have
    a time zone. A date outside the years 2 to 9998, before or after the move, is rejected. A date
    outside the range of its type is also rejected. For instance, 9999-12-31 often means "never",
    and its moved value would reveal the offset. Any other date that everyone knows would reveal the
    offset too, such as 1900-01-01 for "unknown". Replace such dates by null first.

    Parameters
    ----------
    dates : (n,) date32, date64, or timestamps of any unit.
    subjects : (n,), as in `pseudonyms_of`.
    secret, days, step : as in `date_shift`.

    Raises
    ------
    RequestError : types or lengths are wrong, or `date_shift` rejects a subject or an option.

    >>> import pyarrow as pa
    >>> visits = pa.array([date(2013, 5, 1), None, date(2013, 5, 9)])
    >>> moved = shift_dates(Secret(bytes(32)), visits, pa.array(["A-17"] * 3)).dates.to_pylist()
    >>> moved[0] != visits[0].as_py(), moved[1], (moved[2] - moved[0]).days
    (True, None, 8)
    """
    import numpy as np
    import pyarrow as pa

    if len(dates) != len(subjects):
        raise RequestError(
            f"there are {len(dates)} dates for {len(subjects)} subjects",
            instead="give one subject for each date",
        )
    per_day, stored = _clock(dates.type)
    there = dates.is_valid().to_numpy(zero_copy_only=False)
    ticks = dates.cast(stored).fill_null(0).to_numpy().astype(np.int64)

    offsets = _map_subjects(_shifts(secret, days, step), subjects, pa.int64())
    shifts = offsets.to_numpy() * per_day
    low, high = _years_2_to_9998(per_day, stored)
    # Dates before and after the move are within the limits. Masked cells contain 0, not a date.
    moves = (ticks >= low - np.minimum(shifts, 0)) & (ticks <= high - np.maximum(shifts, 0)) & there
    moved = pa.array(np.where(moves, ticks + shifts, 0), mask=~moves)
    return ShiftedDates(moved.cast(stored).cast(dates.type), pa.array(there & ~moves))


def _pseudonyms(secret: Secret, purpose: str, length: int) -> Callable[[list[bytes]], pa.Array]:
    """Return a function that computes pseudonyms of subjects, with a key that is derived once."""
    import numpy as np
    import pyarrow as pa

    if not 12 <= length <= 51:
        raise RequestError(
            f"the pseudonym length is {length} characters", instead="use a length from 12 to 51"
        )
    key = secret.derive("pseudonym", purpose)
    letters = np.frombuffer(_BASE32, np.uint8)

    def name(subjects: list[bytes]) -> pa.Array:
        bits = np.unpackbits(hmac_sha256(key, subjects), axis=1)[:, : 5 * length]
        fives = bits.reshape(-1, length, 5) @ np.array([16, 8, 4, 2, 1], np.uint8)
        return pa.array(letters[fives].view(f"S{length}").ravel()).cast(pa.string())

    return name


def _shifts(secret: Secret, days: int, step: int) -> Callable[[list[bytes]], pa.Array]:
    """Return a function that computes offsets of subjects: multiples of `step`, never 0."""
    import pyarrow as pa

    if not 1 <= days <= 36_500:
        raise RequestError(
            f"the largest date shift is {days} days", instead="use days from 1 to 36500"
        )
    if not 1 <= step <= days:
        raise RequestError(
            f"the largest date shift is {days} days", instead=f"use {step} days or more"
        )
    key, steps = secret.derive("date shift"), days // step

    def shift(subjects: list[bytes]) -> pa.Array:
        below = remainders(hmac_sha256(key, subjects), 2 * steps) - steps
        return pa.array((below + (below >= 0)) * step)

    return shift


def _index(digest: bytes, n: int) -> int:
    """Map 128 bits or more to one of 0..n-1. Each probability is off by less than n / 2^128."""
    return int.from_bytes(digest, "big") % n


def _fold_text(text: str) -> str:
    """Remove differences in letter case and Unicode form, and replace invalid Unicode."""
    valid = text.encode("utf-8", "replace").decode()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", valid).casefold())


def _canonical(subject: Subject) -> str:
    """Return a subject's canonical form; raise RequestError for a subject without one."""
    if subject is None:
        raise RequestError("the subject is missing", instead=_NO_SUBJECT)
    if isinstance(subject, bool) or not (isinstance(subject, str) or hasattr(subject, "__index__")):
        raise RequestError(
            f"the subject is a {type(subject).__name__}",
            instead="convert the subject to text or a whole number",
        )
    if not isinstance(subject, str):
        return str(operator.index(subject))
    if not subject.strip():
        raise RequestError("the subject is blank", instead=_NO_SUBJECT)
    if any("\ud800" <= character <= "\udfff" for character in subject):
        raise RequestError("the subject is not valid Unicode", instead="read the source as UTF-8")
    return unicodedata.normalize("NFC", subject)


def _map_subjects(
    each: Callable[[list[bytes]], pa.Array],
    subjects: pa.Array | pa.ChunkedArray,
    kind: pa.DataType,
) -> pa.Array | pa.ChunkedArray:
    """Return the result of `each` for each row's subject, computed once per distinct subject."""
    import pyarrow as pa

    def one(chunk: pa.Array) -> pa.Array:
        coded = chunk.dictionary_encode()
        return each(canonical_of(coded.dictionary)).take(coded.indices)

    plain = _plain(subjects)
    if isinstance(plain, pa.ChunkedArray):
        return pa.chunked_array([one(chunk) for chunk in plain.chunks], kind)
    return one(plain)


def canonical_of(subjects: pa.Array) -> list[bytes]:
    """Return the canonical form of each subject, like `_canonical`. All subjects must be valid."""
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = subjects.cast(pa.string())
    if pc.all(pc.string_is_ascii(texts)).as_py():
        return utf8_of(texts)
    return [unicodedata.normalize("NFC", text).encode() for text in texts.to_pylist()]


def _plain(subjects: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """Return the subjects as text or integers; raise RequestError for the first row without one."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(subjects.type):
        subjects = subjects.cast(subjects.type.value_type)
    if pa.types.is_string_view(subjects.type):
        subjects = subjects.cast(pa.large_string())
    kind = subjects.type
    is_text = any(test(kind) for test in (pa.types.is_string, pa.types.is_large_string))
    if not (is_text or pa.types.is_integer(kind) or pa.types.is_null(kind)):
        raise RequestError(
            f"the subjects have the type {kind}",
            where="subjects",
            instead="convert the subjects to text or integers",
        )
    _refuse_first(subjects.is_null(), "the subject is missing")
    if is_text:
        _refuse_first(pc.equal(pc.utf8_trim_whitespace(subjects), ""), "the subject is blank")
    return subjects


def _refuse_first(found: pa.Array | pa.ChunkedArray, what: str) -> None:
    import pyarrow.compute as pc

    row = pc.index(found, True).as_py()
    if row >= 0:
        raise RequestError(what, where=f"row {row + 1}", instead=_NO_SUBJECT)


def _clock(kind: pa.DataType) -> tuple[int, pa.DataType]:
    """Return the number of ticks per day of a date type, and the integer type that stores it."""
    import pyarrow as pa

    if pa.types.is_date32(kind):
        return 1, pa.int32()
    if pa.types.is_date64(kind):
        return 86_400_000, pa.int64()
    if pa.types.is_timestamp(kind):
        per_second = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[kind.unit]
        return 86_400 * per_second, pa.int64()
    raise RequestError(
        f"the dates have the type {kind}",
        where="dates",
        instead="convert the column to dates first",
    )


def _years_2_to_9998(per_day: int, stored: pa.DataType) -> tuple[int, int]:
    """Return the first and last tick of the years 2 to 9998 that the type can represent."""
    epoch = date(1970, 1, 1).toordinal()
    low = (date(2, 1, 1).toordinal() - epoch) * per_day
    high = (date(9999, 1, 1).toordinal() - epoch) * per_day - 1
    limit = 2 ** (stored.bit_width - 1)
    return max(low, -limit), min(high, limit - 1)
