"""Test that each kind of data enters a ledger with a judgement or with a recorded reason."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from voile.core.errors import InfeasibleError
from voile.ledger.ledger import Ledger, create
from voile.ledger.promise import LedgerPromise


def test_a_kind_that_no_figure_bounds_is_refused_unless_a_reason_is_given(
    case: Any, tmp_path: Path
) -> None:
    key = tmp_path / "key"
    key.write_text("a key known to the tests alone")
    key.chmod(0o600)
    create(tmp_path / "l", LedgerPromise(expected_matches=1e9), key)
    how = {"ledger": tmp_path / "l", "key_file": key}
    how |= {name: x for name, x in case.options["apply"].items() if name != "key_file"}
    if case.module.judge is not None:
        case.apply(tmp_path / "r.parquet", **how)
        assert Ledger.read_file(tmp_path / "l").released_lines[0].content["alone"]["matches"] > 0
        return
    with pytest.raises(InfeasibleError, match=f"no figure bounds what {case.kind} come to"):
        case.apply(tmp_path / "r.parquet", **how)
    assert not list(tmp_path.glob("r.parquet*"))
    release = case.apply(tmp_path / "r.parquet", override="the board agreed", **how)
    (line,) = Ledger.read_file(tmp_path / "l").released_lines
    assert line.content["override"] == "the board agreed"
    assert release.public["ledger"]["line"] == line.number
