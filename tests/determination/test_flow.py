"""From a context to a verdict, signed by one or two people, and verified by a third party."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.contracts.tables import ordinary, roles
from tests.determination.conftest import DAY, NOON

import voile.tables as tables
from voile.core.errors import RequestError, TamperedError
from voile.determination import Verified, determine, sign, verify
from voile.determination.context import Context
from voile.determination.folder import signature_of
from voile.determination.judging import LEDGER_IS_PRIVATE
from voile.face.release import Release
from voile.keys.seal import file_sha256
from voile.ledger.ledger import Ledger, create
from voile.ledger.promise import LedgerPromise
from voile.opening import open_release

CONDITIONS = "approve with conditions"
Make = Callable[..., dict[str, Any]]


@pytest.fixture
def folder(release: Release, context: Make, tmp_path: Path) -> Path:
    """Determine the release, for two signers."""
    out = tmp_path / "determination"
    determine(release, context(signers=2), out, pdf=False, on=DAY)
    return out


@pytest.fixture
def signed(folder: Path, keys: Path) -> Path:
    for hours, name in enumerate("ab"):
        _sign(folder, CONDITIONS, name, keys, hours=hours)
    return folder


def _sign(folder: Path, decision: Any, name: str, keys: Path, hours: int = 9, **more: Any) -> Path:
    now = NOON + timedelta(hours=hours)
    return sign(folder, decision, signer=f"{name}@x.org", key=keys / name, now=now, **more)


def _verify(folder: Path, keys: Path, days: int = 2, **more: Any) -> Verified:
    given = {"signers": keys / "allowed", **more}
    return verify(folder, now=NOON + timedelta(days=days), **given)


def _failed(found: Verified) -> str:
    return "\n".join(check.says for check in found.checks if check.holds is False)


def test_two_signers_approve_and_a_third_party_verifies(signed: Path, keys: Path) -> None:
    found = _verify(signed, keys)
    assert not _failed(found)
    assert found.holds
    assert found.says == "approved with conditions by a@x.org and b@x.org until 2031-04-30"


def test_the_release_is_the_one_judged(signed: Path, keys: Path, release: Release) -> None:
    found = _verify(signed, keys, release=str(release.path))
    assert found.holds
    copy = signed.parent / "release.csv"
    shutil.copyfile(str(release.path), copy)
    assert _verify(signed, keys).holds  # a file without its manifest may be anybody's
    shutil.copyfile(f"{release.path}.manifest.json", f"{copy}.manifest.json")
    assert _verify(signed, keys).holds
    copy.write_bytes(copy.read_bytes().replace(b",", b";", 1))
    assert "release: the bytes are those that the manifest names" in _failed(_verify(signed, keys))


def test_one_signer_of_two_is_too_few(folder: Path, keys: Path) -> None:
    _sign(folder, CONDITIONS, "a", keys)
    found = _verify(folder, keys)
    assert (found.says, found.holds) == ("approved by 1 of 2 signers", False)


def test_unsigned_it_is_intact_and_does_not_hold(folder: Path, keys: Path) -> None:
    found = _verify(folder, keys)
    assert (found.says, found.holds) == ("intact; not signed", False)


def test_without_an_anchor_no_signer_is_confirmed(signed: Path, keys: Path) -> None:
    found = _verify(signed, keys, signers=None)
    assert not found.holds
    assert found.says.startswith("intact; signer not confirmed: SHA256:")
    words = ["ssh-keygen", "-l", "-f", str(keys / "a.pub")]
    shown = subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()[1]
    assert shown in found.says


def test_a_key_that_is_not_named_signs_for_nobody(folder: Path, keys: Path) -> None:
    now = NOON
    sign(folder, CONDITIONS, signer="a@x.org", key=keys / "outsider", now=now)
    found = _verify(folder, keys)
    assert not found.holds
    assert "statements/01.json is signed by a@x.org" in _failed(found)


def test_one_key_does_not_sign_for_two(folder: Path, keys: Path, tmp_path: Path) -> None:
    public = (keys / "a.pub").read_text()
    (tmp_path / "allowed").write_text(f"a@x.org {public}b@x.org {public}")
    for hours, name in enumerate("ab"):
        now = NOON + timedelta(hours=hours)
        sign(folder, CONDITIONS, signer=f"{name}@x.org", key=keys / "a", now=now)
    found = _verify(folder, keys, signers=tmp_path / "allowed")
    assert "signed with a key of its signer's own" in _failed(found)


@pytest.mark.parametrize("preparer", ["a@x.org", "A@X.org"])
def test_who_prepared_a_release_cannot_approve_it(
    release: Release, context: Make, keys: Path, tmp_path: Path, preparer: str
) -> None:
    out = tmp_path / "determination"
    determine(release, context(signers=1, prepared_by=preparer), out, pdf=False, on=DAY)
    with pytest.raises(RequestError, match=r"that this signer prepared; let another person"):
        _sign(out, CONDITIONS, "a", keys)
    assert not _verify(out, keys).holds
    _sign(out, CONDITIONS, "b", keys)
    assert _verify(out, keys).holds


def test_verify_does_not_count_an_approval_by_who_prepared_it(
    release: Release, context: Make, keys: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "determination"
    determine(release, context(signers=1, prepared_by="a@x.org"), out, pdf=False, on=DAY)
    with monkeypatch.context() as patched:  # another program signs without this check
        patched.setattr(Context, "is_prepared_by", lambda *_: False)
        _sign(out, CONDITIONS, "a", keys)
    found = _verify(out, keys)
    assert not found.holds
    assert "approves a release that this signer prepared" in _failed(found)


def test_it_expires(signed: Path, keys: Path) -> None:
    days = (date(2031, 4, 30) - DAY).days
    assert _verify(signed, keys, days).holds
    found = _verify(signed, keys, days + 1)
    assert (found.says, found.holds) == ("expired: it held until 2031-04-30", False)


def test_a_renewal_holds_once_both_have_signed_it(signed: Path, keys: Path) -> None:
    later, days = date(2032, 4, 30), (date(2032, 4, 30) - DAY).days
    _sign(signed, "renew", "a", keys, until=later)
    assert _verify(signed, keys).says.endswith("until 2031-04-30")
    assert not _verify(signed, keys, days).holds
    _sign(signed, "renew", "b", keys, hours=10, until=later)
    assert _verify(signed, keys, days).says.endswith("until 2032-04-30")
    assert not _verify(signed, keys, days + 1).holds


@pytest.mark.parametrize(("decision", "says"), [("withdraw", "withdrawn"), ("refuse", "refused")])
def test_an_approval_does_not_survive_what_ends_it(
    signed: Path, keys: Path, decision: str, says: str
) -> None:
    _sign(signed, decision, "b", keys, reason="A new register is for sale")
    found = _verify(signed, keys)
    assert (found.says, found.holds) == (f"{says} by b@x.org on 2030-05-01", False)
    with pytest.raises(RequestError, match="which nothing follows"):
        _sign(signed, CONDITIONS, "a", keys, hours=11)


@pytest.mark.parametrize(
    ("decision", "more", "says"),
    [
        ("approve", {}, "without conditions, but the criteria are met only with conditions"),
        ("withdraw", {}, "withdraws an approval that this signer did not give"),
        ("renew", {"until": date(2032, 1, 1)}, "does not extend an approval"),
        (CONDITIONS, {"until": date(2032, 1, 1)}, "holds longer than the context says"),
        (CONDITIONS, {"until": date(2030, 4, 30)}, "has a last day that is past"),
        (
            CONDITIONS,
            {"hours": -48},
            "was made before the statement or determination that it follows",
        ),
    ],
)
def test_a_decision_that_may_not_be_made_is_refused(
    folder: Path, keys: Path, decision: str, more: dict[str, Any], says: str
) -> None:
    with pytest.raises(RequestError, match=says):
        _sign(folder, decision, "a", keys, **more)
    assert not (folder / "statements").exists()


def test_what_does_not_meet_is_not_approved(
    release: Release, context: Make, tmp_path: Path, keys: Path
) -> None:
    given = context({"joint-risk": {"at_most": 0.1, "source": "The officer"}})
    one = determine(release, given, tmp_path / "d", pdf=False, on=DAY)
    assert one.verdict == "does not meet"
    with pytest.raises(RequestError, match="does not meet its criteria"):
        _sign(tmp_path / "d", CONDITIONS, "a", keys)
    _sign(tmp_path / "d", "refuse", "a", keys)
    assert _verify(tmp_path / "d", keys).says == "refused by a@x.org on 2030-05-01"


@pytest.fixture(scope="module")
def of_ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Release twice under a ledger: first.csv, later.csv, l.ledger and its secret; copies of l."""
    folder = tmp_path_factory.mktemp("ledger")
    secret, ledger = folder / "secret", folder / "l.ledger"
    secret.touch(mode=0o600)
    secret.write_text("5" * 64)
    create(ledger, LedgerPromise(joint_risk=1.0), secret)
    kit = tables.fit(ordinary(), roles=roles(), seed=1, promise="row")
    for name, way in (("first", {"max_loss": 0.9}), ("later", {"max_loss": 0.3})):
        out = folder / f"{name}.csv"
        kit.apply(kit.choose(**way), ordinary(), out, ledger=ledger, key_file=secret)
        for one in (ledger, folder / "secret.ledgers"):
            shutil.copyfile(one, folder / f"{name}-{one.name}")
    return folder


