"""Write a context template, which runs unchanged but cannot be approved before it is filled in."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date, timedelta

from voile.determination.holder_statements import TO_DO
from voile.determination.inventory import list_treatments
from voile.determination.subject import JudgedRelease, criteria_of
from voile.release.criteria import NAMES, TITLES

HEAD = f"""\
# The context of a determination. Write each text that begins with {TO_DO}, and check each choice.
# Nobody can approve the determination before.
recipient = "{TO_DO}: the recipient of the release"
purpose = "{TO_DO}: the purpose of the recipient"
legal_basis = "{TO_DO}: as counsel states it"
prepared_by = "{TO_DO}: who prepared the release, as allowed_signers names them; cannot approve it"
expires = {{expires}}
renewal = ["a new release of these people", "a new public register of these people"]
signers = 2  # 1 or 2

[decisions]
policy = "{TO_DO}: the person who chose the policy, and the reason"
thresholds = "{TO_DO}: the source of the thresholds, and the reason"

[attacker]
assumed = "{TO_DO}: the adversary, and the adversary's knowledge"
why = "{TO_DO}: the reason why no adversary is stronger"

[controls]
contract = "{TO_DO}: the acts that the contract forbids"
access = "{TO_DO}: the people with access, and the place"
audit = "{TO_DO}: the logged events, and the reader of the log"

[sensitivity]  # each low, medium or high; the page shows the resulting threshold
controls = "low"  # mitigating controls of the recipient
motives = "medium"  # motives and capacity to identify people
invasion = "high"  # invasion of privacy if somebody is identified
why = "{TO_DO}: the reason for each of the three"

[dpia]
reference = "{TO_DO}: number or title of the impact assessment"
dated = {{made}}
place = "{TO_DO}: URL, or name of the file next to this one"
# sha256 = "..."  # of the file, 64 hexadecimal digits

[[review]]  # one table for each review to come
due = {{review}}
what = "{TO_DO}: the subject of the review"
owner = "{TO_DO}: the person in charge"

[expert]
name = "{TO_DO}: name"
credentials = "{TO_DO}: training, posts, experience"
attestation = "{TO_DO}: the attestation, in the expert's own words"

# [intruder_test]  # of people who tried to identify somebody: without it the page reports none
# intruders = ["the intruders"]
# sources = ["used registers, web pages, knowledge"]
# started = {{made}}
# hours = 40
# claims = 0
# confirmed = 0
# checked_by = "the person who compared the claims with the identities"

"""


def write_template(subject: JudgedRelease, *, today: date) -> str:
    """Return a context template for a release, with its columns and criteria, as TOML.

    Guarantee: `determine` accepts the template unchanged. Its verdict then depends on measured
    figures alone.
    """
    head = HEAD.format(
        expires=(today + timedelta(days=365)).isoformat(),
        review=(today + timedelta(days=182)).isoformat(),
        made=today.isoformat(),
    )
    return head + "\n".join([*_thresholds(subject), *_reasons(subject)]) + "\n"


def _thresholds(subject: JudgedRelease) -> Iterator[str]:
    asked = {one.criterion for one in criteria_of(subject.kind)} | {"re-identification"}
    yield "# The questions. `accept` with a sentence waives one that nobody can measure."
    for name in NAMES:
        if name not in asked:
            continue
        yield f"[thresholds.{name}]  # {TITLES[name].lower()}"
        if name == "re-identification":
            yield 'standard = "ema-0070"  # or "k-11", or at_most with its source'
        else:
            yield f'at_most = 0.09\nsource = "{TO_DO}: who sets it"'
        yield ""
    if "joint-risk" not in asked:
        yield "# [thresholds.joint-risk]  # with other releases: give --ledger, or the reason"
        yield '# accept = "why no other release of these people matters"\n'


def _reasons(subject: JudgedRelease) -> Iterator[str]:
    yield "[reasons]  # why each source column is treated as it is"
    for one in list_treatments(subject.parts(), {}):
        treatment = f"{TO_DO}: why this column is {one.treatment} (role {one.role})"
        yield f"{json.dumps(one.name)} = {json.dumps(treatment)}"
