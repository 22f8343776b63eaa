"""Assess what other tools release: assess_other_tools.py.

ANJANA and anonypy are run where they are installed (pip install anjana anonypy). ARX (Java) and
sdcMicro (R) are not: files in the form that their documentation shows are made here, and are
labelled so.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd

import voile.tables as vt
from voile.demo.county import make_county
from voile.face.assessment import Assessment

QUASI = ["age", "sex", "zip"]
ROLES = {"age": "quasi", "sex": "quasi", "zip": "quasi", "diagnosis": "sensitive"}
K = 3


def people(rows: int = 400) -> pd.DataFrame:
    """Return patients of a made-up county, text as objects, as these tools want it."""
    patients = make_county(people=12 * rows).patients.to_pandas()
    return (
        patients[list(ROLES)].head(rows).astype(dict.fromkeys(("sex", "zip", "diagnosis"), object))
    )


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


def anjana_output(frame: pd.DataFrame) -> pd.DataFrame:
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


def anonypy_output(frame: pd.DataFrame) -> pd.DataFrame:
    """Run anonypy: a row of its output stands for `count` records."""
    import anonypy

    given = frame.astype({"sex": "category", "zip": "category"})
    rows = anonypy.Preserver(given, QUASI, "diagnosis").anonymize_k_anonymity(k=K)
    return pd.DataFrame(rows)


TOOLS: dict[str, tuple[Callable[[pd.DataFrame], pd.DataFrame], dict[str, Any]]] = {
    "form of ARX": (arx_form, {}),
    "form of sdcMicro": (sdcmicro_form, {}),
    "ANJANA": (anjana_output, {}),
    "anonypy": (anonypy_output, {"counts": "count"}),
}


def assessed(frame: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame, Assessment]]:
    """Yield each tool that there is, its release, and what it discloses."""
    for tool, (make, options) in TOOLS.items():
        try:
            released = make(frame)
        except ImportError:
            print(f"{tool}: not installed")
            continue
        yield tool, released, vt.assess(frame, released, ROLES, seed=1, **options)


def main() -> None:
    """Print what each release discloses, and save its page."""
    warnings.filterwarnings("ignore")
    for tool, _, found in assessed(people()):
        print(f"\n{tool}: k {found.figures['k']:.0f}")
        print(*found.summary, sep="\n")
        name = re.sub(r"\W+", "-", tool.lower())
        print(found.report().save(f"{name}.html", force=True))


if __name__ == "__main__":
    main()