def _joint_of(one: Any) -> Any:
    return next(found for found in one.criteria if found.name == "joint-risk")


def test_a_release_of_a_ledger_is_not_said_to_have_none(
    keys: Path, context: Make, of_ledger: Path, tmp_path: Path
) -> None:
    release = open_release(of_ledger / "first.csv")
    one = determine(release, context(), tmp_path / "d", pdf=False, on=DAY)
    assert _joint_of(one).verdict == "meets with conditions"
    assert _joint_of(one).reason == LEDGER_IS_PRIVATE
    assert "joint-risk" not in _failed(_verify(tmp_path / "d", keys))


@pytest.fixture
def at_first(of_ledger: Path, tmp_path: Path) -> Path:
    """Put release, ledger and secret back to when the first release was the last."""
    names = {"first.csv": "first.csv", "first.csv.manifest.json": "first.csv.manifest.json"}
    names |= {"first-l.ledger": "l.ledger", "first-secret.ledgers": "secret.ledgers"}
    for here, there in {**names, "secret": "secret"}.items():
        shutil.copy(of_ledger / here, tmp_path / there)
    (tmp_path / "secret").chmod(0o600)
    return tmp_path


def test_the_joint_risk_of_a_ledger_is_stated_attested_and_checked_by_its_holder(
    keys: Path, context: Make, of_ledger: Path, at_first: Path
) -> None:
    here = {"ledger": at_first / "l.ledger", "key_file": at_first / "secret"}
    release, out = open_release(at_first / "first.csv"), at_first / "d"
    unmeasured = {"accept": "The recipient knows nobody"}
    given = context(
        {
            **dict.fromkeys(("singling-out", "inference", "kept-columns"), unmeasured),
            "joint-risk": {"at_most": 0.9, "source": "The privacy officer"},
        }
    )
    one = determine(release, given, out, pdf=False, on=DAY, **here)
    joint = _joint_of(one)
    assert joint.verdict == "meets"
    [line] = Ledger.read_file(here["ledger"]).released_lines
    assert joint.figure.most == line.content["joint"]["relative"] < 0.9
    _sign(out, CONDITIONS, "a", keys, conditions=["No copy leaves the institute"])
    statement = (out / "statements" / "01.json").read_text()
    assert f"joint-risk: {joint.figure.shown} at most, by the ledger" in statement
    assert _verify(out, keys).holds  # a third party has no ledger: not checked, and said so
    unchecked = [x.says for x in _verify(out, keys).checks if x.holds is None]
    assert any("the figure is the ledger's" in says for says in unchecked)
    assert _verify(out, keys, **here).holds
    now = {"ledger": of_ledger / "l.ledger", "key_file": of_ledger / "secret"}
    assert "not above the one stated" in _failed(_verify(out, keys, **now))  # one more is out


