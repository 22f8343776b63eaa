"""Next month's rows: who came, left or changed is what the difference shows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.tables.verbs.rerelease.months import FIRST, ROLES, K, county, difference, release

import voile.tables as vt
from voile.cli.run import run
from voile.core.errors import InfeasibleError, RequestError, TamperedError
from voile.ledger.audience import LedgerAudience
from voile.ledger.ledger import Ledger, create
from voile.ledger.promise import LedgerPromise
from voile.release.manifest import StoredRelease


def test_a_few_new_people_are_refused_and_k_are_not(how, tmp_path):
    release(county(*FIRST), tmp_path / "a.csv", **how)
    few = county(*FIRST, (20, 10, 12))
    assert "2 who came in groups under 5" in difference(few, tmp_path / "b.csv", **how)
    found = release(county(*FIRST, (20, 10, 15)), tmp_path / "b.csv", **how)
    assert found.private["counts"]["released"] == 25
    assert found.private["ledger"]["high"]["k"] == K


@pytest.mark.parametrize("blank", [None, " "])
def test_a_newcomer_without_a_name_is_not_taken_for_another(blank, how, tmp_path):
    first, unnamed = county(*FIRST), county((20, 10, 11))
    unnamed = unnamed.set_column(0, "who", pa.array([blank], pa.string()))
    how |= {"no_pseudonyms": True}
    release(first, tmp_path / "a.csv", **how)
    with pytest.raises(InfeasibleError, match="1 is a release of other rows, and 1 of these have"):
        release(pa.concat_tables([first, unnamed]), tmp_path / "b.csv", **how)
    create(tmp_path / "m", LedgerPromise(expected_matches=1000), how["key_file"])
    how["ledger"] = tmp_path / "m"
    release(pa.concat_tables([first, unnamed]), tmp_path / "b.csv", **how)
    with pytest.raises(InfeasibleError, match="without a subject for each row"):
        release(pa.concat_tables([first, unnamed, unnamed]), tmp_path / "c.csv", **how)
    release(pa.concat_tables([first, unnamed]), tmp_path / "c.csv", **how)


def test_one_who_left_is_refused_and_a_batch_is_not(how, tmp_path):
    release(county(*FIRST), tmp_path / "a.csv", **how)
    said = difference(county((20, 1, 10), FIRST[1]), tmp_path / "b.csv", **how)
    assert "1 who left in groups under 5" in said
    release(county((20, 5, 10), FIRST[1]), tmp_path / "b.csv", **how)


def test_one_who_moved_is_refused(how, tmp_path):
    release(county(*FIRST), tmp_path / "a.csv", **how)
    moved = county((20, 1, 10), (30, 0, 1), FIRST[1])
    said = difference(moved, tmp_path / "b.csv", **how)
    assert "1 who changed or stand in another group in groups under 5" in said


def test_a_changed_value_shows_by_a_stable_pseudonym_and_not_by_a_new_one(how, tmp_path):
    rows = county(*FIRST)
    release(rows, tmp_path / "a.csv", **how)
    jobs = ["clerk", *rows["job"].to_pylist()[1:]]
    changed = rows.set_column(2, "job", pa.array(jobs))
    assert "1 who changed" in difference(changed, tmp_path / "b.csv", **how)
    renewed = release(changed, tmp_path / "b.csv", recipient="another year", **how)
    first = set(StoredRelease.open(tmp_path / "a.csv").frame["who"].to_pylist())
    assert not first & set(renewed.frame["who"].to_pylist())


def test_new_people_wait_and_none_is_lost(how, tmp_path):
    people = [*FIRST]
    release(county(*people), tmp_path / "0.csv", **how)
    out, waiting = [20], []
    for month in range(1, 5):
        people.append((20, 10 + 2 * month - 2, 10 + 2 * month))
        rows = county(*people)
        found = release(rows, tmp_path / f"{month}.csv", hold_back=True, **how)
        out.append(found.private["counts"]["released"])
        path = tmp_path / f"{month}.csv.private" / "waiting.parquet"
        waiting.append(pq.read_table(path).num_rows if path.exists() else 0)
        assert out[-1] + waiting[-1] == len(rows)
        assert found.private["counts"]["suppressed"] == waiting[-1]
    assert (out, waiting) == ([20, 20, 20, 26, 26], [2, 4, 0, 2])


def test_who_waits_counts_in_no_figure_of_the_release_alone(how, tmp_path):
    how["ledger"] = tmp_path / "of_ten"
    create(how["ledger"], LedgerPromise(expected_matches=1000, k=10), how["key_file"])
    release(county(*FIRST), tmp_path / "a.csv", **how)
    grown = county(*FIRST, (40, 200, 206))  # more than the kit's k, fewer than were promised
    with pytest.raises(
        InfeasibleError, match="alone breaks the ledger's promise: a group of fewer"
    ):
        release(grown, tmp_path / "b.csv", **how)
    found = release(grown, tmp_path / "b.csv", hold_back=True, **how).private["ledger"]
    assert found["alone"] == found["high"]
    assert (found["alone"]["matches"], found["alone"]["k"]) == (pytest.approx(2), 10)


@pytest.mark.parametrize("came", [5, 4])
def test_new_people_wait_for_whichever_coalition_has_too_few_of_them(came, how, tmp_path):
    create(
        tmp_path / "apart",
        LedgerPromise(expected_matches=1000),
        how["key_file"],
        audience=LedgerAudience((("Site A", "Site B"),)),
    )
    how["ledger"] = tmp_path / "apart"
    later = 10 + came
    release(county(*FIRST), tmp_path / "a.csv", recipient="Site A", **how)
    release(county(*FIRST, (20, 10, later)), tmp_path / "b.csv", recipient="Site B", **how)
    grown = county(*FIRST, (20, 10, later + 3))  # three of them new to site B, more to site A
    place = {"after": how["ledger"], "key_file": how["key_file"], "releases": [tmp_path]}
    kit = vt.fit(grown, ROLES, family="global", method="exhaustive", k=K, suppress=0.9, seed=1)
    if came < K:  # who waits for site A's sake would be seen to leave by site B
        with pytest.raises(InfeasibleError, match=f"{came} who left in groups under 5") as caught:
            release(grown, tmp_path / "c.csv", hold_back=True, **how)
        assert "--hold-back" not in str(caught.value)  # which was given
        return
    found = release(grown, tmp_path / "c.csv", hold_back=True, **how)
    assert found.private["counts"]["released"] == 20 + came
    assert found.private["ledger"]["kept_back"] == {"wait for others of their group": 3}
    to_a = kit.choose(**place, source=grown, hold_back=True, recipient="Site A")
    assert to_a.figures["joint_matches"] == pytest.approx(3)


def test_the_erased_leave_when_k_of_them_do_and_no_name_is_written(how, tmp_path, capsys):
    release(county(*FIRST), tmp_path / "a.csv", **how)
    names = tmp_path / "names.txt"
    erase = ["ledger", "erase", how["ledger"], names, "--key-file", how["key_file"]]
    erase += ["--reason", "asked to be erased", "--releases", tmp_path]
    names.write_text("CANARY0\n")
    assert run([*map(str, erase)]) == 0
    assert "shown by the release of line 1" in capsys.readouterr().err
    assert "CANARY" not in how["ledger"].read_text()
    assert "1 who left" in difference(county(*FIRST), tmp_path / "b.csv", **how)
    names.write_text("\n".join(f"CANARY{i}" for i in range(5)))
    assert run([*map(str, erase)]) == 0
    assert len(Ledger.read_file(how["ledger"]).erased_hashes) == 5
    found = release(county(*FIRST), tmp_path / "b.csv", **how)
    assert found.private["counts"]["released"] == 15
    assert found.private["ledger"]["kept_back"] == {"are erased": 5}
    capsys.readouterr()
    run([*map(str, erase)])
    assert "shown by the release of line 1" in capsys.readouterr().err
    names.write_text("CANARY5\n")
    run([*map(str, erase)])
    with pytest.raises(InfeasibleError, match="take the people whom the ledger leaves out"):
        release(county(*FIRST), tmp_path / "c.csv", override="asked to be erased", **how)


def test_what_is_not_found_is_named(how, tmp_path):
    release(county(*FIRST), tmp_path / "a.csv", **how)
    grown = county(*FIRST, (20, 10, 15))
    with pytest.raises(InfeasibleError, match=r"line 1 is a release of other rows, and it lies"):
        release(grown, tmp_path / "b.csv", **{**how, "releases": ()})
    with pytest.raises(InfeasibleError, match="the ledger is of another source"):
        release(county((20, 200, 210), (30, 300, 310)), tmp_path / "b.csv", **how)
    people = tmp_path / "a.csv.private" / "people.parquet"
    table = pq.read_table(people)
    pq.write_table(table.slice(1), people)
    with pytest.raises(TamperedError, match="is not the private folder of line 1"):
        release(grown, tmp_path / "b.csv", **how)


def test_people_cannot_be_followed_without_their_column(how, tmp_path):
    kit = vt.fit(county(*FIRST).drop(["who"]), {"age": "quasi", "job": "keep"}, k=K, seed=1)
    with pytest.raises(RequestError, match="no column names the subject of a row"):
        kit.apply(
            kit.choose(policy=0), county(*FIRST).drop(["who"]), tmp_path / "a.csv",
            hold_back=True, **how,
        )  # fmt: skip
    with pytest.raises(RequestError, match="name it with ledger"):
        kit.apply(kit.choose(policy=0), county(*FIRST).drop(["who"]), tmp_path, hold_back=True)


@pytest.mark.parametrize("hold_back", [False, True])
def test_what_choose_promises_of_next_month_is_what_apply_measures(hold_back, how, tmp_path):
    release(county(*FIRST), tmp_path / "a.csv", **how)
    come = 2 if hold_back else 5
    grown = county(*FIRST, (20, 10, 10 + come), (40, 400, 405), (50, 500, 500 + come))
    kit = vt.fit(grown, ROLES, family="global", method="exhaustive", k=K, suppress=0.5, seed=1)
    place = {"after": how["ledger"], "key_file": how["key_file"], "releases": [tmp_path]}
    with pytest.raises(RequestError, match="give the rows to be released with source"):
        kit.choose(**place)
    chosen = kit.choose(**place, source=grown, hold_back=hold_back)
    found = kit.apply(chosen, grown, tmp_path / "b.csv", hold_back=hold_back, **how)
    high = found.private["ledger"]["high"]
    assert high["matches"] == chosen.figures["joint_matches"]
    assert high["relative"] == chosen.figures["joint_risk"]
    assert (found.private["counts"]["suppressed"] > 0) == hold_back


TREE_ROLES = {**ROLES, "columns": {**ROLES["columns"], "sex": "quasi"}}


def crowd(*groups: tuple[int, str, int, int]) -> pa.Table:
    """People by age and sex, from a first number to before a last one."""
    each = [(f"CANARY{i}", age, sex) for age, sex, *ends in groups for i in range(*ends)]
    who, ages, sexes = zip(*each, strict=True)
    return pa.table({"who": who, "age": ages, "sex": sexes, "job": ["cook"] * len(each)})


MONTH = ((20, "f", 0, 10), (20, "m", 100, 106), (30, "f", 200, 208), (30, "m", 300, 303))
CHANGED = {
    "came": ((*MONTH, (20, "m", 106, 108)), "2 who came in groups under 5"),
    "left": ((*MONTH[1:], (20, "f", 1, 10)), "1 who left in groups under 5"),
    "moved": ((*MONTH[1:], (20, "f", 1, 10), (30, "m", 0, 1)), "1 who changed or stand in"),
}


@pytest.fixture
def tree(how, tmp_path):
    """Release the finest tree of a kit; return the kit and the policy."""
    kit = vt.fit(crowd(*MONTH), TREE_ROLES, family="tree", k=K, seed=1)
    chosen = kit.choose(least_loss=True)
    first = kit.apply(chosen, crowd(*MONTH), tmp_path / "a.csv", **how)
    assert len(set(zip(*(first.frame[n].to_pylist() for n in ("age", "sex")), strict=True))) == 3
    return kit, chosen


@pytest.mark.parametrize("change", CHANGED)
def test_the_difference_of_a_tree_on_changed_rows_is_refused(change, tree, how, tmp_path):
    kit, chosen = tree
    groups, said = CHANGED[change]
    with pytest.raises(InfeasibleError, match=said):
        kit.apply(chosen, crowd(*groups), tmp_path / "b.csv", recount=True, **how)
    assert not list(tmp_path.glob("b.csv*"))


def test_a_tree_is_released_again_when_k_came(tree, how, tmp_path):
    kit, chosen = tree
    grown = crowd(*MONTH, (20, "m", 106, 111))
    place = {"after": how["ledger"], "key_file": how["key_file"], "releases": [tmp_path]}
    again = kit.choose(**place, source=grown, recount=True)
    assert again.policy == chosen.policy
    found = kit.apply(again, grown, tmp_path / "b.csv", recount=True, **how)
    high = found.private["ledger"]["high"]
    assert (high["matches"], high["k"]) == (again.figures["joint_matches"], K)
    assert high["matches"] == pytest.approx(4)  # three boxes, and those who came to one of them


def test_where_no_policy_can_be_chosen_the_difference_says_why(how, tmp_path):
    release(county(*FIRST), tmp_path / "a.csv", **how)
    left = county((20, 1, 10), FIRST[1])
    kit = vt.fit(left, ROLES, family="global", method="exhaustive", k=K, seed=1)
    place = {"after": how["ledger"], "key_file": how["key_file"], "releases": [tmp_path]}
    with pytest.raises(InfeasibleError, match="under the published policy, the difference shows 1"):
        kit.choose(**place, source=left)


def test_releases_by_other_quasi_identifiers_are_joined_person_by_person(how, tmp_path):
    rows = county(*FIRST)
    jobs = ["cook", "clerk"] * 10
    rows = rows.set_column(2, "job", pa.array(jobs))
    release(rows, tmp_path / "a.csv", **how)
    other = {**ROLES, "columns": {"who": "identifier", "age": "drop", "job": "quasi"}}
    strangers = pa.table({"job": ["cook", "clerk"], "people": [1000, 1000]})
    kit = vt.fit(rows, other, population=strangers, family="global", method="exhaustive", seed=1)
    found = kit.apply(kit.choose(least_loss=True), rows, tmp_path / "b.csv", **how)
    high = found.private["ledger"]["high"]
    # by age and job four classes of five, whom no stranger hides: the register has no age
    assert (high["matches"], high["k"]) == (pytest.approx(4), 5)


def test_what_is_of_a_ledger_needs_one(how):
    kit = vt.fit(county(*FIRST), ROLES, family="global", method="exhaustive", k=K, seed=1)
    for name, given in {"hold_back": True, "recipient": "Site A", "source": county(*FIRST)}.items():
        with pytest.raises(RequestError, match=f"{name} applies only with a ledger"):
            kit.choose(least_loss=True, **{name: given})


def test_rows_suppressed_in_one_release_and_not_in_another_are_refused(how, tmp_path):
    """One release suppresses the four of an age; another, coarser, shows them."""
    rows = county((20, 0, 10), (30, 100, 104), (40, 200, 210))
    release(rows, tmp_path / "a.csv", **how)
    kit = vt.fit(rows, ROLES, family="global", method="exhaustive", k=K, suppress=0.9, seed=1)
    coarse = replace(
        kit.choose(policy=0), policy={"age": [["20", "20"], ["30", "40"]]}, number=None
    )
    with pytest.raises(InfeasibleError, match="a group of fewer than the 5 people promised"):
        kit.apply(coarse, rows, tmp_path / "b.csv", **how)
    again = release(rows, tmp_path / "b.csv", **how)
    assert again.private["counts"]["released"] == 20
    assert np.isfinite(again.private["ledger"]["high"]["k"])


def test_two_recipients_releases_are_not_linked_by_pseudonym(how, tmp_path):
    rows = county(*FIRST)
    each = [
        release(rows, tmp_path / f"{name}.csv", recipient=name, **how).frame["who"].to_pylist()
        for name in ("Site A", "Site B")
    ]
    assert not set(each[0]) & set(each[1])
    other = tmp_path / "rotated"
    other.write_text("another key that the tests know")
    other.chmod(0o600)
    del how["ledger"], how["releases"]
    rotated = release(rows, tmp_path / "c.csv", **{**how, "key_file": other})
    same = release(rows, tmp_path / "d.csv", **how)
    assert not set(rotated.frame["who"].to_pylist()) & set(same.frame["who"].to_pylist())
    assert not set(same.frame["who"].to_pylist()) & set(each[0])


def test_a_stable_pseudonym_links_every_row_and_is_shown_as_such(how, tmp_path):
    rows = county(*FIRST)
    release(rows, tmp_path / "a.csv", **how)
    found = release(rows, tmp_path / "b.csv", **how).private["ledger"]
    assert found["linked"]["matches"] == pytest.approx(found["high"]["matches"])


def test_no_canary_is_in_what_the_next_release_is_judged_by(how, tmp_path):
    release(county(*FIRST), tmp_path / "a.csv", **how)
    for name in ("people.parquet", "domains.parquet"):
        table = pq.read_table(tmp_path / "a.csv.private" / name)
        assert "CANARY" not in str(table.to_pydict())


def test_a_foreign_row_is_named_by_number_and_column_and_not_by_value(how, tmp_path):
    rows = county(*FIRST)
    kit = vt.fit(rows, ROLES, family="global", method="exhaustive", k=K, seed=1)
    foreign = county(*FIRST, (987, 500, 501))
    with pytest.raises(RequestError, match="are not those that the kit counts") as refused:
        kit.apply(kit.choose(policy=0), foreign, tmp_path / "a.csv", **how)
    assert "row 21, column age" in str(refused.value)
    assert "987" not in str(refused.value)


def test_a_name_behind_a_byte_order_mark_or_named_twice_is_erased_once(how, tmp_path, capsys):
    release(county(*FIRST), tmp_path / "a.csv", **how)
    names = tmp_path / "names.txt"
    names.write_text("CANARY0\r\nCANARY1\r\nCANARY0\r\n", encoding="utf-8-sig")
    erase = ["ledger", "erase", how["ledger"], names, "--key-file", how["key_file"]]
    assert run([*map(str, erase), "--reason", "asked", "--releases", str(tmp_path)]) == 0
    assert "2 subjects in no further release" in capsys.readouterr().err
    lines = [
        one for one in Ledger.read_file(how["ledger"]).chain.lines if one.content["act"] == "erase"
    ]
    assert len(lines) == 2
    found = release(county(*FIRST), tmp_path / "b.csv", override="agreed by the board", **how)
    assert found.private["ledger"]["kept_back"] == {"are erased": 2}


def test_a_release_that_is_not_there_is_not_looked_for_where_the_command_runs(
    how, tmp_path, capsys, monkeypatch
):
    release(county(*FIRST), tmp_path / "a.csv", **how)
    names = tmp_path / "names.txt"
    names.write_text("CANARY0\n")
    monkeypatch.chdir(tmp_path / "a.csv.private")
    (tmp_path / "none").mkdir()
    erase = ["ledger", "erase", how["ledger"], names, "--key-file", how["key_file"]]
    assert run([*map(str, erase), "--reason", "asked", "--releases", str(tmp_path / "none")]) == 0
    assert "not known of the release of line 1" in capsys.readouterr().err
