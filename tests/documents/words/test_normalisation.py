"""Normalised text reads as the original does, and every slice finds its way back."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from voile.documents.words.normalisation import as_latin, normalise

HIDDEN = "\u200b\u200d\u00ad\ufeff\u202e\ufe0f\x00\x7f\u3164\u034f"
ALPHABET = (
    "aeéºªﬁﬄ½²①ＡＢ𝐉𝓪 \u00a0\n\u2028\t\r-–’´¨…०٣3가"
    "\u0301\u0335\u0327\u05b7\u0915\u093f\u094d\u1100\u1161\u11a8"
)
texts = st.text(st.sampled_from(ALPHABET + HIDDEN), max_size=60)


def hidden(one):
    category = unicodedata.category(one)
    return not one.isspace() and (category in ("Cc", "Cf") or one in "\ufe0f\u3164\u034f")


def joins(one):
    jamo = "\u1161" <= one <= "\u11ff"
    return not hidden(one) and (unicodedata.category(one) in ("Mn", "Mc", "Me") or jamo)


def fold(cluster):
    """Fold by the rules of the docstring, one form after the other."""
    if cluster.isspace():
        return "\n" if cluster in "\n\u2028" else " "
    cluster = cluster.replace("–", "-").replace("’", "'").replace("´", "'")

    def form(name):
        letters = [
            one
            for one in unicodedata.normalize(name, cluster)
            if not (
                unicodedata.combining(one)
                and unicodedata.name(one).split()[0] in ("COMBINING", "HEBREW")
            )
        ]
        return "".join(str(unicodedata.digit(one)) if one.isdecimal() else one for one in letters)

    compatible = form("NFKC")
    if compatible != " " and len(compatible) <= 1:
        return compatible
    return compatible if compatible.isalpha() or compatible.isdecimal() else form("NFC")


def naive(text):
    """Normalise character by character: the characters, each with its (start, end)."""
    clusters = []  # of [(place, character as it is folded alone)]
    for place, one in enumerate(text):
        if hidden(one):
            continue
        alone = fold(one)
        if joins(one):
            open_one = clusters and not joins(clusters[-1][0][1]) and len(clusters[-1]) <= 30
            if open_one:
                clusters[-1].append((place, one))
            else:
                clusters.append([(place, one)])
        else:
            clusters.append([(place, alone if len(alone) == 1 and one not in "\n\t\r" else one)])
    out = []
    for cluster in clusters:
        whole = "".join(one for _, one in cluster)
        folded = whole if whole in "\t\r" else fold(whole)
        if folded == whole:
            out.extend((one, place, place + 1) for place, one in cluster)
        else:
            out.extend((one, cluster[0][0], cluster[-1][0] + 1) for one in folded)
    return out


@given(texts)
@example("e" + "\u0335" * 31 + "\u0301")
@example("\u0301\u0301a")
@example("\u200b")
@example("ﬁ\u0301\u200bx\u00a0\u0301")
def test_equals_its_naive_twin(text):
    plain = normalise(text)
    twin = naive(text)
    assert plain.text == "".join(one for one, _, _ in twin)
    for start in range(len(twin)):
        for end in range(start + 1, len(twin) + 1):
            smallest = twin[start][1], max(last for _, _, last in twin[start:end])
            assert plain.original(start, end) == smallest
    if plain.places is not None:
        assert len(plain.places) == len(plain.text) + 1
        assert plain.places[-1] == len(text)


@given(texts)
def test_once_is_enough(text):
    once = normalise(text).text
    assert normalise(once).text == once


@given(st.text())
def test_any_text_keeps_its_order_and_its_bounds(text):
    plain = normalise(text)
    slices = [plain.original(at, at + 1) for at in range(len(plain.text))]
    assert all(0 <= start < end <= len(text) for start, end in slices)
    assert slices == sorted(slices)
    assert [end for _, end in slices] == sorted(end for _, end in slices)


@given(st.text(st.characters(max_codepoint=126, min_codepoint=32)))
def test_ascii_stays(text):
    plain = normalise(text)
    assert (plain.text, plain.places) == (text, None)


@given(st.lists(st.sampled_from(HIDDEN), min_size=1, max_size=4).map("".join), st.integers(1, 7))
def test_hidden_characters_hide_no_name(inside, at):
    name = "Ana Lima"
    text = f"Dr. {inside}{name[:at]}{inside}{name[at:]}{inside} is in"
    plain = normalise(text)
    assert plain.text == "Dr. Ana Lima is in"
    start, end = plain.original(4, 12)
    assert text[start:end] == name[:at] + inside + name[at:]


# Letters of the alphabets, presentation forms and mathematical ones; not the ideographs.
ONES = [*map(chr, (*range(0x3400), *range(0xF900, 0x10000), *range(0x1D400, 0x1FC00)))]


def test_no_character_becomes_several_that_a_word_could_end_in():
    for one in ONES:
        folded = normalise(one).text
        assert len(folded) <= 1 or folded.isalpha() or folded.isdecimal()


def test_every_character_is_folded_for_good():
    every = [one for one in ONES if not joins(one)]
    once = normalise("\n".join(every)).text
    assert normalise(once).text == once
    assert once.count("\n") >= len(every) - 1


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("𝐉𝐨𝐡𝐧 𝒮𝓂𝒾𝓉𝒽 Ⓙ ＳＭＩＴＨ ᴊᴏʜɴ", "John Smith J SMITH john"),
        ("J\u0335o\u0335h\u0335n\u0335", "John"),
        ("5º Mª m² ﬁn 10\u2011A O’Neil x\u2003y", "5o Ma m2 fin 10-A O'Neil x y"),
        ("½ … ℃ ﷺ ¨", "½ … ℃ ﷺ ¨"),  # what is not a word of letters or digits stays
        ("١٢٣ ०१", "123 01"),
        ("a\u2028b\u0085c\r\nd\te", "a\nb\nc\r\nd\te"),
        ("क्षि", "क्षि"),
        ("שָׁלוֹם", "שלום"),
        ("각", "각"),
    ],
)
def test_worked_examples(text, seen):
    assert normalise(text).text == seen


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("Dr. Jоhn Smіth", "Dr. John Smith"),  # Cyrillic о, і
        ("saw Сосо, А. Сосо and ΝΙΝΑ", "saw Coco, A. Coco and NINA"),
        ("Иван Петров видел рака Сосо", "Иван Петров видел рака Сосо"),
        ("пациент рак, Mаx", "пациент рак, Max"),
        ("the α and β of TNFα, 5 µg", "the α and β of TNFa, 5 μg"),
        ("η νόσος του Νίκο", "η νόσος του Νίκο"),
        ("Ѕ𝐦ith", "Smith"),
        ("Сосо", "Сосо"),  # nothing says that it is Latin
    ],
)
def test_look_alikes(text, seen):
    assert normalise(text).text == seen


def test_as_latin_takes_the_rest_for_latin():
    assert as_latin("Сосо Иван α Нina") == "Coco Иван α Hina"


def test_lone_surrogates_and_emptiness_pass():
    assert normalise("").text == ""
    assert normalise("a\ud800\u200bb").original(1, 3) == (1, 4)
    assert normalise("\u200b").original(0, 0) == (1, 1)
