"""What is written: what was promised and no more, or nothing; and what verify says of it."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from voile.core.errors import InfeasibleError, RequestError
from voile.core.progress import silent
from voile.data import open_source
from voile.data.roles import Roles
from voile.itemsets.module import ITEMSETS
from voile.itemsets.verbs.choose import choose
from voile.itemsets.verbs.criteria import CRITERIA
from voile.itemsets.verbs.fit import fit
from voile.itemsets.verbs.options import ApplyOptions, FitOptions
from voile.itemsets.verbs.policies import EmptyPolicyWarning
from voile.itemsets.verbs.report import sections
from voile.itemsets.verbs.verify import verify
from voile.release.choice import Choice
from voile.release.criteria import worst_figure

WORDS = {"role": "items", "as": "words"}
TOWN = ["Pau"] * 6


def source(baskets, **columns):
    return open_source(pa.table({"basket": baskets, **columns}))


def roles(subject=None, **columns):
    given = {"columns": {"basket": WORDS, **columns}}
    return Roles.model_validate(given if subject is None else {**given, "subject": subject})


def kit_of(baskets, given, k, *, drop_unlabelled=False, **columns):
    options = FitOptions(k=(k,), drop_unlabelled=drop_unlabelled)
    return fit(source(baskets, **columns), given, options, seed=1, progress=silent)


def written(kit, chosen, read, out):
    return ITEMSETS.apply(kit, chosen, read, out, ApplyOptions(), force=False, progress=silent)


def test_one_person_short_of_the_promise_is_withdrawn(tmp_path):
    kit = kit_of(["tea"] * 6 + [""], roles(), k=5)
    chosen = choose(kit, Choice(max_risk=0.2))
    with pytest.raises(InfeasibleError, match="promises 5"):
        written(kit, chosen, source(["tea"] * 4 + [""]), tmp_path / "r.csv")
    assert list(tmp_path.iterdir()) == []
    release = written(kit, chosen, source(["tea"] * 5 + [""]), tmp_path / "r.csv")
    assert release.private["figures"]["anonymity"] == 5


def test_rows_of_few_people_do_not_keep_a_promise_of_many(tmp_path):
    given = roles("who", who="identifier")
    kit = kit_of(["tea"] * 6, given, k=5, who=list("abcdef"))
    chosen = choose(kit, Choice(max_risk=0.2))
    with pytest.raises(InfeasibleError, match="only 2 share an adversary"):
        written(kit, chosen, source(["tea"] * 6, who=list("aaabbb")), tmp_path / "r.csv")


def test_joined_rows_that_single_people_out_are_refused_or_accepted(tmp_path):
    """Of 12 people with tea, one has three rows: pseudonyms join them."""
    who = [*"abcdefghijkl", "l", "l"]
    kit = kit_of(["tea"] * 14, roles("who", who="identifier"), k=5, who=who)
    chosen, read = choose(kit, Choice(max_risk=0.2)), source(["tea"] * 14, who=who)
    key = tmp_path / "key"
    key.write_text("ab" * 32)
    key.chmod(0o600)

    def apply(**options):
        given = ApplyOptions(key_file=key, **options)
        return ITEMSETS.apply(
            kit, chosen, read, tmp_path / "r.csv", given, force=False, progress=silent
        )

    with pytest.raises(InfeasibleError, match="1 person has records that fewer than 5") as refused:
        apply(pseudonyms=True)
    assert "apply without --pseudonyms" in refused.value.instead
    with pytest.raises(InfeasibleError, match="1 person has records") as refused:
        apply(keep_order=True)
    assert "apply without --keep-order" in refused.value.instead
    reason = "the recipient knows no visits"
    release = apply(pseudonyms=True, accept_risk=reason)
    held = {check.says: check.holds for check in verify(release)}
    assert held.pop("at least 5 people show the rows of any one person") is None
    assert False not in held.values()
    [summary] = [s for s in sections(release, (), audience="public") if s.first]
    said = summary.blocks[0].paragraphs[0]
    assert said.startswith("Accepted risk: fewer than 11 people have records that fewer than 5")
    assert reason in said
    worst = {
        name: worst_figure(name, CRITERIA, release.public, ()).most
        for name in ("re-identification", "singling-out")
    }
    assert worst == {"re-identification": 1, "singling-out": pytest.approx(0.92)}


def test_who_it_is_never_leaves_whatever_its_role(tmp_path):
    given = roles("who", who="keep", town="keep")
    kept = {"who": list("abcdef"), "town": ["Pau"] * 6}
    kit = kit_of(["tea"] * 6, given, k=5, **kept)
    read = source(["tea"] * 6, **kept)
    release = written(kit, choose(kit, Choice(max_risk=0.2)), read, tmp_path / "r.csv")
    assert release.path.read_text().splitlines()[0] == "basket,town"


@pytest.mark.parametrize(
    ("columns", "said"), [({}, "no column town"), ({"town": TOWN, "more": TOWN}, "column more")]
)
def test_other_columns_than_fitted_are_refused(tmp_path, columns, said):
    kit = kit_of(["tea"] * 6, roles(town="keep"), k=5, town=TOWN)
    with pytest.raises(RequestError, match=said):
        written(
            kit,
            choose(kit, Choice(max_risk=0.2)),
            source(["tea"] * 6, **columns),
            tmp_path / "r.csv",
        )
    assert list(tmp_path.iterdir()) == []


def test_a_row_without_a_label_is_set_aside(tmp_path):
    given = roles(ill="label")
    kit = kit_of(["tea"] * 6 + ["milk"] * 6, given, k=5, ill=["yes"] * 6 + ["no"] * 6)
    chosen = choose(kit, Choice(max_risk=0.2))
    read = source(["tea"] * 6 + ["milk"] * 6, ill=[None] + ["yes"] * 5 + ["no"] * 6)
    release = written(kit, chosen, read, tmp_path / "r.csv")
    counts = release.private["counts"]
    assert (counts["released"], counts["set_aside"]) == (11, 1)
    assert len(release.path.read_text().splitlines()) == 12


def test_a_missing_value_is_a_zero_where_the_roles_say_so(tmp_path):
    """Without the setting `fit` refuses it; with it, a release shows a 0."""
    ill, ones = ["yes"] * 6 + ["no"] * 6, [None] * 4 + [1] * 8
    baskets = ["tea"] * 6 + ["milk"] * 6
    asked = {"role": "items", "as": "binary"}
    with pytest.raises(RequestError, match="4 cells hold a value other than 0 and 1"):
        kit_of(baskets, roles(ill="label", smokes=asked), k=2, ill=ill, smokes=ones)
    given = roles(ill="label", smokes={**asked, "nulls": "absent"})
    kit = kit_of(baskets, given, k=2, ill=ill, smokes=ones)
    read = source(baskets, ill=ill, smokes=ones)
    chosen = choose(kit, Choice(least_loss=True))
    release = written(kit, chosen, read, tmp_path / "r.parquet")
    assert release.private["counts"]["released"] == 12
    shown = pq.read_table(tmp_path / "r.parquet")
    assert sorted(shown["smokes"].to_pylist()) == [0] * 4 + [1] * 8
    words = roles(ill="label", smokes={"role": "items", "nulls": "absent", "as": "categories"})
    with pytest.raises(RequestError, match="nulls goes with columns of 0 and 1"):
        kit_of(baskets, words, k=2, ill=ill, smokes=["a", "b"] * 6)


@pytest.mark.parametrize("drop", [False, True])
def test_a_row_is_set_aside_for_one_reason(tmp_path, drop):
    """A cell that cannot be read, unless the row has no label either."""
    smokes = {"role": "items", "as": "binary"}
    ill, ones = ["yes"] * 6 + ["no"] * 6, [0, 1] * 6
    given = roles(ill="label", smokes=smokes)
    baskets = ["tea"] * 6 + ["milk"] * 6
    kit = kit_of(baskets, given, k=2, drop_unlabelled=drop, ill=ill, smokes=ones)
    read = source(baskets, ill=[*ill[:10], None, None], smokes=[2, *ones[1:11], 2])
    release = written(kit, choose(kit, Choice(max_risk=0.2)), read, tmp_path / "r.csv")
    unread = {"column": "smokes", "reason": "a value other than 0 and 1", "rows": 1}
    nameless = {"column": "ill", "reason": "no label", "rows": 2}
    counts = release.private["counts"]
    assert counts["set_aside_by"] == ([unread] if drop else [nameless, unread])
    assert (counts["released"], counts["suppressed"]) == (9, 2 * drop)


@pytest.mark.parametrize("drop", [False, True])
def test_what_only_rows_without_a_label_hold_is_not_told(tmp_path, drop):
    """They are set aside where a label was asked for, else suppressed."""
    given = roles(ill="label")
    ill = ["yes"] * 6 + ["no"] * 6
    kit = kit_of(["tea"] * 6 + ["milk"] * 6, given, k=5, drop_unlabelled=drop, ill=ill)
    chosen = choose(kit, Choice(max_risk=0.2))
    assert chosen.policy["features"] == ["basket=milk", "basket=tea"]
    read = source(["tea"] * 6 + ["milk"] * 2, ill=["yes"] * 6 + [None] * 2)
    release = written(kit, chosen, read, tmp_path / "r.csv")
    counts = release.private["counts"]
    assert counts["released"] == 6
    assert (counts["set_aside"], counts["suppressed"]) == ((0, 2) if drop else (2, 0))
    assert counts["set_aside_by"] == (
        [] if drop else [{"column": "ill", "reason": "no label", "rows": 2}]
    )
    (column,) = release.public["policy"]
    assert column["values"] == ["tea"]


def with_features(chosen, features, **more):
    """Edit a policy as a person might."""
    return replace(chosen, policy={**chosen.policy, "features": features, **more})


def test_labels_alone_promise_nothing_of_items_whatever_k_is(tmp_path):
    ill = ["yes"] * 6 + ["no"] * 6
    kit = kit_of(["tea"] * 6 + ["milk"] * 6, roles(ill="label"), k=5, ill=ill)
    nothing = with_features(choose(kit, Choice(max_risk=0.2)), [])
    with pytest.warns(EmptyPolicyWarning, match="no feature"):
        release = written(kit, nothing, source(["tea"] * 3, ill=ill[4:7]), tmp_path / "r.csv")
    assert sorted(release.path.read_text().split()) == ["ill", "no", "yes", "yes"]
    assert release.public["policy"] == []


@pytest.mark.filterwarnings("ignore::voile.itemsets.verbs.policies.EmptyPolicyWarning")
def test_a_release_without_a_column_is_refused(tmp_path):
    kit = kit_of(["tea"] * 6, roles(), k=5)
    nothing = with_features(choose(kit, Choice(max_risk=0.2)), [])
    with pytest.raises(InfeasibleError, match="publishes no column at all"):
        written(kit, nothing, source(["tea"] * 6), tmp_path / "r.csv")


@pytest.mark.parametrize(
    ("times", "rows", "share"),
    [(1, 16, 1.0), (2, 32, 0.0), (1, 11, 1.0), (1, 10, None), (1, 0, None)],
)
def test_the_share_that_is_alone_is_public_where_it_is_of_nobody_or_of_many(
    tmp_path, times, rows, share
):
    """Of 16 baskets no two are equal; 10 are too few to be told, as is any share of none."""
    baskets = [" ".join(w for x, w in enumerate(THINGS) if n >> x & 1) for n in range(16)]
    kit = kit_of(baskets, roles(), k=2)
    every = with_features(choose(kit, Choice(max_risk=0.5)), [f"basket={w}" for w in THINGS], k=1)
    held = pa.array((baskets * times)[:rows], pa.string())
    release = written(kit, every, source(held), tmp_path / "r.csv")
    assert release.private["counts"]["released"] == rows
    assert release.public["figures"].get("unique_share") == share


THINGS = ("tea", "milk", "salt", "rice")


def one_alone(tmp_path):
    """Write a release where two have both words, and one, alone when absences count, has one."""
    baskets = ["tea milk"] * 2 + ["tea"] + [""] * 4
    kit = kit_of(baskets, roles(), k=2)
    chosen = choose(kit, Choice(max_risk=0.5))
    return written(kit, chosen, source(baskets), tmp_path / "r.csv")


def test_few_rows_that_are_alone_are_no_public_figure(tmp_path):
    release = one_alone(tmp_path)
    assert release.private["figures"]["unique_rows"] == 1
    assert "unique_share" not in release.public["figures"]


def test_verify_says_no_to_another_promise_and_to_what_is_not_published(tmp_path):
    release = one_alone(tmp_path)
    assert all(holds is not False for _, holds in verify(release))
    asked = {**release.public["constraints"], "k": 3}
    more = replace(release, public={**release.public, "constraints": asked})
    assert [name for name, holds in verify(more) if holds is False] == [
        "at k = 3, at least so many people share any knowledge of the adversary"
    ]
    (column,) = release.public["policy"]
    fewer = {**release.public, "policy": [{**column, "values": ["tea"]}]}
    assert ("every cell contains only published values of the policy", False) in verify(
        replace(release, public=fewer)
    )
    (told,) = release.public["columns"]
    other = {**release.public, "columns": [{**told, "column": "bag"}]}
    assert list(verify(replace(release, public=other))) == [
        ("the columns are those of the manifest", False)
    ]


@pytest.mark.parametrize("rows", ["", "Pau\n"])
def test_verify_holds_no_row_to_a_promise_about_items_that_it_has_not(tmp_path, rows):
    """Where no item is published, or no row, there is nothing that one could know."""
    release = one_alone(tmp_path)
    release.path.write_text(f"town\n{rows}")
    columns = [{"column": "town", "role": "keep"}]
    public = {**release.public, "policy": [], "columns": columns}
    received = list(verify(replace(release, public=public, private=None)))
    assert False not in dict(received).values()
    assert not any("the adversary may know" in says for says, _ in received)


def test_verify_says_yes_to_a_release_of_no_rows(tmp_path):
    release = one_alone(tmp_path)
    release.path.write_text(release.path.read_text().splitlines(keepends=True)[0])
    assert False not in dict(verify(replace(release, private=None))).values()
