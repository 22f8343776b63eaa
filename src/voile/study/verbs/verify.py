"""Check a written release of a study again: its seal, its manifest, each part by its kind."""

from __future__ import annotations

from collections.abc import Iterator

from voile.core.errors import TamperedError
from voile.keys.seal import SEAL, FileSeal, file_sha256
from voile.keys.secret import Secret
from voile.modules import find_module
from voile.release.evidence import default_place, find_evidence
from voile.release.found_values import detail_values
from voile.release.verify import MALFORMED, ReleaseCheck, as_published, check_counts
from voile.study.plan.plan import StudyPlan
from voile.study.study_release import EXPORT, OF_ATTACKS, StudyRelease
from voile.study.text.values import EARLIER, find_promised, is_allowed, search_release
from voile.study.verbs.checks import check_applied
from voile.study.verbs.evidence import settle_evidence
from voile.study.verbs.export import check_files


def verify(
    release: StudyRelease, secret: Secret | None, plan: StudyPlan | None = None
) -> Iterator[ReleaseCheck]:
    """Yield each check of a release as a sentence and its result, or None if it cannot be made.

    plan : the plan with its sources, in which the value search is repeated.
    """
    settle_evidence(release.path)
    yield from _check_seals(release, secret)
    yield from _check_attacks(release, secret)
    for name, same in check_files(release.path, release.public):
        yield ReleaseCheck(f"export/{name}: the bytes are those that the manifest names", same)
    files = [part["file"] for part in release.public["parts"].values()]
    for name, part in release.public["parts"].items():
        place = release.path / part["file"]
        own = place.is_file() and file_sha256(place) == part["sha256"]
        yield ReleaseCheck(f"{name}: the bytes are those that the manifest names", own)
        if own:
            in_place = part["kind"] == "documents" and files.count(part["file"]) > 1
            yield from _of_part(release, name, in_place=in_place)
    yield from _search_values(release, plan)


def _search_values(release: StudyRelease, plan: StudyPlan | None) -> Iterator[ReleaseCheck]:
    """Repeat the search for unreleased values, if the sources and the private folder are here."""
    if plan is None or release.private is None:
        yield ReleaseCheck("own unreleased values in the released bytes: it takes the plan", None)
        return
    try:
        check_applied(plan, release)
        export = release.path / EXPORT
        found = search_release(plan, release.part, export=export)
    except MALFORMED:
        yield ReleaseCheck("the released bytes can be searched for unreleased values", False)
        return
    stated = release.private.get("values")
    promised = find_promised(plan, found[0], release.part, export=export)
    least = 0.0 if "stated" in release.public else EARLIER
    yield ReleaseCheck(promised.sentence, is_allowed(plan, promised, least))
    if stated is not None:
        figures = release.private["figures"]
        same = stated == [detail_values(one) for one in found]
        same = same and all(figures.get(one.key) == one.value for one in found)
        yield ReleaseCheck("people with values in the released bytes are as apply found them", same)


def _check_attacks(release: StudyRelease, secret: Secret | None) -> Iterator[ReleaseCheck]:
    """Check the findings of attacks against their seals, if there are any."""
    if not release.folder.is_dir():
        return
    for name in ("", *release.public["parts"]):
        try:
            one = release.part(name) if name else release.whole
            if not default_place(one).exists():
                continue
            find_evidence(one, secret)
            same = True
        except MALFORMED:
            same = False
        yield ReleaseCheck(f"{name or 'study'}: its evidence is as attack sealed it", same)


def _of_part(release: StudyRelease, name: str, *, in_place: bool) -> Iterator[ReleaseCheck]:
    """Check one part with the checks of its kind. A text column is checked with its table."""
    part = release.part(name)
    try:
        found = [*check_counts(part), *as_published(part)]
        found += [] if in_place else find_module(part.kind).verify(part)
    except MALFORMED:
        found = [ReleaseCheck(f"it can be read as a release of {part.kind}", False)]
    yield from (ReleaseCheck(f"{name}: {one.says}", one.holds) for one in found)


def check_sealed(release: StudyRelease, secret: Secret) -> None:
    """Check that every file of a release matches its seal.

    Raises
    ------
    TamperedError : a file does not match.
    """
    settle_evidence(release.path)
    checked = (*_check_seals(release, secret), *_check_attacks(release, secret))
    if wrong := [one.says for one in checked if one.holds is not True]:
        raise TamperedError(wrong[0], where=str(release.path), instead="apply again")


def _check_seals(release: StudyRelease, secret: Secret | None) -> Iterator[ReleaseCheck]:
    """Check every file of the release and of its private folder against the seal of `apply`."""
    if not release.folder.is_dir():
        said = "the manifest is as apply wrote it: only the private folder can say so"
        yield ReleaseCheck(said, None)
        return
    try:
        seal = FileSeal.read_file(release.folder / SEAL)
    except TamperedError:
        yield ReleaseCheck("the private folder has its seal", False)
        return
    root = release.path.parent
    found = {
        str(path.relative_to(root)): file_sha256(path)
        for folder in (release.path, release.folder)
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in (SEAL, *OF_ATTACKS)
    }
    for name in sorted({*seal.files, *found}):
        same = found.get(name) == seal.files.get(name)
        yield ReleaseCheck(f"{name} is as the seal has it", same)
    if secret is None:
        yield ReleaseCheck("the seal was made under the study's secret: it is not here", None)
    else:
        yield ReleaseCheck("the seal was made under this secret", seal.holds_under(secret))
