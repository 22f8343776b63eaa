"""One policy of a frontier: the one that was asked for, and what its file then says of it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pytest

from voile.core.errors import InfeasibleError, RequestError
from voile.core.frontier import Frontier
from voile.release.choice import STRICT, Choice, Chosen, read_fields
from voile.release.kit import StoredKit

RISK, LOSS = [0.1, 0.2, 0.4], [0.9, 0.5, 0.1]
RISKS = {"max_risk": np.array([0.05, 0.1, 0.5]), "relative_risk": np.array(RISK)}
KIT = StoredKit("tables", "private", {"policies": 3})


@dataclass(frozen=True)
class Cut:
    """A policy that is one number; the kit's are 10, 11 and 12."""

    at: int

    def to_data(self) -> Mapping[str, int]:
        return {"at": self.at}


class Cuts:
    """A kit of three such policies."""

    frontier = Frontier.of(RISK, LOSS, np.arange(3))
    risks = RISKS

    def policy(self, number: int) -> Cut:
        return Cut(range(10, 13)[number])

    def figures_of(self, number: int) -> Mapping[str, float]:
        return {"risk": RISK[number]}


@pytest.mark.parametrize(
    ("asked", "number"),
    [
        ({"policy": 0}, 0),
        ({"policy": 2}, 2),
        ({"max_risk": 0.05}, 0),
        ({"max_risk": 0.49}, 1),
        ({"max_risk": 0.5}, 2),
        ({"max_relative_risk": 0.3}, 1),
        ({"max_relative_risk": 0.2 - 1e-12}, 1),  # a sum's last bits
        ({"max_loss": 0.5}, 1),
        ({"max_loss": 0.2}, 2),
        ({"knee": True}, Cuts.frontier.knee().index),
        ({"least_loss": True}, 2),
    ],
)
def test_the_policy_that_was_asked_for_is_picked(asked, number):
    assert Choice(**asked).among(Cuts.frontier, RISKS) == number


@pytest.mark.parametrize("number", [-1, 3])
def test_a_number_that_there_is_not_is_refused(number):
    with pytest.raises(RequestError, match=f"no policy {number}; give a number from 0 to 2"):
        Choice(policy=number).among(Cuts.frontier, RISKS)


def test_a_named_policy_is_beaten_where_the_kit_names_any():
    choice = Choice(beats="safe-harbor")
    assert choice.among(Cuts.frontier, RISKS, {"safe-harbor": 1}.__getitem__) == 1
    with pytest.raises(RequestError, match="there is no policy named safe-harbor"):
        choice.among(Cuts.frontier, RISKS)


def test_no_policy_within_the_limit_is_told_with_the_least_there_is():
    with pytest.raises(InfeasibleError, match=r"no policy has a max risk of at most 0\.01"):
        Choice(max_risk=0.01).among(Cuts.frontier, RISKS)


@pytest.mark.parametrize(
    ("asked", "known", "instead"),
    [
        ("max_risk", "relative_risk", "--max-relative-risk"),
        ("max_relative_risk", "max_risk", "--max-risk"),
    ],
)
def test_a_risk_that_the_wing_does_not_know_is_refused(asked, known, instead):
    risks = {known: RISKS[known]}
    with pytest.raises(RequestError, match=f"choose with {instead}$"):
        Choice(**{asked: 0.5}).among(Cuts.frontier, risks)


@pytest.mark.parametrize("way", ["max_risk", "max_relative_risk", "max_loss"])
def test_both_ends_of_a_share_may_be_asked_for(way):
    for share in (0.0, 1.0):
        assert Choice(**{way: share}).to_data() == {way: share}


def test_a_chosen_policy_has_its_kit_and_figures():
    chosen = Chosen.from_kit(KIT, Cuts(), Choice(max_risk=0.1))
    assert (chosen.kind, chosen.kit, chosen.number) == ("tables", KIT.id, 1)
    assert (chosen.figures, chosen.policy, chosen.edited) == ({"risk": 0.2}, {"at": 11}, False)


