"""The product's way through the module reaches every file but those that say why not."""

from __future__ import annotations

import grimp

WING = "voile.documents"
NAMED = {f"{WING}.learning.named_learners", f"{WING}.learning.saved_classifiers"}
"""The files that load a learner or a classifier of the paper by the name that a user gives."""
ELSEWHERE = {
    "paper": "the paper's own",
    "adapters": "the user's own learners and tokenisers",
    "sanitizer": "the estimator",
    "start": "proposals without annotation",
    "face": "the verbs in Python",
    "module": "the contract",
}


def test_what_no_verb_imports_is_the_papers_the_users_or_public():
    graph = grimp.build_graph("voile", cache_dir=None)
    modules = {one for one in graph.modules if one.startswith(f"{WING}.")}
    verbs = {one for one in modules if one.startswith(f"{WING}.verbs")}
    reached = verbs.union(*(graph.find_upstream_modules(one) for one in verbs))
    for paper in (one for one in reached if one.startswith(f"{WING}.paper.")):
        importers = graph.find_modules_that_directly_import(paper)
        assert {one for one in importers if not one.startswith(f"{WING}.paper")} <= NAMED, paper
    allowed = tuple(f"{WING}.{room}" for room in ELSEWHERE)
    packages = {one for one in modules if graph.find_children(one)}
    assert not {one for one in modules - reached - packages if not one.startswith(allowed)}
