"""Make the files in examples/other_tools: releases by other tools, of people who do not exist.

`python make_other_tools.py` writes the originals, and files in the forms that ARX and sdcMicro
document: neither of the two is run here. `python make_other_tools.py anjana` (or anonypy, presidio)
runs that tool on the originals, by a Python that has it and pandas; voile is not needed there.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

FOLDER = Path(__file__).parent / "other_tools"
QUASI = ["age", "sex", "zip"]
K, ROWS, NOTES = 3, 200, 60
SENTENCES = (
    "{name} was seen on {day}. {She} asks to be called at {phone}.",
    "Results go to {email}. No fever.",
    "Insured under {ssn}; {given} lives alone.",
    "The family of {name} can be reached at {phone} or {email}.",
    "Portal used from {ip} on {day}, blood pressure 120/80.",
)


def people() -> pd.DataFrame:
    """Return patients of a made-up county."""
    from voile.demo.county import make_county

    patients = make_county(people=12 * ROWS).patients.to_pandas()
    return patients[[*QUASI, "diagnosis"]].head(ROWS)


def patients_and_notes() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return a table of made-up patients, and a note of each."""
    from voile.demo.names import FEMALE, family_names

    rng = np.random.default_rng(1)
    given = rng.choice(FEMALE, NOTES)
    family = family_names(rng, NOTES).to_pylist()
    table = pd.DataFrame(
        {
            "pid": range(1, NOTES + 1),
            "name": [f"{a} {b}" for a, b in zip(given, family, strict=True)],
            "phone": [f"(212) 555-01{n:02}" for n in range(NOTES)],
            "email": [f"{b.lower()}{n}@post.example.com" for n, b in enumerate(family)],
            "ssn": [f"{n + 212:03}-{n + 11:02}-{7 * n + 4100:04}" for n in range(NOTES)],
        }
    )
    notes = []
    for number, row in enumerate(table.itertuples(index=False)):
        facts = {
            **row._asdict(),
            "given": row.name.split()[0],
            "She": "She",
            "day": f"2024-{number % 12 + 1:02}-{number % 28 + 1:02}",
            "ip": f"192.0.2.{number + 1}",
        }
        chosen = rng.choice(SENTENCES, 3, replace=False)
        notes.append(" ".join(one.format(**facts) for one in chosen))
    return table, pd.DataFrame({"pid": table.pid, "note": notes})


def arx_form(frame: pd.DataFrame) -> pd.DataFrame:
    """Write ages as half-open intervals, ZIP codes redacted, small groups as rows of stars."""
    low = frame.age // 20 * 20
    made = frame.assign(
        age=[f"[{a}, {a + 20}[" for a in low], zip=[f"{code[:2]}***" for code in frame.zip]
    )
    small = made.groupby(QUASI)["age"].transform("size") < K
    made.loc[small, QUASI] = "*"
    return made


def sdcmicro_form(frame: pd.DataFrame) -> pd.DataFrame:
    """Recode globally to (a,b], and suppress single cells of small groups, ZIP codes first."""
    made = frame.assign(
        age=pd.cut(frame.age, [-1, 19, 39, 59, 79, 120]).astype(str).str.replace(" ", ""),
        zip=[f"{code[:2]}***" for code in frame.zip],
    )
    for column in ("zip", "age"):
        small = made.groupby(QUASI, dropna=False)["sex"].transform("size") < K
        made.loc[small, column] = None
    return made


def run_anjana(frame: pd.DataFrame) -> pd.DataFrame:
    """Run ANJANA over hierarchies of its own form."""
    from anjana.anonymity import k_anonymity

    ages = frame.age.to_numpy()
    hierarchies = {
        "age": {
            0: ages,
            1: np.array([f"[{a // 10 * 10}, {a // 10 * 10 + 10})" for a in ages]),
            2: np.array([f"[{a // 40 * 40}, {a // 40 * 40 + 40})" for a in ages]),
        },
        "zip": {
            level: np.array([code[: 5 - level] + "*" * level for code in frame.zip])
            for level in range(6)
        },
        "sex": {0: frame.sex.to_numpy(), 1: np.array(["*"] * len(frame))},
    }
    with pd.option_context("future.infer_string", False):  # it knows no strings but objects
        given = pd.DataFrame({name: frame[name].to_numpy(object) for name in frame}).infer_objects()
        return k_anonymity(given, [], QUASI, K, 20, hierarchies)


def run_anonypy(frame: pd.DataFrame) -> pd.DataFrame:
    """Run anonypy: a row of its output stands for `count` records."""
    import anonypy

    given = frame.astype({"sex": "category", "zip": "category"})
    rows = anonypy.Preserver(given, QUASI, "diagnosis").anonymize_k_anonymity(k=K)
    made = pd.DataFrame(rows)
    for name in ("sex", "zip"):  # lists of values
        made[name] = ["|".join(cell) if isinstance(cell, list) else cell for cell in made[name]]
    return made


def run_presidio(notes: pd.DataFrame) -> pd.DataFrame:
    """Run Presidio's patterns, over a pipeline that knows no language, and its anonymizer."""
    import spacy
    import tldextract
    from presidio_analyzer import AnalyzerEngine, RecognizerRegistry
    from presidio_analyzer.nlp_engine import SpacyNlpEngine
    from presidio_anonymizer import AnonymizerEngine

    class Blank(SpacyNlpEngine):
        def __init__(self) -> None:
            super().__init__()
            self.nlp = {"en": spacy.blank("en")}

    tldextract.tldextract.TLD_EXTRACTOR = tldextract.TLDExtract(suffix_list_urls=())
    registry = RecognizerRegistry()
    registry.load_predefined_recognizers(languages=["en"])
    engine = AnalyzerEngine(nlp_engine=Blank(), registry=registry, supported_languages=["en"])
    replace = AnonymizerEngine()
    texts = [
        replace.anonymize(text=text, analyzer_results=engine.analyze(text, language="en")).text
        for text in notes.note
    ]
    return notes.assign(note=texts)


RUNS: dict[str, tuple[Callable[[pd.DataFrame], pd.DataFrame], str]] = {
    "anjana": (run_anjana, "people.csv"),
    "anonypy": (run_anonypy, "people.csv"),
    "presidio": (run_presidio, "notes.csv"),
}


def main(tool: str | None = None) -> None:
    """Write the originals and the forms, or one tool's release of them."""
    if tool is not None:
        run, original = RUNS[tool]
        frame = pd.read_csv(FOLDER / original, dtype={"zip": str})
        run(frame).to_csv(FOLDER / f"{tool}.csv", index=False)
        return
    FOLDER.mkdir(exist_ok=True)
    patients, notes = patients_and_notes()
    frame = people()
    made = {
        "people": frame,
        "arx_form": arx_form(frame),
        "sdcmicro_form": sdcmicro_form(frame),
        "patients": patients,
        "notes": notes,
    }
    for name, table in made.items():
        table.to_csv(FOLDER / f"{name}.csv", index=False)


if __name__ == "__main__":
    main(*sys.argv[1:])
