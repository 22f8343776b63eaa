"""Assess a release and synthetic rows of Adult beside pyCANON and anonymeter, in one run.

`python -m benchmarks.assess_beside PYTHON`: PYTHON has pycanon and anonymeter, in an environment of
its own. Each side is a process of its own with one thread; time is the processor's, without
starting Python and importing.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

import numpy as np
import pandas as pd
from benchmarks.data import folder
from benchmarks.tables import save

from voile.core.evidence import Rate

QUASI = ["age", "education", "marital-status", "occupation", "race", "sex"]
SECRET = "salary-class"
RUNS, ATTACKS = 3, 2_000
WORKER = """
import json, resource, sys, time, warnings
warnings.filterwarnings("ignore")
task, folder, quasi, secret = sys.argv[1], sys.argv[2], sys.argv[3].split(","), sys.argv[4]
import pandas as pd
read = lambda name: pd.read_csv(f"{folder}/{name}.csv")
found = {}
if task == "pycanon":
    from pycanon import anonymity
    released = read("released")
    begin = time.process_time()
    found["k"] = int(anonymity.k_anonymity(released, quasi))
    found["l"] = int(anonymity.l_diversity(released, quasi, [secret]))
if task == "equalities":
    import numpy as np
    import polars as pl
    from anonymeter.evaluators.singling_out_evaluator import _evaluate_queries, _query_from_record
    original, synthetic, control = (
        pl.read_csv(f"{folder}/{name}.csv", infer_schema=False).select(quasi)
        for name in ("original", "synthetic", "control"))
    begin = time.process_time()
    alone = synthetic.filter(synthetic.is_unique()).to_dicts()
    kinds, rng = dict(synthetic.schema), np.random.default_rng(1)
    queries = [_query_from_record(one, kinds, quasi, {}, rng) for one in alone]
    parts = [queries[i:i + 500] for i in range(0, len(queries), 500)]
    for name, rows in (("rate", original), ("control", control)):
        fit = [n for part in parts for n in _evaluate_queries(rows, part)]
        found[name] = sum(n == 1 for n in fit) / len(fit)
if task in ("inference", "singling out"):
    from anonymeter.evaluators import InferenceEvaluator, SinglingOutEvaluator
    original, synthetic, control = map(read, ("original", "synthetic", "control"))
    begin = time.process_time()
    if task == "inference":
        one = InferenceEvaluator(
            original, synthetic, quasi, secret, n_attacks=2000, control=control)
        one.evaluate(n_jobs=1)
    else:
        one = SinglingOutEvaluator(*(x[quasi] for x in (original, synthetic)),
            n_attacks=500, n_cols=len(quasi), control=control[quasi])
        one.evaluate(mode="multivariate")
    done = one.results()
    found = {"rate": done.attack_rate.value, "control": done.control_rate.value}
if task.startswith("voile"):
    import voile.tables as vt
    from voile.tables.verbs import assess_synthetic
    attack, spent = assess_synthetic.singling_out, []
    def timed(*given, **named):
        begun = time.process_time()
        evidence = attack(*given, **named)
        spent.append(time.process_time() - begun)
        return evidence
    assess_synthetic.singling_out = timed
    roles = {**dict.fromkeys(quasi, "quasi"), secret: "sensitive"}
    original = f"{folder}/original.csv"
    warm = pd.DataFrame({"a": ["1", "2"], "s": ["x", "y"]})
    vt.assess(warm, warm, {"a": "quasi", "s": "sensitive"}, seed=1)
    begin = time.process_time()
    if task == "voile release":
        a = vt.assess(original, f"{folder}/released.csv", roles, seed=1)
        found = {"k": a.figures["k"], "l": a.figures[f"distinct_l({secret})"]}
    else:
        a = vt.assess(original, f"{folder}/synthetic.csv", roles, seed=1, synthetic=True,
                      control=f"{folder}/control.csv")
        by = {one.attack: one for one in a.evidence}
        guess, alone = by["inference"].findings[0], by["singling out"].findings[1]
        found = {"rate": guess.rate.value, "control": guess.control.value,
                 "interval": guess.rate.interval(), "alone": alone.rate.value,
                 "alone control": alone.control.value, "alone of": alone.rate.trials,
                 "alone seconds": spent[-1]}
