"""Enter a release of a table into a ledger: determine who is left out, and evaluate the release."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from voile.core.errors import RequestError
from voile.data import Source
from voile.keys.pseudonyms import purpose_of
from voile.ledger.judgement import Judge, ReleaseJudgement
from voile.ledger.ledger import Ledger, LedgerKeys
from voile.tables.policies.family import AnyPolicy
from voile.tables.recoding.plan import find_pseudonym_column
from voile.tables.verbs.content import TablesContent
from voile.tables.verbs.following import FollowedRows, ReleaseArchive
from voile.tables.verbs.judging import ReleaseCase, check_counted
from voile.tables.verbs.options import ApplyOptions


def entering(
    content: TablesContent, policy: AnyPolicy, source: Source, options: ApplyOptions
) -> tuple[Judge | None, NDArray[np.int64]]:
    """Return the ledger's evaluation of the release, or None, and the kept-back rows.

    The rows are numbers in the source, which is read once. Memory: O(rows) for the kept columns.
    """
    nobody = np.zeros(0, np.int64)
    if options.ledger is None:
        if options.hold_back or options.releases:
            raise RequestError(
                "--hold-back and --releases need a ledger", instead="name it with --ledger"
            )
        return None, nobody
    if not options.recount:
        check_counted(content, source)
    ledger = Ledger.read_file(options.ledger)
    keys = LedgerKeys.of(options.key_file, ledger.id)
    case = ReleaseCase(
        content,
        policy,
        FollowedRows.read_rows(content, source, keys).group_rows(content, policy),
        ReleaseArchive(options.releases),
        None if options.no_pseudonyms else space_of(content, options.recipient, keys),
        options.keep_order,
        options.hold_back,
        options.marginals,
    )
    pasts = case.pasts(ledger, keys, options.recipient) if options.hold_back else ()
    left_out = case.left_out(ledger, pasts)
    assert case.rows is not None
    numbers = [case.rows.number[mask] for mask in left_out.values()]

    known = ledger.erased_hashes

    def judge(ledger: Ledger, keys: LedgerKeys) -> ReleaseJudgement:
        if ledger.erased_hashes != known:
            raise RequestError("somebody was erased meanwhile", instead="run it again")
        return case.judge_release(ledger, keys, left_out)

    return judge, np.concatenate([nobody, *numbers])


def space_of(content: TablesContent, recipient: str | None, keys: LedgerKeys) -> str | None:
    """Return the keyed hash of the pseudonyms' space, or None if a release has no pseudonyms."""
    if find_pseudonym_column(content.roles) is None:
        return None
    return keys.hash("pseudonyms", purpose_of(recipient))
