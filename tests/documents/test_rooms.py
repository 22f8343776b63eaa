"""The product's way through the wing reaches every module but those that say why not."""

from __future__ import annotations

import grimp

WING = "voile.documents"
ELSEWHERE = {
    "paper": "the paper's own",
    "adapters": "the user's own learners and tokenisers",
    "sanitizer": "the estimator",
    "start": "proposals without annotation",
    "face": "the verbs in Python",
    "wing": "the contract",
    "text.formats": "loaded by their names",
    "learners": "loaded by their names",
}


def test_what_no_verb_imports_is_the_papers_the_users_or_public():
    graph = grimp.build_graph("voile", cache_dir=None)
    modules = {one for one in graph.modules if one.startswith(f"{WING}.")}
    verbs = {one for one in modules if one.startswith(f"{WING}.verbs")}
    reached = verbs.union(*(graph.find_upstream_modules(one) for one in verbs))
    paper = {one for one in reached if one.startswith(f"{WING}.paper.")}
    assert not paper
    allowed = tuple(f"{WING}.{room}" for room in ELSEWHERE)
    packages = {one for one in modules if graph.find_children(one)}
    assert not {one for one in modules - reached - packages if not one.startswith(allowed)}