found["seconds"] = time.process_time() - begin
found["megabytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps(found))
"""


def make(place: Path) -> None:
    """Write 5,000 people, as many others, a release by bands, and rows with noise in them."""
    rows = pd.read_csv(folder("arx-adult") / "adult.csv.gz", sep=";")[[*QUASI, SECRET]]
    rows = rows.sample(10_000, random_state=1)
    original, control = rows.iloc[:5_000], rows.iloc[5_000:]
    released = original.sample(frac=1, random_state=2)
    low = released.age // 20 * 20
    released = released.assign(age=[f"[{a}, {a + 20})" for a in low], education="*")
    groups = released.groupby(QUASI)[SECRET]
    released = released[(groups.transform("size") >= 5) & (groups.transform("nunique") > 1)]
    synthetic = original.sample(frac=1, random_state=3).reset_index(drop=True)
    rng = np.random.default_rng(4)
    for name in synthetic:
        other = rng.random(len(synthetic)) < 0.2
        synthetic.loc[other, name] = rng.permutation(synthetic[name].to_numpy())[other]
    tables = {"original": original, "control": control, "released": released}
    for name, table in {**tables, "synthetic": synthetic}.items():
        table.to_csv(place / f"{name}.csv", index=False)


def run(python: str, task: str, place: Path) -> dict[str, float]:
    """Run a task several times; of its seconds the median."""
    words = [python, "-c", WORKER, task, str(place), ",".join(QUASI), SECRET]
    how = {"capture_output": True, "text": True, "env": {**os.environ, "OMP_NUM_THREADS": "1"}}
    done = [json.loads(subprocess.run(words, check=True, **how).stdout) for _ in range(RUNS)]
    times = {name: median(one[name] for one in done) for name in done[0] if "seconds" in name}
    return {**done[0], **times}


def main(python: str) -> None:
    """Run all, and save the table."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        make(place)
        own, drawn = (run(sys.executable, f"voile {x}", place) for x in ("release", "synthetic"))
        canon, inferring, alone, alike = (
            run(python, task, place)
            for task in ("pycanon", "inference", "singling out", "equalities")
        )

    if (own["k"], own["l"]) != (canon["k"], canon["l"]) or min(own["k"], own["l"]) < 2:
        raise SystemExit(f"k and l are not the same, or show nothing: {own}, {canon}")

    theirs = Rate(round(inferring["rate"] * ATTACKS), ATTACKS).interval()
    ours = tuple(drawn["interval"])
    if theirs[0] > ours[1] or ours[0] > theirs[1]:
        raise SystemExit(f"the rates of inference differ: {theirs}, {ours}")

    if (alike["rate"], alike["control"]) != (drawn["alone"], drawn["alone control"]):
        raise SystemExit(f"the same predicates differ: {alike}, {drawn}")

    def cost(one: dict[str, float], beside: float) -> tuple[str, str, str]:
        return (
            f"{one['seconds']:.2f} s",
            f"{one['seconds'] / beside:.1f}",
            f"{one['megabytes']:,.0f} MB",
        )

    rows = [
        ("k of the release", "pyCANON", f"{canon['k']}", *cost(canon, own["seconds"])),
        ("", "voile, whole assessment", f"{own['k']:.0f}", *cost(own, own["seconds"])),
        ("distinct l of the release", "pyCANON", f"{canon['l']}", "", "", ""),
        ("", "voile", f"{own['l']:.0f}", "", "", ""),
        (
            "salary class inferred: original, control",
            "anonymeter, 2,000 attacks",
            f"{inferring['rate']:.1%}, {inferring['control']:.1%}",
            *cost(inferring, drawn["seconds"]),
        ),
        (
            "",
            "voile, whole assessment",
            f"{drawn['rate']:.1%}, {drawn['control']:.1%}",
            *cost(drawn, drawn["seconds"]),
        ),
        (
            "singled out by a unique row's six values: original, control",
            f"anonymeter's queries, all {drawn['alone of']:,} unique rows",
            f"{alike['rate']:.1%}, {alike['control']:.1%}",
            *cost(alike, drawn["alone seconds"]),
        ),
        (
            "",
            "voile, this attack by itself, random predicates and population included",
            f"{drawn['alone']:.1%}, {drawn['alone control']:.1%}",
            *cost({**drawn, "seconds": drawn["alone seconds"]}, drawn["alone seconds"]),
        ),
        (
            "singled out by age or more extreme and five values, equal rows dropped",
            "anonymeter's attack, 500 predicates",
            f"{alone['rate']:.1%}, {alone['control']:.1%}",
            *cost(alone, drawn["seconds"]),
        ),
    ]
    save(
        "assess_beside",
        "5,000 people of Adult and 5,000 others, six quasi-identifiers, medians of three runs.",
        ("measured", "by", "answer", "time", "times voile's", "peak memory"),
        rows,
        "The release has ages by 20 years, education suppressed, and no row of a group of\n"
        "fewer than 5 people or of one salary class. The synthetic rows replace each cell\n"
        "of the original with another row's with probability .2. Singling out: voile takes\n"
        "every unique synthetic row, and counts the people who equal it in all six columns.\n"
        "The query functions of anonymeter give the same rates for the same predicates and\n"
        "people. Its own attack differs in two ways, so its rate is not comparable. It\n"
        "first drops rows that equal another, so two people alike in all columns count as\n"
        "one person singled out. It also asks for ages as extreme as the row's or more.\n"
        "Inference guesses alike. anonymeter guesses from the nearest synthetic row of each\n"
        "of 2,000 people. voile guesses from the rows of the same or the nearest values, of\n"
        f"all 5,000. The 95% intervals ({_said(theirs)} and {_said(ours)}) overlap. One\n"
        "assessment reads the files and runs membership, singling out and inference.",
    )


def _said(interval: tuple[float, float]) -> str:
    return " to ".join(f"{100 * end:.1f}" for end in interval)


if __name__ == "__main__":
    main(*sys.argv[1:])
