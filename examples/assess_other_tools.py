"""Assess what other tools released: assess_other_tools.py.

The files lie in other_tools/, and make_other_tools.py made them: ANJANA, anonypy and Presidio were
run on people who do not exist. ARX (Java) and sdcMicro (R) were not: their files are in the form
that their documentation shows, and are labelled so.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import voile.documents as vd
import voile.tables as vt
from voile.face.assessment import Assessment

FOLDER = Path(__file__).parent / "other_tools"
ROLES = {"age": "quasi", "sex": "quasi", "zip": "quasi", "diagnosis": "sensitive"}
TABLES: dict[str, tuple[str, dict[str, Any]]] = {
    "form of ARX": ("arx_form", {}),
    "form of sdcMicro": ("sdcmicro_form", {}),
    "ANJANA": ("anjana", {}),
    "anonypy": ("anonypy", {"counts": "count"}),
}


def assess_table(tool: str) -> Assessment:
    """Assess one tool's table."""
    name, options = TABLES[tool]
    return vt.assess(FOLDER / "people.csv", FOLDER / f"{name}.csv", ROLES, seed=1, **options)


def assess_notes() -> Assessment:
    """Assess Presidio's notes by the table of patients beside them, since nobody annotated them."""
    notes, released = FOLDER / "notes.csv", FOLDER / "presidio.csv"
    return vd.assess(notes, released, text="note", known=FOLDER / "patients.csv", by="pid")


def main() -> None:
    """Print what each release discloses, and save its page."""
    found = {tool: assess_table(tool) for tool in TABLES} | {"Presidio": assess_notes()}
    for tool, one in found.items():
        print(f"\n{tool}")
        print(*one.summary, sep="\n")
        print(one.report().save(f"{tool.lower().replace(' ', '-')}.html", force=True))


if __name__ == "__main__":
    main()
