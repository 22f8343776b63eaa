"""Made-up notes, baskets and readings for the notebooks; nobody in them exists."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd

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
DISHES = {
    "tea": 0.5, "milk": 0.45, "bread": 0.6, "butter": 0.35, "apples": 0.4, "rice": 0.3, "fish": 0.2,
    "beer": 0.25, "wine": 0.2, "nappies": 0.1, "insulin needles": 0.04, "walking stick": 0.03,
}  # fmt: skip
"""What people buy, and how many of them."""


def notes(people: int = 150, seed: int = 1) -> pd.DataFrame:
    """Return a note of each person, with the names and towns in it marked, as JSON.

    What one asks for at night, or is sent home with, is a person or a drug: nothing tells which.
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
            "drug": drugs[number],  # a word like a family name, which need not go
            "town": str(rng.choice(TOWNS)),
        }
        text, spans = "", []
        for sentence in rng.choice(SENTENCES, 4, replace=False):
            for place, part in enumerate(sentence.split("{")):
                key, _, rest = part.partition("}") if place else ("", "", part)
                if key in ("name", "family", "doctor", "town"):
                    label = "TOWN" if key == "town" else "NAME"
                    end = len(text) + len(values[key])
                    spans.append({"start": len(text), "end": end, "label": label})
                text += (values[key] if key else "") + rest
            text += " "
        rows.append((f"P{number:04d}", text.strip(), json.dumps(spans), rng.choice(WARDS)))
    return pd.DataFrame(rows, columns=["patient", "note", "spans", "ward"])


def baskets(people: int = 600, seed: int = 1) -> pd.DataFrame:
    """Return what each person bought, as a list, and whether the person has diabetes."""
    rng = np.random.default_rng(seed)
    ill = rng.random(people) < 0.3
    bought = []
    for one in ill:
        chance = dict(DISHES)
        if one:
            chance |= {"insulin needles": 0.3, "wine": 0.05, "apples": 0.6, "butter": 0.15}
        bought.append([item for item, share in chance.items() if rng.random() < share])
    return pd.DataFrame({"items": bought, "diabetes": np.where(ill, "yes", "no")})


def readings(people: int = 600, seed: int = 1) -> pd.DataFrame:
    """Return one reading of weight and pulse of each person, whose condition they betray."""
    rng = np.random.default_rng(seed)
    failing = rng.random(people) < 0.4
    weight = rng.normal(np.where(failing, 92, 74), 11)
    pulse = rng.normal(np.where(failing, 88, 70), 8)
    return pd.DataFrame(
        {
            "patient": [f"P{number:04d}" for number in range(people)],
            "condition": np.where(failing, "heart failure", "healthy"),
            "weight": np.round(weight, 1),
            "pulse": np.round(pulse),
        }
    )
