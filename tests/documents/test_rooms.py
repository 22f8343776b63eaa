"""The product's way through the module reaches every file but those that say why not."""

from __future__ import annotations

import grimp

WING = "voile.documents"
PAPER = {f"{WING}.learners.ensemble", f"{WING}.learners.selection"}
NAMED = {f"{WING}.learners.named_learners"}
"""The file that loads a learner of the paper by the name that a user gives."""
FITTING = {f"{WING}.fitting.{verb}" for verb in ("fit", "init", "review")}
CONTRACTS = (f"{WING}.module", f"{WING}.own")
"""The files that load the verbs, and pass functions to them."""
ELSEWHERE = {
    "adapters": "the user's own learners and tokenisers",
    "fitting.starter": "scripts that learn the pretrained models",
    "sanitizer": "the estimator",
    "model.start.lists": "scripts that make the lists",
    "face": "the verbs in Python",
    "module": "the contract",
    "own": "the contract of the verbs that only this module has",
}


def test_what_no_verb_imports_is_the_users_or_public():
    graph = grimp.build_graph("voile", cache_dir=None)
    modules = {one for one in graph.modules if one.startswith(f"{WING}.")}
    verbs = FITTING | {one for one in modules if one.startswith(f"{WING}.verbs")}
    for contract in CONTRACTS:
        verbs |= graph.find_modules_directly_imported_by(contract)
    reached = verbs.union(*(graph.find_upstream_modules(one) for one in verbs))
    for paper in PAPER:
        assert graph.find_modules_that_directly_import(paper) <= PAPER | NAMED, paper
    allowed = tuple(f"{WING}.{room}" for room in ELSEWHERE)
    packages = {one for one in modules if graph.find_children(one)}
    assert not {one for one in modules - reached - packages if not one.startswith(allowed)}
