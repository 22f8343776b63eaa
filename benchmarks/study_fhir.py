"""A FHIR export of 1,000 patients, ten types, with notes: two commands; Microsoft's sample rules.

The rules are those that the FHIR anonymizer of Microsoft's Tools for Health Data Anonymization
documents for its R4 sample configuration, which follows Safe Harbor: ids and references hashed,
dates moved by up to 50 days drawn for each resource, a birth date that says an age over 89 removed,
of an address the first three digits of the ZIP code, extensions, codes, readings, onsets and
attachments removed, everything that no rule names kept.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.csv
from benchmarks.tables import save
from fhir.resources.R4B import get_fhir_model_class

from voile.data.fhir.fields import find_references
from voile.demo.clinic import AS_OF
from voile.demo.export import write_demo
from voile.keys.random import ProtectiveRandom
from voile.study import Study
from voile.study.carriers.carrier import age_on
from voile.study.verbs.init import init

FATES = ("released", "suppressed", "rejected")
PATIENTS, SEED = 1000, 2013
DAYS, OLDEST = 50, 89
LEFT = "codes, readings, prescriptions, notes, exact gaps between a person's days"
SAME = "the same: it releases none"
LEFT_BY_RULES = "links, days of each resource moved apart; no code, reading or note"
TEXT = pyarrow.csv.ConvertOptions(column_types={"zip": "string", "person_id": "string"})


@dataclass(frozen=True)
class Run:
    """What one command took: seconds, MiB at its peak, and CPU seconds."""

    seconds: float
    peak: float
    cpu: float


def run(*words: str) -> Run:
    """Run a command of voile's in a process of its own."""
    code = (
        "import resource, sys, subprocess;"
        "done = subprocess.run([sys.executable, '-m', 'voile', *sys.argv[1:]], check=False);"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN);"
        "print(used.ru_utime + used.ru_stime, used.ru_maxrss, file=sys.stderr);"
        "sys.exit(done.returncode)"
    )
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", code, *words, "--quiet"], capture_output=True, text=True, check=False
    )
    seconds = time.perf_counter() - began
    if done.returncode:
        raise RuntimeError(done.stderr)
    scale = 1 if sys.platform == "darwin" else 1024
    cpu, peak = done.stderr.split()[-2:]
    return Run(seconds, int(peak) * scale / 2**20, float(cpu))


def resources(folder: Path) -> Iterator[dict[str, Any]]:
    for path in sorted(folder.glob("*.ndjson")):
        with path.open() as lines:
            yield from map(json.loads, lines)


SNOMED, CVX = "http://snomed.info/sct", "http://hl7.org/fhir/sid/cvx"


def add_types(folder: Path) -> None:
    """Add four types to an export of six: a resource for each visit, linked to the visit's own."""
    visits = [one for one in resources(folder) if one["resourceType"] == "Encounter"]
    readings = {
        one["encounter"]["reference"]: one["id"]
        for one in resources(folder)
        if one["resourceType"] == "Observation"
    }
    draw = np.random.default_rng(SEED)
    rows: dict[str, list[dict[str, Any]]] = {}
    for number, visit in enumerate(visits):
        person, at = visit["subject"]["reference"], f"Encounter/{visit['id']}"
        day = visit["period"]["start"]
        common = {"encounter": {"reference": at}, "note": [{"text": "seen by Petra Balen"}]}
        made: dict[str, dict[str, Any]] = {
            "Procedure": {
                "subject": {"reference": person},
                "status": "completed",
                "code": _concept(SNOMED, int(draw.choice([171207006, 430193006, 268556000]))),
                "performedDateTime": f"{day}T09:00:00Z",
                "report": [{"reference": f"DiagnosticReport/D{number}"}],
            },
            "Immunization": {
                "patient": {"reference": person},
                "status": "completed",
                "vaccineCode": _concept(CVX, int(draw.choice([140, 113, 33, 62]))),
                "occurrenceDateTime": day,
                "lotNumber": f"L{number:06d}",
            },
            "AllergyIntolerance": {
                "patient": {"reference": person},
                "code": _concept(SNOMED, int(draw.choice([91935009, 300916003, 232347008]))),
                "recordedDate": day,
            },
            "DiagnosticReport": {
                "subject": {"reference": person},
                "status": "final",
                "code": {"coding": [{"system": "http://loinc.org", "code": "58410-2"}]},
                "issued": f"{day}T10:00:00Z",
                "result": [{"reference": f"Observation/{readings[at]}"}],
            },
        }
        for kind, own in made.items():
            one = {"resourceType": kind, "id": f"{kind[0]}{number}", **common, **own}
            if kind == "DiagnosticReport":
                del one["note"]
            rows.setdefault(kind, []).append(one)
    for kind, every in rows.items():
        lines = "".join(f"{json.dumps(one)}\n" for one in every)
        (folder / f"{kind}.ndjson").write_text(lines)


def _concept(system: str, code: int) -> dict[str, Any]:
    return {"coding": [{"system": system, "code": str(code)}], "text": "as recorded"}


def check(folder: Path) -> tuple[int, int, int, int]:
    """Return how many resources there are and are valid, references and those that resolve."""
    every = list(resources(folder))
    there = {f"{one['resourceType']}/{one['id']}" for one in every}
    valid = 0
    for one in every:
        get_fhir_model_class(one["resourceType"]).model_validate(one)
        valid += 1
    references = [x for one in every for x in find_references(one)]
    return len(every), valid, len(references), sum(x in there for x in references)


