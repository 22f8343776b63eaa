"""Made-up notes, baskets and readings for guides and notebooks. Nobody in them exists."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pyarrow as pa

from voile.demo.names import family_names, given_names

WARDS = ("cardiology", "surgery", "maternity", "neurology")
SENTENCES = (
    "{title} {name} came in with chest pain and was seen by Dr. {doctor}.",
    "Seen today: {name}, who has been short of breath for a week.",
    "Dr. {doctor} spoke with the family of {title} {name} about going home.",
    "The wound of {title} {name} is clean and dry.",
    "{name} was born in {town} and lives there with two children.",
    "Blood pressure is well controlled, no change of treatment.",
    "Please send the result to Dr. {doctor} in {town}.",
    "No fever over night, and the appetite is good.",
    "{drug} was started, and agrees with {name}.",
    "{name} takes {drug} in the morning.",
    "Allergic to {drug}, no other allergies.",
    "Asked for {doctor} at night.",
    "Asked for {drug} at night.",
    "Sent home with {family} in the afternoon.",
    "Sent home with {drug} in the afternoon.",
)
TOWNS = ("Ashford", "Millbrook", "Stonebridge", "Fairhaven", "Oakdale", "Riverton")
ITEMS = {
    "tea": 0.5, "milk": 0.45, "bread": 0.6, "butter": 0.35, "apples": 0.4, "rice": 0.3, "fish": 0.2,
    "beer": 0.25, "wine": 0.2, "nappies": 0.1, "insulin needles": 0.04, "walking stick": 0.03,
}  # fmt: skip
"""The items, each with the share of people who buy it."""
IDENTIFIERS = {"name": "NAME", "family": "NAME", "doctor": "NAME", "town": "TOWN"}


def make_annotated_notes(people: int = 150, seed: int = 1) -> pa.Table:
    """Write a note for each person, with marked names and towns as JSON.

    A word after "asked for" or "sent home with" can be a person or a drug, so that the context does
    not decide.
    """
    rng = np.random.default_rng(seed)
    female = rng.random(people) < 0.5
    given = given_names(rng, female).to_pylist()
    family, doctors, drugs = (family_names(rng, people).to_pylist() for _ in range(3))
    rows = []
    for number in range(people):
        values = {
            "title": "Mrs." if female[number] else "Mr.",
            "name": f"{given[number]} {family[number]}",
            "family": family[number],
            "doctor": doctors[number],
            "drug": drugs[number],
            "town": str(rng.choice(TOWNS)),
        }
        text, spans = _write_note(rng.choice(SENTENCES, 4, replace=False).tolist(), values)
        rows.append(
            {
                "patient": f"P{number:04d}",
                "note": text,
                "spans": json.dumps(spans),
                "ward": str(rng.choice(WARDS)),
                "given_name": given[number],
                "family_name": family[number],
                "doctor": doctors[number],
            }
        )
    return pa.Table.from_pylist(rows)


def _write_note(sentences: list[str], values: dict[str, str]) -> tuple[str, list[dict[str, Any]]]:
    text, spans = "", []
    for sentence in sentences:
        for place, part in enumerate(sentence.split("{")):
            key, _, rest = part.partition("}") if place else ("", "", part)
            if key in IDENTIFIERS:
                end = len(text) + len(values[key])
                spans.append({"start": len(text), "end": end, "label": IDENTIFIERS[key]})
            text += (values[key] if key else "") + rest
        text += " "
    return text.strip(), spans


def make_baskets(people: int = 600, seed: int = 1) -> pa.Table:
    """Return each person's purchases, with a diagnosis that the purchases reveal."""
    rng = np.random.default_rng(seed)
    ill = rng.random(people) < 0.3
    bought = []
    for one in ill:
        chance = dict(ITEMS)
        if one:
            chance |= {"insulin needles": 0.3, "wine": 0.05, "apples": 0.6, "butter": 0.15}
        bought.append([item for item, share in chance.items() if rng.random() < share])
    return pa.table({"items": bought, "diabetes": np.where(ill, "yes", "no").tolist()})


def make_readings(people: int = 600, seed: int = 1) -> pa.Table:
    """Draw a weight and a pulse for each person, which reveal the person's condition."""
    rng = np.random.default_rng(seed)
    failing = rng.random(people) < 0.4
    weight = rng.normal(np.where(failing, 92, 74), 11)
    pulse = rng.normal(np.where(failing, 88, 70), 8)
    return pa.table(
        {
            "patient": [f"P{number:04d}" for number in range(people)],
            "condition": np.where(failing, "heart failure", "healthy").tolist(),
            "weight": np.round(weight, 1),
            "pulse": np.round(pulse),
        }
    )
