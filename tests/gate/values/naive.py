"""The value search in plain loops over sets: what `search_values` is held to."""

from __future__ import annotations

import base64
import binascii
import re
import unicodedata
from collections import Counter, defaultdict
from datetime import date, timedelta
from itertools import product
from math import floor, prod, sqrt
from typing import NamedTuple
from urllib.parse import unquote_plus

from scipy.stats import norm, poisson

MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
FULL = ["january", "february", "march", "april", "may", "june", "july", "august", "september",
        "october", "november", "december"]  # fmt: skip
SPELLED = {"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa", "æ": "ae"}


class Key(NamedTuple):
    text: str
    form: str
    tokens: int
    rare: bool = False


class Seen(NamedTuple):
    text: str
    glued: bool
    tokens: int
    encoding: str
    is_cell: bool


def fold(text):
    said = ""
    for one in unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold()):
        kind = unicodedata.category(one)
        if kind in ("Mn", "Me", "Cf"):
            continue
        if kind == "Nd":
            said += str(unicodedata.digit(one))
        else:
            said += one if kind[0] in "LN" or kind == "Mc" else " "
    return said


def split(text):
    return re.findall(r"[0-9]+|[^0-9\s]+", fold(text))


def serials(tokens, hidden):
    """Return the days of a spreadsheet that numbers may be."""
    for one, hides in zip(tokens, hidden, strict=True):
        if one.isdecimal() and len(one) in (4, 5) and not hides and 61 <= int(one) <= 73050:
            yield f"#{date(1899, 12, 30) + timedelta(int(one)):%Y%m%d}"


def days(tokens, hidden):
    for n, one in enumerate(tokens):
        if hidden[n]:
            continue
        if one.isdecimal() and len(one) == 8:
            yield from (_day(one[:4], one[4:6], one[6:]), _day(one[4:], one[2:4], one[:2]),
                        _day(one[4:], one[:2], one[2:4]))  # fmt: skip
            continue
        rest, own = n + 1, [one]
        while len(own) < 3 and rest < len(tokens):
            if tokens[rest] in ("st", "nd", "rd", "th", "of", "de", "del"):
                rest += 1
                if rest == len(tokens):
                    break
            own.append(tokens[rest])
            rest += 1
        if len(own) == 3 and not hidden[rest - 1]:
            yield from _days_of(*own)


def _days_of(a, b, c):
    if len(a) == 4 and a.isdecimal():
        yield _day(a, b, c)
        return
    years = [c] if len(c) == 4 else [f"19{c}", f"20{c}"] if len(c) == 2 else []
    for year in years:
        if a.isdecimal() or _month(a):
            yield from (_day(year, a, b), _day(year, b, a))


def _month(word):
    return next((n for n, own in enumerate(zip(MONTHS, FULL, strict=True), 1) if word in own), None)


def _day(year, month, day):
    month = _month(month) or month
    try:
        found = (int(year), int(month), int(day))
        date(2000, found[1], found[2])
    except (ValueError, OverflowError):
        return None
    return "#{:04}{:02}{:02}".format(*found) if 1800 <= found[0] < 2200 else None


def value_keys(value):
    """Return the keys of one value."""
    spellings = [value]
    if re.search("[äöüøåæÄÖÜØÅÆ]|[aou]\u0308", value):
        folded = unicodedata.normalize("NFC", value).casefold()
        spellings.append("".join(SPELLED.get(one, one) for one in folded))
    if re.search("[aou]e", value, re.I | re.A):
        spellings.append(re.sub("([aou])e", r"\1", value, flags=re.I | re.A))
    dates = {x for one in spellings for x in days(split(one), [False] * len(one)) if x}
    found = {Key(one, "date", 3) for one in dates}
    for spelling in spellings:
        found |= _keys_of(split(spelling), has_date=bool(dates))
    return found


def is_long(tokens):
    """Say whether tokens are three bytes, or a number of two digits."""
    size = len("".join(tokens).encode())
    return size >= 3 or (size == 2 and len(tokens) == 1 and tokens[0].isdecimal())


def _keys_of(tokens, has_date):
    n, whole, found = len(tokens), "".join(tokens), set()

    def add(text, form, count):
        code = len(text.encode()) >= 5 and (count > 1 or any(x in "0123456789" for x in text))
        found.add(Key(text, form, count, code and form != "part" and not has_date))

    if n > 6:
        for start in [*range(0, n - 6, 6), n - 6]:
            add("".join(tokens[start : start + 6]), "passage", 6)
        return found
    if is_long(tokens):
        add(whole, "whole", n)
    for one in tokens:
        if n > 1 and not one.isdecimal() and len(one.encode()) >= 3:
            add(one, "part", 1)
    for run in re.findall(r"[0-9 ]+", " ".join(tokens)):
        count, digits = len(run.split()), run.replace(" ", "")
        if 0 < count < n and len(digits) >= 5:
            add(digits, "digits", count)
        if digits.startswith("0") and len(digits.lstrip("0")) >= 5:
            add(digits.lstrip("0"), "digits", count)
    return found


def text_keys(text, labels):
    """Return every key of one cell."""
    for encoding, said in [("", text), *_decoded(text)]:
        tokens = split(said)
        hidden = [False] * len(tokens)
        for a, b in product(range(len(tokens)), range(2, 7)):
            if "".join(tokens[a : a + b]) in labels and a + b <= len(tokens):
                hidden[a : a + b] = [True] * b
        for a, b in product(range(len(tokens)), range(1, 7)):
            key = "".join(tokens[a : a + b])
            stands = a + b <= len(tokens) and not hidden[a] and not hidden[a + b - 1]
            if stands and is_long(tokens[a : a + b]):
                yield Seen(key, False, b, encoding, b == len(tokens))
        for one, hides in zip(tokens, hidden, strict=True):
            if hides:
                continue
            if one.startswith("0") and len(one.lstrip("0")) >= 5:
                yield Seen(one.lstrip("0"), False, 1, encoding, False)
            if not one.isdecimal():
                pieces = {one[a:b] for a in range(len(one)) for b in range(a + 5, len(one) + 1)}
                yield from (Seen(x, True, 1, encoding, False) for x in pieces - {one})
        dates = {*days(tokens, hidden), *serials(tokens, hidden)} - {None}
        yield from (Seen(x, False, 3, encoding, False) for x in dates)