@dataclass(frozen=True)
class Left:
    """What the sample rules leave of a patient: sex, three digits, a birth date moved or none."""

    person: str
    sex: str
    zip3: str
    born: date | None


def by_rules(folder: Path) -> Iterator[Left]:
    """Apply the rules to each patient; the offset is drawn for the resource."""
    drawn = ProtectiveRandom.for_tests(SEED).generator()
    for one in resources(folder):
        if one["resourceType"] != "Patient":
            continue
        offset = timedelta(days=int(drawn.integers(-DAYS, DAYS + 1)))
        born = date.fromisoformat(one["birthDate"])
        old = age_on(AS_OF, born) > OLDEST
        sex = {"female": "F", "male": "M"}[one["gender"]]
        yield Left(
            one["id"], sex, one["address"][0]["postalCode"][:3], None if old else born + offset
        )


def expected(
    left: list[Left], register: dict[str, Any], agrees: Callable[[Left], Any]
) -> tuple[float, int]:
    """Return the expected matches of people linked by what is left, and how many are certain."""
    total, certain = 0.0, 0
    for one in left:
        fits = (register["sex"] == one.sex) & (register["zip3"] == one.zip3) & agrees(one)
        at = register["person_id"] == one.person
        chance = float((fits & at).any() / max(fits.sum(), 1))
        total, certain = total + chance, certain + (chance == 1.0)
    return total, certain


def read_register(path: Path) -> dict[str, Any]:
    held = pyarrow.csv.read_csv(path, convert_options=TEXT)
    found = {n: held[n].to_numpy() for n in ("person_id", "sex", "age")}
    found["zip3"] = np.array([x[:3] for x in held["zip"].to_pylist()])
    found["born"] = held["birth_date"].to_numpy().astype("datetime64[D]")
    return found


def rival(folder: Path, register: dict[str, Any]) -> list[tuple[str, float, int]]:
    """Return the joint matches of what the rules leave, for two adversaries."""
    left = list(by_rules(folder))

    def by_birth(one: Left) -> Any:
        if one.born is None:
            return register["age"] > OLDEST
        return abs(register["born"] - np.datetime64(one.born)) <= np.timedelta64(DAYS, "D")

    def by_age(one: Left) -> Any:
        if one.born is None:
            return register["age"] > OLDEST
        ends = (one.born + timedelta(days=DAYS), one.born - timedelta(days=DAYS))
        low, high = (age_on(AS_OF, end) for end in ends)
        return (register["age"] >= low) & (register["age"] <= high)

    return [
        ("the sample rules, a register with ages", *expected(left, register, by_age)),
        ("the sample rules, a register with birth dates", *expected(left, register, by_birth)),
    ]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "demo"
        write_demo(out, "fhir", PATIENTS, seed=SEED)
        add_types(out / "export")
        kit, plan = str(out / "notes.kit"), str(out / "study.toml")
        training = [str(out / "training.parquet"), "--roles", str(out / "training.toml")]
        quick = ["--learners", "svm", "--miss-cost", "5", "--seed", str(SEED), "--out", kit]
        trained = run("documents", "fit", *training, *quick)
        population = str(out / "truth" / "population.parquet")
        init(str(out / "export"), Path(plan), kit=kit, population=population, as_of=AS_OF)
        fit = run("study", "fit", plan)
        apply = run("study", "apply", plan)
        study = Study.open(plan)
        release = study.plan.release / "export"
        total, valid, references, resolve = check(release)
        linked = study.attack(str(out / "truth" / "register.csv")).linked
        manifest = json.loads((out / "study.release.private" / "manifest.json").read_text())
        figures, counts = manifest["figures"], manifest["export"]["counts"]
        kinds = Counter(one["resourceType"] for one in resources(out / "export"))
        rules = rival(out / "export", read_register(out / "truth" / "register.csv"))
    took = fit.seconds + apply.seconds
    sums = [x["read"] == sum(x[fate] for fate in FATES) == kinds[n] for n, x in counts.items()]
    by_age, by_birth = (f"{found:.1f} ({certain} certain)" for _, found, certain in rules)
    ours = f"{linked.joint:.1f} ({linked.alone} certain)"
    rows = [
        ["`study fit` and `study apply`, busy machine, seconds (at most 600)", f"{took:.0f}", ""],
        ["their CPU seconds", f"{fit.cpu + apply.cpu:.0f}", ""],
        ["their peak, MiB (at most 2,048)", f"{max(fit.peak, apply.peak):.0f}", ""],
        ["valid resources of those written", f"{valid:,} of {total:,}", ""],
        ["references that resolve", f"{resolve:,} of {references:,}", ""],
        ["types of which every row is accounted for", f"{sum(sums)} of {len(kinds)}", ""],
        ["expected matches, a register with ages", ours, by_age],
        ["expected matches, a register with birth dates", SAME, by_birth],
        ["expected matches at the notes' recall", f"{figures['joint_at_recall']:.1f}", "no notes"],
        ["left beside people", LEFT, LEFT_BY_RULES],
    ]
    there = ", ".join(f"{n:,} {kind}" for kind, n in sorted(kinds.items()))
    save(
        "study_fhir",
        f"A made-up export of {PATIENTS:,} patients of a county of {round(PATIENTS / 0.08):,}, "
        f"whose register the adversary has: {there}.",
        ["what", "voile", "the sample rules"],
        rows,
        "Before the two commands the notes' kit was fitted from annotated notes of other people, "
        f"in {trained.seconds:.0f} seconds. Voile releases {linked.people:,} people and no birth "
        "date; its adversary also has races and five digits of ZIP codes, and reads the notes.",
    )


if __name__ == "__main__":
    main()
