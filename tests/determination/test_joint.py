"""Joint risk in a determination: of all releases that the recipient may come to have."""

from __future__ import annotations

import pytest
from tests.ledger.conftest import INTENT

from voile.determination.joint import joint_figure
from voile.ledger.audience import LedgerAudience
from voile.ledger.ledger import create, open_ledger
from voile.ledger.promise import LedgerPromise


@pytest.mark.parametrize(("apart", "most"), [((), 0.3), ((("Site A", "Site B"),), 0.2)])
def test_what_went_to_a_recipient_apart_does_not_raise_it(apart, most, tmp_path):
    key = tmp_path / "key"
    key.write_text("a key known to the tests alone")
    key.chmod(0o600)
    create(tmp_path / "l", LedgerPromise(joint_risk=1.0), key, audience=LedgerAudience(apart))
    with open_ledger(tmp_path / "l", key) as opened:
        for name, recipient, risk in (("a", "Site A", 0.1), ("b", "Site B", 0.3), ("c", None, 0.2)):
            named = opened.ledger.audience.name_of(recipient)
            to = {} if named is None else {"recipient": named}
            joint = {"matches": 1.0, "relative": risk}
            opened.append("intent", {**INTENT, "manifest": name * 64, "joint": joint, **to})
    assert joint_figure("a" * 64, tmp_path / "l", key).most == most
