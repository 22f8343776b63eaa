"""What a report shows, and to whom: the public sees no class's law and no count of few people."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import pytest
from tests.signals.clinic import applied, fitted, strongest

from voile.core.evidence import Curve, Evidence, Finding, Note, Rate
from voile.release.criteria import worst_figure
from voile.report import render
from voile.signals.attack.attackers import IDENTIFIED
from voile.signals.information.leakage import LEAKAGE
from voile.signals.verbs.criteria import CRITERIA
from voile.signals.verbs.report import sections

STORY = Note("The adversary overhears.")
MANY = Rate(40, 100)


def overheard(yes, no=MANY, control=None):
    """One attacker, who finds so many of two classes."""
    findings = (
        Finding("right", Rate(60, 200), baseline=Rate(120, 200), by="forest"),
        Finding("found", yes, control=control, by="forest", of="yes"),
        Finding("found", no, control=control, by="forest", of="no"),
    )
    curve = Curve("yes", "weight, overheard", "density", (0.0, 1.0), (0.25, 0.75))
    mean = Note("Forest: balanced accuracy {balanced:.3f}.", {"balanced": 0.51}, by="forest")
    notes = (Note("Messages reveal 0.1 of 1 bits."), mean)
    return Evidence(
        "single messages", "inference", STORY, findings=findings, curves=(curve,), notes=notes
    )


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    release = applied(fitted(), tmp_path_factory.mktemp("sent") / "sent.csv")

    def render_for(audience, *evidence):
        shown = sections(release, evidence, audience=audience)
        return render("Sent", shown, audience=audience, facts={})

    return render_for


MEAN, BARS = ", averaged over the classes; ", "Share of each class that forest identifies"
LAW = "weight, overheard, by class"
BALANCED = "balanced accuracy 0.51"


def test_the_public_sees_shares_of_many_and_no_class_s_law(page):
    evidence = overheard(Rate(30, 100))
    public, own = page("public", evidence), page("internal", evidence)
    for told in (MEAN, BARS, BALANCED, "30 of 100"):
        assert told in public
    assert LAW in own
    assert LAW not in public
    assert "0.75" not in public


@pytest.mark.parametrize(
    "evidence",
    [overheard(Rate(7, 100)), overheard(Rate(7, 9)), overheard(Rate(30, 100), Rate(3, 100))],
)
def test_a_count_of_few_stays_with_its_holder_also_where_a_mean_would_tell_it(page, evidence):
    public, own = page("public", evidence), page("internal", evidence)
    for told in (MEAN, BARS, BALANCED):
        assert told in own
        assert told not in public
    assert "Messages reveal 0.1 of 1 bits." in public
    for told in ("7 of 100", "7 of 9", "3 of 100"):
        assert told not in public


def test_few_people_of_the_control_leave_the_rest_of_the_sentence(page):
    public = page("public", overheard(Rate(30, 100), control=Rate(5, 50)))
    assert "35% of people from one message, averaged" in public
    assert "not in the fit" not in public
    assert BALANCED in public  # of those overheard, who are many


def test_the_strongest_is_so_of_those_who_know_most(page):
    """Another learner may find more beside known columns, and more of people not in the fit."""

    def found(attack, **by):
        rates = [(name, of, one) for name, each in by.items() for of, one in each.items()]
        findings = [
            Finding("found", rate, control=control, by=name, of=of)
            for name, of, (rate, control) in rates
        ]
        return Evidence(attack, "inference", STORY, findings=tuple(findings))

    low, mid, high = Rate(40, 100), Rate(50, 100), Rate(60, 100)
    single = found(
        "single messages",
        forest={"yes": (mid, None), "no": (mid, None)},
        boosting={"yes": (low, low), "no": (low, low)},
    )
    known = found(
        "single messages, columns known",
        forest={"yes": (mid, mid), "no": (mid, mid)},
        boosting={"yes": (mid, high), "no": (mid, high)},
    )
    public = page("public", single, known)
    assert "The strongest adversary tried (boosting) identifies the class of 40% of" in public
    assert (
        "50% of people from one message and the known columns and 60% of people from one" in public
    )
    assert "one message and the known columns, person not in the fit, averaged" in public


def test_what_a_determination_judges_is_beyond_what_is_known_without_messages():
    """People held out are heard as all others: they are no baseline. Who has a reading has all."""
    nearly = Rate(190, 200)
    single = Finding(
        IDENTIFIED, Rate(140, 200), baseline=Rate(100, 200), control=nearly, by="forest"
    )
    known = Finding(IDENTIFIED, nearly, baseline=Rate(50, 200))
    evidence = [
        Evidence("single messages", "inference", STORY, findings=(single,)),
        Evidence("known plaintext", "inference", STORY, findings=(known,)),
    ]
    figure = worst_figure("inference", CRITERIA, {}, evidence)
    assert figure is not None
    assert figure.shown == "20 percentage points"
    assert "beyond an adversary without the release" in figure.says


def test_the_headline_is_what_was_measured_on_this_release(page):
    """The fit expected other people's leakage; an attack measured this release's."""
    measured = {"bits": 0.123, "entropy": 0.72, "low": 0.101, "high": 0.145, "null": 0.02}
    plain, note = overheard(Rate(30, 100)), Note(LEAKAGE, measured)
    public = page("public", replace(plain, notes=(note, *plain.notes)))
    assert public.count("95% interval 0.1 to 0.15") == 2  # two digits, outwards, in the note too
    assert "0.12 bits" in public
    assert "Messages reveal 0.12 of 0.72 bits" in public
    assert "measured on this release; the fit predicted" in public
    assert "of the bits that the unprotected reading reveals; the fit predicted" in public
    assert "predicted by the fit" in page("public", plain)
    earlier = Note("{bits:.3f} of {entropy:.3f}, {low:.3f} to {high:.3f}, {null:.3f}.", measured)
    assert "0.12 bits" in page("public", replace(plain, notes=(earlier,)))


def test_what_was_measured_stands_before_what_the_fit_expected(page):
    """The public report has no section that only says that another has more."""
    evidence = overheard(Rate(30, 100))
    public, own = page("public", evidence), page("internal", evidence)
    assert public.index('id="inference"') < public.index('id="frontier"')
    assert 'id="overheard"' in own
    assert 'id="overheard"' not in public


RUN = """
import sys
from voile.cli.run import run
assert run(sys.argv[1:]) == 0
print(*(name for name in ("sklearn", "numba") if name in sys.modules))
"""


@pytest.mark.whole
@pytest.mark.parametrize(
    "words",
    [
        "report {}/sent.csv --out {}/public.html",
        "signals choose {}/kit --policy 0 --out {}/policy.toml",
    ],
)
def test_report_and_choose_import_no_learner_and_no_kernel(tmp_path, words):
    kit = fitted()
    kit.save(tmp_path / "kit")
    applied(kit, tmp_path / "sent.csv", chosen=strongest(kit))
    command = [sys.executable, "-c", RUN, *words.replace("{}", str(tmp_path)).split()]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