def test_a_joint_risk_over_its_threshold_does_not_meet(
    context: Make, of_ledger: Path, tmp_path: Path
) -> None:
    given = context({"joint-risk": {"at_most": 0.0001, "source": "The privacy officer"}})
    now = {"ledger": of_ledger / "l.ledger", "key_file": of_ledger / "secret"}
    release = open_release(of_ledger / "first.csv")
    one = determine(release, given, tmp_path / "d", pdf=False, on=DAY, **now)
    assert (_joint_of(one).verdict, _joint_of(one).reason) == (
        "does not meet",
        "over the threshold",
    )


def test_a_ledger_that_the_release_is_not_in_is_refused(
    context: Make, at_first: Path, tmp_path: Path
) -> None:
    now = {"ledger": at_first / "other.ledger", "key_file": at_first / "secret"}
    create(now["ledger"], LedgerPromise(joint_risk=1.0), now["key_file"])
    release = open_release(at_first / "first.csv")
    with pytest.raises(RequestError, match="the release is not in this ledger"):
        determine(release, context(), tmp_path / "d", pdf=False, on=DAY, **now)
    assert not (tmp_path / "d").exists()


def test_a_signed_determination_is_not_replaced(
    signed: Path, release: Release, context: Make
) -> None:
    with pytest.raises(RequestError, match="which voile did not write"):
        determine(release, context(), signed, pdf=False, on=DAY, force=True)