@pytest.mark.parametrize(
    ("number", "policy", "found", "edited"),
    [
        (1, 11, 1, False),  # as it was chosen
        (1, 12, 2, True),  # into another of the kit
        (1, 99, None, True),  # into one that the kit has not
        (None, 11, 1, False),  # its number left out
        (7, 11, 1, True),  # a number that the kit has not
        (7, 99, None, True),
    ],
)
def test_what_a_person_edited_is_told_and_no_figure_is_of_another_policy(
    number, policy, found, edited
):
    was = Chosen("tables", KIT.id, number, Choice(max_risk=0.1), {"risk": 0.0}, {})
    read = was.as_read(Cuts(), Cut(policy))
    assert (read.number, read.policy, read.edited) == (found, {"at": policy}, edited)
    assert read.figures == ({} if found is None else {"risk": RISK[found]})
    assert dataclasses.replace(was, edited=True).as_read(Cuts(), Cut(policy)).edited
    assert read.how.endswith("then edited") == edited


def test_of_equal_policies_the_one_that_was_chosen_stays():
    class Twice(Cuts):
        def policy(self, number: int) -> Cut:
            return Cut((10, 11, 11)[number])

    was = Chosen("tables", KIT.id, 2, Choice(max_risk=0.5), {}, {})
    read = was.as_read(Twice(), Cut(11))
    assert (read.number, read.edited, read.figures) == (2, False, {"risk": RISK[2]})


def test_the_order_in_which_facts_were_found_names_no_other_kit():
    facts = {"policies": 3, "name": "é"}
    again = dict(reversed(facts.items()))
    assert StoredKit("tables", "private", facts).id == StoredKit("tables", "private", again).id


@pytest.mark.parametrize(("flag", "said"), [("knee", "at the knee"), ("least_loss", "least loss")])
def test_a_way_without_a_number_is_given_or_not(flag, said):
    choice = Choice(**{flag: True})
    assert (str(choice), choice.to_data()) == (said, {flag: True})
    assert Choice.from_data({flag: True}) == choice
    with pytest.raises(RequestError, match="exactly one"):
        Choice(**{flag: True}, policy=1)


def test_a_choice_is_read_from_what_a_user_gives():
    assert Choice.parse({"policy": np.int64(2)}) == Choice(policy=2)
    assert Choice.parse({"max_risk": "0.5"}) == Choice(max_risk=0.5)
    with pytest.raises(RequestError, match="max_rsk"):
        Choice.parse({"max_rsk": 0.1})


@dataclass(frozen=True)
class Fields:
    """What the file of some policy may say."""

    passes: int
    share: float = 0.5
    __pydantic_config__ = STRICT


def test_what_is_wrong_with_a_policy_s_fields_is_said_all_at_once():
    assert read_fields(Fields, {"passes": 2}) == Fields(2)
    with pytest.raises(RequestError) as refused:
        read_fields(Fields, {"share": "SECRET", "tea": 1})
    assert str(refused.value).startswith(
        "policy: passes: is absent; share: must be a number; tea: is not known here"
    )
    for passes in ("SECRET", 1.5):
        with pytest.raises(RequestError, match="passes: must be a whole number"):
            read_fields(Fields, {"passes": passes})


def test_a_chosen_policy_is_saved_and_shows_its_figures(tmp_path):
    chosen = Chosen.from_kit(KIT, Cuts(), Choice(max_risk=0.1))
    path = chosen.save(tmp_path / "policy.toml")
    assert (path, Chosen.read(path)) == (tmp_path / "policy.toml", chosen)
    with pytest.raises(RequestError, match="exists"):
        chosen.save(path)
    chosen.save(path, force=True)
    shown = dataclasses.replace(chosen, figures={"risk": 0.1234, "own_figure": 7.0})._repr_html_()
    assert "Policy 1 (max risk 0.1)" in shown
    assert "0.12" in shown
    assert "own figure" not in shown
    unknown = dataclasses.replace(chosen, number=None, edited=True)._repr_html_()
    assert "An edited policy (max risk 0.1, then edited)" in unknown