def _decoded(text):
    runs = [("base64", x) for x in re.findall("[A-Za-z0-9]{6,}", text)]
    for letters in (r"[A-Za-z0-9+/]{6,}", r"[A-Za-z0-9_-]{6,}"):
        runs += [("base64", x) for x in re.findall(letters, text) if re.search("[^A-Za-z0-9]", x)]
    runs += [("hex", x) for x in re.findall("[A-Fa-f0-9]{6,}", text) if len(x) % 2 == 0]
    for encoding, run in runs:
        try:
            if encoding == "hex":
                said = bytes.fromhex(run).decode()
            else:
                plain = run.replace("-", "+").replace("_", "/")
                said = base64.b64decode(plain + "=" * (-len(plain) % 4)).decode()
        except (ValueError, binascii.Error):
            continue
        if not re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]", said):
            yield encoding, said
    for run in re.findall(r"[^\s\"'<>]*%[0-9A-Fa-f]{2}[^\s\"'<>]*", text):
        yield "url", unquote_plus(run, errors="replace")


def search(values, texts, *, generalised=(), labels=(), chance=0.01, holders=5, share=0.05, rare=5):
    """Return the people with own values, the number expected, and of rare values both as well."""
    quoted = {"".join(split(one)) for one in labels}
    seen, sizes = defaultdict(set), defaultdict(Counter)
    for person, part, column, text in texts:
        sizes[part, column][person] += len(text.encode())
        for one in text_keys(text, quoted):
            seen[person, (part, column)].add(one)
    readers = {person for person, *_ in texts}
    held, decoys = defaultdict(set), defaultdict(set)
    for person, part, column, value in values:
        for one in value_keys(value):
            held[one.text].add((person, (part, column), one))
            if one.rare:
                decoys[one.text[0] + one.text[:0:-1]].add((person, (part, column)))
    for key, own in held.items():
        held[key] = {
            (person, place, one)
            for person, place, one in own
            if place not in generalised
            or not any(x.is_cell and x.text == key for x in seen.get((person, place), ()))
        }
    stands = defaultdict(set)
    for (person, place), own in seen.items():
        for one in own:
            mine = {x for _, x, _ in held.get(one.text, ())} | {x for _, x in decoys[one.text]}
            if not (place in generalised and place in mine):
                stands[one.text, one.glued].add((person, place, one))
    people = readers | {person for person, *_ in values}
    most = max(holders, int(share * len(people)))
    found, elsewhere, chances = set(), set(), defaultdict(list)
    common = defaultdict(lambda: (set(), []))
    for (key, glued), own in stands.items():
        whose = {person for person, *_ in held[key]}
        others = max(len(readers - whose), 1)
        strangers = {person for person, *_ in own} - whose
        if not whose or len(whose) > most:
            continue
        if len(strangers) <= floor(chance * others) + 1:
            for person in whose & readers:
                chances[person].append(len(strangers) / others)
        if len(strangers) > floor(chance * others):
            if not glued:
                add_common(common, held[key], own, sizes, others)
            continue
        found |= {person for person, *_ in own} & whose
        if len(whose) <= rare and not glued and strangers:
            elsewhere |= {person for person, _, one in held[key] if one.rare}
    tests = sum(bool(hits) for hits, _ in common.values())
    for hits, shares in common.values():
        missed = defaultdict(lambda: 1.0)
        for person, share, _ in shares:
            missed[person] *= 1 - share
        expected, level = sum(1 - x for x in missed.values()), 1 - 0.01 / max(tests, 1)
        deviation = sqrt(sum(more for *_, more in shares))
        if len(hits) > max(poisson.ppf(level, expected), expected + norm.ppf(level) * deviation):
            found |= hits
            for person, share, _ in shares:
                chances[person].append(share)
    lured = set()
    for key, own in decoys.items():
        readers_of = {person for person, *_ in stands.get((key, False), ())}
        if len({who for who, _ in own}) <= rare and len(readers_of) <= floor(chance * len(readers)):
            lured |= {who for who, _ in own if readers_of - {who}}
    expected = sum(1 - prod(1 - min(p, 1 - 1e-12) for p in own) for own in chances.values())
    return found, expected, elsewhere, lured


def add_common(common, held, own, sizes, others):
    """Add a key's people with it in running text, and each reader's chance, by pair of columns.

    The chance grows with the bytes of the reader's cells.
    """
    texts, places, whose = defaultdict(set), defaultdict(set), {person for person, *_ in held}
    for person, seen_place, one in own:
        if not one.is_cell:
            texts[seen_place].add(person)
    for person, place, _ in held:
        places[place].add(person)
    for place, holders in places.items():
        for seen_place, people in texts.items():
            hits, shares = common[place, seen_place]
            hits |= holders & people
            share, size = min(len(people - whose) / others, 1 - 1e-12), sizes[seen_place]
            if not share:
                continue
            mean = max(size.total() - sum(size[x] for x in whose), 1) / others
            shares += [(x, 1 - (1 - share) ** (size[x] / mean), 0) for x in holders if x in size]
            times = sum(size[x] / mean for x in holders)
            shares += [(None, 0, times**2 * share / others)]
