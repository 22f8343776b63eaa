"""Bad input gets one sentence and exit code 2, from the command line and from Python alike."""

from __future__ import annotations

import pyarrow as pa
import pytest
from pyarrow import csv

import voile.tables
from voile.cli.run import run
from voile.core.errors import VoileError

SECRET = "hush-hush"
ROLES = {"age": '"quasi"', "town": '"quasi"', "ill": '"sensitive"', "mess": '"drop"'}
ROWS = 12


def people():
    dates = ["1.2.2000", "2.2.2000", "3.2.2000", "4.4.2000", "5.5.2000"]
    mess = ["12", dates[0], SECRET, "13", *dates[1:], "14", "15", "16", "17"]
    return pa.table(
        {
            "age": [20 + i for i in range(ROWS)],
            "town": ["east", "west"] * (ROWS // 2),
            "ill": ["flu"] * 8 + ["cold"] * 4,
            "mess": mess,
        }
    )


CASES = {
    "mixed": ({"mess": '"quasi"'}, {}, "column mess: its values are neither all numbers, nor all "),
    "rows": ({"mess": '"quasi"'}, {}, "nor names, as in rows 1, 2 and 3; correct them"),
    "edges": ({"age": '{ role = "quasi", edges = [30, 20] }'}, {}, "column age: edges do not rise"),
    "form": (
        {"town": '{ role = "quasi", form = "%d.%m.%Y" }'},
        {},
        "column town: 2 distinct values cannot be read as date written %d.%m.%Y (none can)",
    ),
    "k": ({}, {"k": 13}, "k is 13, and there are 12 subjects; ask for 12 at most"),
    "l": ({}, {"l_diversity": 3}, "l-diversity is 3, and column ill has 2 values; ask for 2"),
    "entropy": (
        {},
        {"entropy_l": 1.95},
        "entropy-l is 1.95, and the values of column ill are as even as 1.88 equally frequent ones",
    ),
    "kinds": (
        {},
        {"population": pa.table({"age": ["young", "old"], "people": [9, 9]})},
        "column age: its values are of one kind in the source and of another in a population",
    ),
    "negative": (
        {},
        {"population": pa.table({"age": [20, 21], "people": [9, -9]})},
        "1 row has a weight that is null, negative or not a whole number",
    ),
}


@pytest.mark.parametrize("family", ["both", "tree", "global"])
@pytest.mark.parametrize("case", CASES)
def test_one_sentence_wherever_it_is_asked(tmp_path, capsys, case, family):
    roles, options, said = CASES[case]
    table, toml, kit = tmp_path / "people.csv", tmp_path / "roles.toml", tmp_path / "kit"
    csv.write_csv(people(), table)
    lines = (f"{name} = {role}" for name, role in (ROLES | roles).items())
    toml.write_text("[columns]\n" + "\n".join(lines))
    given = dict(options)
    if "population" in given:
        given["population"] = tmp_path / "population.csv"
        csv.write_csv(options["population"], given["population"])
    words = [f"--{name.replace('_', '-')}={value}" for name, value in given.items()]
    fitting = ["tables", "fit", table, "--roles", toml, "--out", kit, "--quiet"]
    code = run([*map(str, fitting), f"--family={family}", *words])
    [*_, sentence] = capsys.readouterr().err.strip().splitlines()
    assert code == 2
    assert not kit.exists()
    assert said in sentence
    assert SECRET not in sentence
    with pytest.raises(VoileError) as caught:
        voile.tables.fit(table, roles=toml, family=family, **given)
    assert sentence == f"voile: {caught.value}"


def test_a_tree_of_another_kit_is_refused_alike(tmp_path, capsys):
    table, policy, out = (tmp_path / name for name in ("people.csv", "policy.toml", "out.csv"))
    csv.write_csv(people(), table)
    roles = {"age": "quasi", "town": "quasi", "ill": "sensitive", "mess": "drop"}
    kits = [voile.tables.fit(table, roles=roles, family="tree", k=k) for k in (2, 3)]
    for kit, name in zip(kits, ("one", "other"), strict=True):
        kit.save(tmp_path / name)
    chosen = kits[0].choose(least_loss=True)
    chosen.save(policy)
    applying = ["tables", "apply", tmp_path / "other", table, "--policy", policy, "--out", out]
    code = run([*map(str, applying)])
    [*_, sentence] = capsys.readouterr().err.strip().splitlines()
    assert code == 2
    assert "the policy comes from kit " in sentence
    with pytest.raises(VoileError) as caught:
        kits[1].apply(chosen, table, out)
    assert sentence.endswith(str(caught.value))
    assert not out.exists()
