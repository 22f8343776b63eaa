"""Text as a reader sees it: hidden characters and look-alikes undone, with the way back.

A copy from a PDF or a web page, or an adversary, may put a zero-width space into a name. A name may
also be in Cyrillic letters or in mathematical bold. Both hide it from a classifier or a list. So
voile's classifiers and lists look at the normalised text, and answer in places of the original.
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

# What stands for something else though Unicode's compatibility forms (NFKC) leave it alone.
_SWAPS = str.maketrans(
    dict.fromkeys("\u2010\u2011\u2012\u2013\u2212", "-")
    | dict.fromkeys("\u2018\u2019\u02bc\u00b4", "'")
    | dict.fromkeys("\x85\u2028\u2029", "\n")
    | {"\u2800": " "}  # Braille's blank
    | dict(zip("ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ", "abcdefghijklmnoprstuvwyz", strict=True))
)
# Letters of other scripts that look like Latin ones: Cyrillic, Armenian, Greek.
_GREEK = "αγηικνορτυχϲϳάίόύΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹΆΈΊΌ"
_LIKE = "асеһіјӏкорԛѕԁԝухүѵгёїАВЕКМНОРСТУХІЈЅԚԜԌҮѴЁЇ" + "օոսհՕՏ" + _GREEK
_LATIN_OF = str.maketrans(
    _LIKE, "acehijlkopqsdwyxyvrëïABEKMHOPCTYXIJSQWGYVËÏonuhOSaynikvoptuxcjáíóúABEZHIKMNOPTYXCÁÉÍÓ"
)
_LIKE_WORD = re.compile(rf"(?<![^\W\d_])[^\W\d_{_LIKE}]*+[{_LIKE}][^\W\d_]*+")
_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f\u1e00-\u1eff]")

# Bytes of ASCII that stay as they are: all but the controls that are not blanks.
_PLAIN = bytes(range(32, 127)) + b"\t\n\v\f\r"
# Invisible, though Unicode does not call them format characters.
_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
# Hangul's vowels and finals join the syllable before them, as a combining mark does.
_JAMO = re.compile("[\u1161-\u11ff\ud7b0-\ud7fb]")
_POINTS = ("COMBINING", "HEBREW", "ARABIC")
_MARKS = 30  # that join one letter, as in Unicode's Stream-Safe text (UAX 15)
_FEW = 16


@dataclass(frozen=True, slots=True, eq=False)
class NormalisedText:
    """A text to look at, and where each of its m characters comes from."""

    text: str  # m characters
    # (m + 1,) where what each character stands for starts in the original; the last is the
    # original's length. None: each character stands where it stood
    places: NDArray[np.int32] | None = None
    # (m,) where what each character stands for ends; None as `places`
    ends: NDArray[np.int32] | None = None

    def original(self, start: int, end: int) -> tuple[int, int]:
        """Return the smallest slice of the original that covers `text[start:end]`."""
        if self.places is None or self.ends is None:
            return start, end
        first = int(self.places[start])
        return first, int(self.ends[end - 1]) if end > start else first


def normalise(text: str) -> NormalisedText:
    r"""Return the text as a reader sees it, and where each character comes from.

    - Format characters are dropped (Unicode's Cf: zero-width, bidirectional, soft hyphens). So are
      variation selectors, fillers and control characters. Line breaks and tabs stay.
    - Any other blank is a space, any other line separator a line feed.
    - A letter and its combining marks are one letter (NFC). Marks, Hebrew and Arabic points that
      make no letter of Unicode's are dropped. Marks that other scripts write with stay.
    - A character that means others becomes these (NFKC: full-width, mathematical, circled letters,
      ligatures, º, ²). They must be one character, all letters or all digits, so that no word
      begins or ends inside it. Digits of any script are ASCII's. Hyphens, en dashes and apostrophes
      are one each.
    - Cyrillic, Greek and Armenian letters that look Latin become Latin in a word that has a Latin
      letter. In a text with more Latin letters than others that cannot be Latin, they also do in a
      word that wholly looks Latin. Other words stay: Greek stays Greek, and one Greek letter is a
      symbol.

    Cost: O(characters). ASCII is only looked at.

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
    """Return whether a character is a mark that is not a letter by itself."""
    return unicodedata.category(one)[0] == "M" and unicodedata.name(one, "").startswith(_POINTS)


@lru_cache(maxsize=1 << 16)
def _joins(one: str) -> bool:
    """Return whether a character may become one with that before it."""
    mark = unicodedata.category(one)[0] == "M" or _JAMO.match(one) is not None
    return mark and not _is_hidden(one)


def _swap_characters(text: str, swaps: dict[str, str]) -> str:
    if len(swaps) > _FEW:
        return text.translate({ord(one): to for one, to in swaps.items()})
    for one, to in swaps.items():  # a search each: for a few, faster than to translate
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
    """Fold a cluster that may have hidden characters, and return the runs of the result.

    A run is (count, start, end). So many characters come from as many neighbours in the cluster.
    The first of these neighbours has the places from start to end.
    """
    shown = [(place, one) for place, one in enumerate(cluster) if not _is_hidden(one)]
    kept = "".join(one for _, one in shown)
    folded = _fold(kept) if kept else ""
    if folded == kept:
        return folded, [(1, place, place + 1) for place, _ in shown]
    return folded, [(1, 0, len(cluster))] * len(folded)


@lru_cache(maxsize=512)
def _clusters(several: str) -> re.Pattern[str]:
    """Find what becomes more or less than one character: a base with marks, or one alone."""
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
    """Make Latin of each word that looks so, as if the rest of the text were Latin."""
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