def test_a_release_changed_before_it_is_judged_is_refused(
    release: Release, context: Make, tmp_path: Path
) -> None:
    copy = tmp_path / "release.csv"
    shutil.copyfile(str(release.path), copy)
    shutil.copyfile(f"{release.path}.manifest.json", f"{copy}.manifest.json")
    copy.write_bytes(copy.read_bytes() + b"\n")
    with pytest.raises(TamperedError, match="not those its manifest names"):
        determine(open_release(copy), context(), tmp_path / "d", pdf=False, on=DAY)
    assert not (tmp_path / "d").exists()


def test_any_byte_that_changes_is_named(signed: Path, keys: Path) -> None:
    """Flip one bit at several places of every file, and cut every file by a byte."""
    assert _verify(signed, keys).holds
    for path in sorted(path for path in signed.rglob("*") if path.is_file()):
        raw = path.read_bytes()
        for place in {0, 1, len(raw) // 3, len(raw) // 2, len(raw) - 2, len(raw) - 1}:
            for changed in (raw[:place] + bytes([raw[place] ^ 1]) + raw[place + 1 :], raw[:place]):
                path.write_bytes(changed)
                found = _verify(signed, keys)
                assert not found.holds
                assert path.name in _failed(found), (path.name, place)
        path.write_bytes(raw)


def test_a_file_that_is_added_or_taken_away_is_named(signed: Path, keys: Path) -> None:
    (signed / "annex.html").write_text("more")
    assert "annex.html is in files.json" in _failed(_verify(signed, keys)).splitlines()
    (signed / "annex.html").unlink()
    (signed / "statements" / "note.txt").write_text("more")
    assert "statements/note.txt" in _failed(_verify(signed, keys))
    (signed / "statements" / "note.txt").unlink()
    (signed / "statements" / "01.json.sig").unlink()
    assert "statements/01.json.sig" in _failed(_verify(signed, keys))


def test_statements_cut_off_the_end_are_noticed_by_a_hash_that_was_given(
    signed: Path, keys: Path
) -> None:
    """Whoever has the hash of the withdrawal, or of any later statement, sees that it is gone."""
    withdrawal = _sign(signed, "withdraw", "b", keys, reason="A new register is for sale")
    last = file_sha256(withdrawal)
    assert _verify(signed, keys, last=last).says.startswith("withdrawn by b@x.org")
    for path in (withdrawal, signature_of(withdrawal)):
        path.unlink()
    assert _verify(signed, keys).holds  # a whole chain, but shorter
    cut = _verify(signed, keys, last=last)
    assert not cut.holds
    assert "the statement of the hash given is in the chain" in _failed(cut)


def test_a_statement_taken_out_of_the_chain_is_noticed(signed: Path, keys: Path) -> None:
    for name in ("01.json", "01.json.sig"):
        (signed / "statements" / name).unlink()
    assert "does not follow the statement before it" in _failed(_verify(signed, keys))


def test_an_inner_import_hides_no_function() -> None:
    code = (
        "import voile.determination.of_study, voile.determination as own; "
        "assert all(callable(getattr(own, name)) for name in own.__all__)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
