"""A small source of two text columns, kits fitted to it once, and releases that are read back."""

from __future__ import annotations

import json
from functools import cache
from itertools import product

import numpy as np
import pyarrow as pa

from voile.core.progress import silent
from voile.data import open_source
from voile.data.roles import Roles
from voile.documents.fitting.fit import fit
from voile.documents.model.content import DocumentsContent
from voile.documents.module import DOCUMENTS
from voile.documents.options import ApplyOptions, FitOptions
from voile.documents.replacements.removal import RemovalReason
from voile.documents.verbs.choose import choose
from voile.documents.verbs.removals import REMOVALS
from voile.release.choice import Choice
from voile.release.manifest import ROW, ROWS

GIVEN = ("Ana", "Eva", "Leo", "Max", "Ida", "Tom", "Pia", "Jan", "Lea", "Ben", "Mia", "Kai")
FAMILY = ("Ruiz", "Sanz", "Vega", "Gil", "Mora", "Rey")
WAYS = (
    "Patient {} came on foot with May , and was well .",
    "We saw {} again , and the chest was clear in May .",
    "The file of Dr. {} says no fever , no cough .",
)
COLUMNS = {
    "person": "identifier",
    "note": {"role": "text", "spans": "spans"},
    "letter": {"role": "text", "spans": "letter spans"},
    "spans": "label",
    "letter spans": "label",
    "ward": "keep",
}
ROLES = Roles.model_validate({"subject": "person", "columns": COLUMNS})
NAMELESS = Roles.model_validate({"columns": {**COLUMNS, "person": "drop"}})
"""The same columns where nothing says whose a row is."""
QUICK = {"learners": ["svm"], "miss_cost": [2, 20], "cross_fit": 4, "jobs": 1, "least_left": 50}
PEOPLE, SHIPS = (
    [
        f"{a} {b}"
        for (i, a), (j, b) in product(enumerate(GIVEN), enumerate(FAMILY))
        if (i + j) % 2 == n
    ]
    for n in (0, 1)
)
"""36 names of each, of the same words."""
PHONE = "555-123-4567"
NOTES = (
    f"Patient {{Ana Ruiz|NAME}} came on foot with May , and was well . ANA called {PHONE} .",
    "The file of Dr. {Eva Mora|NAME} says no fever , no cough . Room 12 , MRN-123456 .",
    "We saw {Ana Vega|NAME} again , and the chest was clear in May . Ward Vega , tea room .",
    "Nothing new since then .",
    "",
    None,
)
"""Texts with something for each finder, and with nothing."""


def marked_up(text):
    """Return a text and its spans; an identifier is written ``{Ana Ruiz|NAME}``."""
    plain, spans = "", []
    for place, part in enumerate(text.replace("}", "{").split("{")):
        words, _, label = part.partition("|") if place % 2 else (part, "", "")
        if label:
            spans.append({"start": len(plain), "end": len(plain) + len(words), "label": label})
        plain += words
    return plain, json.dumps(spans)


def table(notes, letters=None, persons=None, ward="north"):
    """Return a source's rows of marked-up notes and letters; None is a null."""
    letters = letters or ["Nothing new since then ."] * len(notes)
    cells = [
        [marked_up(one) if one is not None else (None, None) for one in texts]
        for texts in (notes, letters)
    ]
    (note, spans), (letter, letter_spans) = (zip(*column, strict=True) for column in cells)
    return pa.table(
        {
            "person": pa.array(persons or [f"p{n}" for n in range(len(notes))], pa.string()),
            "note": pa.array(note, pa.string()),
            "letter": pa.array(letter, pa.string()),
            "spans": pa.array(spans, pa.string()),
            "letter spans": pa.array(letter_spans, pa.string()),
            "ward": pa.array([ward] * len(notes)),
        }
    )


def people(each=2, start=0):
    """Return notes and letters about the 36, `each` of each.

    What was seen in May is a person in one letter of four, else a ship that is called like one:
    to remove it is worth it at a high cost alone.
    """
    who = [name for name in PEOPLE for _ in range(each)]
    notes = [
        WAYS[(n + start) % 3].format(f"{{{name}|NAME}}") + f" Room {n % 90 + 10} ."
        for n, name in enumerate(who)
    ]
    rng = np.random.default_rng(start)
    seen = [f"{{{name}|NAME}}" if rng.random() < 0.25 else rng.choice(SHIPS) for name in who]
    letters = [f"Dear all , we saw {name} in May . Page {start} ." for name in seen]
    return table(notes, letters, [f"person {name}" for name in who])


@cache
def kit_of(**options):
    """Return a kit of `people()`."""
    return fitted(people(), **options)


def fitted(rows, roles=ROLES, seed=1, progress=silent, **options):
    asked = FitOptions.model_validate({**QUICK, **options})
    return fit(open_source(rows), roles, asked, seed=seed, progress=progress)


def by_cost(cost, passes=1):
    """Choose the policy of one cost."""
    kit = kit_of()
    policies = [DocumentsContent.of(kit).policy(n) for n in range(kit.facts["policies"])]
    number = next(n for n, p in enumerate(policies) if (p.miss_cost, p.passes) == (cost, passes))
    return choose(kit, Choice(policy=number))


def applied(rows, out, *, kit=None, chosen=None, force=False, **options):
    """Apply the policy of the least risk, unless another is given, in the order of the source."""
    kit = kit or kit_of()
    return DOCUMENTS.apply(
        kit,
        chosen or choose(kit, Choice(policy=0)),
        open_source(rows),
        out,
        ApplyOptions.model_validate({"keep_order": True, "patterns": ["none"], **options}),
        force=force,
        progress=silent,
    )


def read(path, columns=None):
    """Return a written table as a list of rows."""
    source = open_source(path)
    return pa.Table.from_batches(source.batches(columns), source.schema(columns)).to_pylist()


def removals(release):
    """Return who removed what, as the private folder says."""
    rows = read(release.folder / REMOVALS)
    return [{**row, "by": tuple(RemovalReason(**by) for by in row["by"])} for row in rows]


def numbers(release):
    """Return which row of the source each released row is."""
    return [row[ROW] for row in read(release.folder / ROWS)]
