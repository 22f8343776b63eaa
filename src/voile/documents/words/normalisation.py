"""Normalise text to its visible form, and map it back to the original.

A copy from a PDF or a web page, or an adversary, may put a zero-width space into a name. A name may
also be in Cyrillic letters or in mathematical bold. Both hide the name from a classifier or a list.
So the classifiers and lists of voile process the normalised text, and return offsets in the
original.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

# Characters with an equivalent that Unicode's compatibility forms (NFKC) do not replace.
_SWAPS = str.maketrans(
    dict.fromkeys("\u2010\u2011\u2012\u2013\u2212", "-")
    | dict.fromkeys("\u2018\u2019\u02bc\u00b4", "'")
    | dict.fromkeys("\x85\u2028\u2029", "\n")
    | {"\u2800": " "}  # Braille's blank
    | dict(zip("ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ", "abcdefghijklmnoprstuvwyz", strict=True))
)
# Letters of other scripts that look like Latin letters: Cyrillic, Armenian, Greek.
_GREEK = "αγηικνορτυχϲϳάίόύΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹΆΈΊΌ"
_LIKE = "асеһіјӏкорԛѕԁԝухүѵгёїАВЕКМНОРСТУХІЈЅԚԜԌҮѴЁЇ" + "օոսհՕՏ" + _GREEK
_LATIN_OF = str.maketrans(
    _LIKE, "acehijlkopqsdwyxyvrëïABEKMHOPCTYXIJSQWGYVËÏonuhOSaynikvoptuxcjáíóúABEZHIKMNOPTYXCÁÉÍÓ"
)
_LIKE_WORD = re.compile(rf"(?<![^\W\d_])[^\W\d_{_LIKE}]*+[{_LIKE}][^\W\d_]*+")
_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f\u1e00-\u1eff]")

# ASCII bytes that stay unchanged: all except the control characters that are not blanks.
_PLAIN = bytes(range(32, 127)) + b"\t\n\v\f\r"
# Invisible characters that Unicode does not classify as format characters.
_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
# Hangul vowels and final consonants join the syllable before them, like combining marks.
_JAMO = re.compile("[\u1161-\u11ff\ud7b0-\ud7fb]")
_POINTS = ("COMBINING", "HEBREW", "ARABIC")
_MARKS = 30  # the most marks on one letter, as in Unicode's Stream-Safe text (UAX 15)
_FEW = 16


@dataclass(frozen=True, slots=True, eq=False)
class NormalisedText:
    """A normalised text of m characters, and the origin of each character."""

    text: str  # m characters
    # (m + 1,) start in the original of the part that each character represents; the last is the
    # original's length. None if every offset is unchanged
    places: NDArray[np.int32] | None = None
    # (m,) end in the original of the part that each character represents; None like `places`
    ends: NDArray[np.int32] | None = None

    def original(self, start: int, end: int) -> tuple[int, int]:
        """Return the smallest slice of the original that covers `text[start:end]`."""
        if self.places is None or self.ends is None:
            return start, end
        first = int(self.places[start])
        return first, int(self.ends[end - 1]) if end > start else first


def normalise(text: str) -> NormalisedText:
    r"""Return the text as a reader sees it, with the origin of each character.

    - Format characters are dropped (Unicode's Cf: zero-width, bidirectional, soft hyphens). So are
      variation selectors, fillers and control characters. Line breaks and tabs stay.
    - Any other blank becomes a space, and any other line separator becomes a line feed.
    - A letter and its combining marks become one letter (NFC). Marks, Hebrew points and Arabic
      points are dropped if they form no Unicode letter. The marks that other scripts need stay.
    - A compatibility character becomes its equivalent (NFKC: full-width, mathematical, circled
      letters, ligatures, º, ²). The equivalent must be one character, all letters or all digits, so
      that no word begins or ends inside it. Digits of any script become ASCII digits. Hyphens and
      en dashes become one character, and so do apostrophes.
    - Cyrillic, Greek and Armenian letters that look Latin become Latin in a word that has a Latin
      letter. They also do in a word of only such letters, if the text is mostly Latin. It then has
      more Latin letters than letters that cannot be Latin. Other words stay: Greek stays Greek, and
      a single Greek letter is a symbol.

    Cost: O(characters). Pure ASCII is only scanned.

    >>> plain = normalise("Dr. Jo\u200bse\u0301 Ｐérez")
    >>> plain.text, plain.original(4, 8)
    ('Dr. José Pérez', (4, 10))
    >>> normalise("Smith").places is None
    True
    """
    odd = _odd(text)
    folds = {one: fold for one in odd if (fold := _fold(one)) != one or _joins(one)}
    places = ends = None
    if folds:
        text = _swap_characters(text, {one: to for one, to in folds.items() if len(to) == 1})
        several = {one for one, to in folds.items() if len(to) != 1 or _joins(one)}
        if several:
            text, places, ends = _refold_clusters(text, several)
    if not odd.union(*folds.values()).isdisjoint(_LIKE) and _LATIN.search(text):
        text = _latin(text, among_latin=_mostly_latin(text))
    return NormalisedText(text, places, ends)


def _odd(text: str) -> set[str]:
    odd = text.encode("utf-8", "surrogatepass").translate(None, _PLAIN)
    return set(odd.decode("utf-8", "surrogatepass"))


@lru_cache(maxsize=1 << 16)
def _fold(cluster: str) -> str:
    if cluster.isspace():
        return "\n" if cluster in "\n\x85\u2028\u2029" else " "
    if len(cluster) == 1 and _is_hidden(cluster):
        return ""
    folded = _compose_cluster("NFKC", cluster)
    if folded == " " or (len(folded) > 1 and not (folded.isalpha() or folded.isdecimal())):
        folded = _compose_cluster("NFC", cluster)
    return folded if len(folded) <= len(cluster) or folded.isalnum() else cluster


def _compose_cluster(form: Literal["NFC", "NFKC"], cluster: str) -> str:
    whole = unicodedata.normalize(form, cluster.translate(_SWAPS)).translate(_SWAPS)
    return "".join(str(unicodedata.decimal(one, one)) for one in whole if not _point(one))


def _is_hidden(one: str) -> bool:
    control = unicodedata.category(one) in ("Cc", "Cf") and not one.isspace()
    return control or _UNSEEN.match(one) is not None


def _point(one: str) -> bool:
    """Return whether a character is a combining mark that is not a letter by itself."""
    return unicodedata.category(one)[0] == "M" and unicodedata.name(one, "").startswith(_POINTS)


@lru_cache(maxsize=1 << 16)
def _joins(one: str) -> bool:
    """Return whether a character may combine with the character before it."""
    mark = unicodedata.category(one)[0] == "M" or _JAMO.match(one) is not None
    return mark and not _is_hidden(one)


def _swap_characters(text: str, swaps: dict[str, str]) -> str:
    if len(swaps) > _FEW:
        return text.translate({ord(one): to for one, to in swaps.items()})
    # for a few characters, one search each is faster than `translate`
    for one, to in swaps.items():
        text = text.replace(one, to)
    return text


def _refold_clusters(
    text: str, several: Iterable[str]
) -> tuple[str, NDArray[np.int32], NDArray[np.int32]]:
    pieces, runs, at = [], [], 0
    for match in _clusters("".join(sorted(several))).finditer(text):
        start, end = match.span()
        pieces.append(text[at:start])
        runs.append((start - at, at, at + 1))
        folded, inside = _fold_cluster(match.group())
        pieces.append(folded)
        runs.extend([(length, start + first, start + last) for length, first, last in inside])
        at = end
    pieces.append(text[at:])
    runs.append((len(text) - at, at, at + 1))
    lengths, starts, ends = np.array(runs, dtype=np.int32).T
    steps = np.arange(lengths.sum(), dtype=np.int32)
    steps -= np.repeat(np.cumsum(lengths, dtype=np.int32) - lengths, lengths)
    places = np.append(np.repeat(starts, lengths) + steps, np.int32(len(text)))
    return "".join(pieces), places, np.repeat(ends, lengths) + steps


@lru_cache(maxsize=1 << 14)
def _fold_cluster(cluster: str) -> tuple[str, list[tuple[int, int, int]]]:
    """Fold a cluster that may contain hidden characters, and return the runs of the result.

    A run is (count, start, end). It maps `count` characters of the result to as many successive
    characters of the cluster. The first of these has the offsets from start to end.
    """
    shown = [(place, one) for place, one in enumerate(cluster) if not _is_hidden(one)]
    kept = "".join(one for _, one in shown)
    folded = _fold(kept) if kept else ""
    if folded == kept:
        return folded, [(1, place, place + 1) for place, _ in shown]
    return folded, [(1, 0, len(cluster))] * len(folded)


@lru_cache(maxsize=512)
def _clusters(several: str) -> re.Pattern[str]:
    """Return a pattern for the clusters that may change their length.

    A cluster is a base with marks, a run of hidden characters, or one character of `several`.
    """
    hidden = "".join(one for one in several if _is_hidden(one))
    marks = "".join(one for one in several if _joins(one))
    parts = [f"[{re.escape(several)}]"]
    if hidden:
        parts.insert(0, f"[{re.escape(hidden)}]++")
    if marks:
        between = f"[{re.escape(hidden)}]*+" if hidden else ""
        parts.insert(
            0, f"[^{re.escape(hidden + marks)}](?:{between}[{re.escape(marks)}]){{1,{_MARKS}}}+"
        )
    return re.compile("|".join(parts))


def as_latin(text: str) -> str:
    """Replace the letters of each word that looks Latin, as in a mostly Latin text."""
    return _latin(text, among_latin=True)


def _latin(text: str, *, among_latin: bool) -> str:
    def seen(match: re.Match[str]) -> str:
        word = match.group()
        latin = word.translate(_LATIN_OF)
        if _LATIN.search(word):
            return latin
        symbol = len(word) == 1 and word in _GREEK
        return latin if among_latin and not symbol and _all_latin(latin) else word

    return _LIKE_WORD.sub(seen, text)


def _all_latin(word: str) -> bool:
    return len(_LATIN.findall(word)) == len(word)


def _mostly_latin(text: str) -> bool:
    """Return whether a text has more Latin letters than letters that do not look Latin."""
    counts = Counter(text)
    latin = sum(n for one, n in counts.items() if _LATIN.match(one))
    other = sum(n for one, n in counts.items() if one.isalpha() and one not in _LIKE)
    return latin > other - latin
