"""Notes of a small hospital that nobody has marked, and the tables beside them."""

from __future__ import annotations

import csv
import random

GIVEN = ("Ana", "Boris", "Clara", "Dmitri", "Elena", "Farid", "Greta", "Hugo", "Ines", "Jonas")
FAMILY = ("Abbate", "Brandt", "Castellan", "Drummond", "Eriksen", "Farrow", "Gallo", "Hartwell")
STAFF = ("Marta Quellen", "Niels Rastrup", "Omar Suleyman", "Priya Thakkar", "Quentin Ulbrich")
WAYS = (
    "{name} came on {day} with a cough . Seen by Dr. {doctor} . Record {mrn} .",
    "Phone call from {family} on {day} , number {phone} . The chest was clear , no fever .",
    "The patient {given} sleeps well . {doctor} will see her in May .",
    "Summer was hard for {name} ; in the summer the cough came back . Signed , Dr. {doctor}",
)


def patients(number=40, seed=0):
    """Return rows of a table of patients, each called differently."""
    rng = random.Random(seed)
    names = [f"{given} {family}" for given in GIVEN for family in FAMILY]
    rng.shuffle(names)
    return [
        {
            "patient_id": f"p{n}",
            "name": name,
            "born": f"19{rng.randint(40, 99)}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}",
            "phone": f"555-{rng.randint(200, 999)}-{rng.randint(1000, 9999)}",
            "mrn": f"MR{rng.randint(100000, 999999)}",
        }
        for n, name in enumerate(names[:number])
    ]


def notes(people, each=3, seed=1):
    """Return rows of notes of these patients."""
    rng = random.Random(seed)
    rows = []
    for person in people:
        given, family = person["name"].split()
        for number in range(each):
            text = WAYS[(number + int(person["patient_id"][1:])) % len(WAYS)].format(
                name=person["name"],
                given=given,
                family=family,
                doctor=rng.choice(STAFF).split()[1],
                day=f"{rng.randint(1, 28)}/{rng.randint(1, 12)}/2021",
                phone=person["phone"],
                mrn=person["mrn"],
            )
            rows.append({"patient_id": person["patient_id"], "note": text})
    return rows


def write_table(path, rows):
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, list(rows[0]))
        table.writeheader()
        table.writerows(rows)
    return path


def hospital(folder, number=40, each=3):
    """Write notes.csv, patients.csv and staff.csv; return where they lie."""
    people = patients(number)
    staff = [{"doctor": name} for name in STAFF]
    return (
        write_table(folder / "notes.csv", notes(people, each)),
        write_table(folder / "patients.csv", people),
        write_table(folder / "staff.csv", staff),
    )
