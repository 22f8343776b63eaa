"""The verb `voile documents accept`, which proves by reading that few identifiers are left."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack, closing
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, TypeAlias

from voile.core.errors import DamagedError, RequestError, TamperedError, VoileError
from voile.data import Source
from voile.data.files import outputs
from voile.data.files.atomic import settle
from voile.data.files.locks import hold_lock
from voile.documents.acceptance.certificate import AcceptanceCertificate, certificate
from voile.documents.acceptance.kept import KeptTokens
from voile.documents.acceptance.plan import AcceptanceGoal
from voile.documents.acceptance.reading import AcceptanceReading, AcceptanceVerdict, DueTokens
from voile.documents.acceptance.screens import identifiers
from voile.documents.model.quantities import ACCEPTANCE
from voile.documents.options import ApplyOptions
from voile.documents.own_options import AcceptOptions
from voile.documents.replacements.names import Language
from voile.documents.replacements.published import RemovalReplacer
from voile.documents.reviewing.line import types_on_page
from voile.documents.reviewing.store import ReviewStore
from voile.documents.verbs import acceptance_answers
from voile.documents.verbs.acceptance_folder import LINES, STATE, ReadingCourse, ReadingState
from voile.documents.verbs.acceptance_scene import AcceptanceScene, open_release
from voile.documents.verbs.mend import mend
from voile.documents.verbs.removals import REMOVALS
from voile.keys.random import ProtectiveRandom
from voile.keys.secret import Secret
from voile.release.evidence import READ, AttackResults, default_place, find_evidence, write_evidence
from voile.release.kit import StoredKit
from voile.release.manifest import StoredRelease
from voile.release.own_verbs import EndedVerb, VerbReporter
from voile.release.scoring import private_manifest_of

SURE = frozenset({"known", "list"})
"""Kinds of reasons that remove only certain identifiers."""
ServePage: TypeAlias = Callable[..., None]
LOCK = "acceptance.lock"
"""The lock of the command that continues a reading, which it keeps until it ends."""


def accept(
    options: AcceptOptions,
    reporter: VerbReporter,
    *,
    kit: StoredKit | str,
    release: StoredRelease | str,
    source: Source,
    page_server: Callable[[], ServePage],
    make_replacer: Callable[[ApplyOptions, Language], RemovalReplacer],
    writer: Callable[[RemovalReplacer], RemovalReplacer] | None = None,
) -> EndedVerb:
    """Continue the reading of a release as far as answers are available; see `AcceptOptions`.

    page_server : returns the function that serves the local page, if a person reads on it.
    make_replacer : returns the replacer of mended texts.
    writer : makes the replacer of mended texts of the release's own, where apply had another.
    """
    goal = AcceptanceGoal(options.at_most, options.per, options.confidence)
    opened = release if isinstance(release, StoredRelease) else open_release(release)
    made_by = kit if isinstance(kit, StoredKit) else StoredKit.load(kit, "documents")
    scene = AcceptanceScene.of(opened, made_by, source, options, make_replacer, writer)
    if options.plan:
        return _report_plan(scene, goal, options, reporter)
    serve = page_server() if options.answers is None else None
    folder = _folder(opened)
    with ExitStack() as stack:
        stack.enter_context(hold_lock(folder / LOCK, _is_read(opened)))
        state = _resume_state(folder, scene, goal, options)
        store = stack.enter_context(closing(ReviewStore.open(folder / LINES)))
        going = _GoingReading(scene, state, store, folder, options, reporter.insist)
        while isinstance(came := going.go_on(), DueTokens):
            if serve is not None:
                _serve_lines(going, serve, options)
            else:
                types = types_on_page(scene.content.found["labels"])
                acceptance_answers.take_answers(store, options.answers, types)
            if lines := acceptance_answers.list_unanswered(store):
                return acceptance_answers.write_waiting(lines, folder, reporter)
        return _record_verdict(going, came, reporter)


class _GoingReading:
    """A reading in progress, from batch to batch and across the mending before a sample."""

    def __init__(
        self,
        scene: AcceptanceScene,
        state: ReadingState,
        store: ReviewStore,
        folder: Path,
        options: AcceptOptions,
        insist: Callable[[str], None],
    ) -> None:
        self.scene, self.state, self.store = scene, state, store
        self._folder, self._again, self._insist = folder, options.again, insist
        self._key_file, self.secret = options.key_file, Secret.find(options.key_file)
        first = scene.with_edits(folder / REMOVALS)
        self._kept = KeptTokens.of(first, scene.committee)
        self._pool = identifiers(first, self._kept, SURE)
        self.renew()
        self.expected = round(self.course.reading.plan().expected)

    @property
    def decided_try(self) -> int:
        """The last try with a recorded verdict."""
        return int(private_manifest_of(self.scene.release).get(ACCEPTANCE, {}).get("decided", 0))

    def renew(self) -> None:
        """Restart at the first line, since a used answer may have been undone."""
        frozen = private_manifest_of(self.scene.release).get(ACCEPTANCE, {}).get("frozen", 0)
        cut = 1 / (1 + self.scene.policy.miss_cost)
        pairs = self.scene.pairs
        given = (self._kept, pairs, self._pool, cut, frozen, self.scene.least)
        self.course = ReadingCourse(self.state, self.store, *given)

    def go_on(self) -> AcceptanceVerdict | DueTokens:
        """Use the available answers, and return the verdict, or the tokens that wait."""
        while True:
            came = self.course.go_on()
            if isinstance(came, AcceptanceVerdict):
                if came.accepted or not self._again:
                    return came
                self._again, self.state = False, replace(self.state, tries=self.state.tries + 1)
                self.state.write(self._folder)
            elif self.course.must_freeze(came):
                self.mend({"frozen": self.course.reading.number}, None)
            else:
                return came
            self.renew()

    def has_more(self) -> bool:
        """Return whether further lines wait, now that these are answered."""
        try:
            return isinstance(self.go_on(), DueTokens)
        except VoileError:
            return False  # raised again after the page is closed

    def mend(self, facts: Mapping[str, Any], public: Mapping[str, Any] | None) -> None:
        """Rewrite the release without the identifiers found so far, and record the facts."""
        scene, found = self.scene, self.course.removals()
        attacked = [one for one in find_evidence(scene.release, self.secret) if one.attack != READ]
        made = mend(scene, found, facts, public, self._key_file, asdict(self.state.goal))
        if attacked and made.public["sha256"] != scene.release.public["sha256"]:
            self._insist("evidence of the release as it was is gone: attack it again")
        self.state = replace(self.state, now=made.public["sha256"])
        self.state.write(self._folder)
        self.scene = replace(scene, release=made)


def _folder(release: StoredRelease) -> Path:
    path = release.path
    if not isinstance(path, Path):
        raise RequestError(
            "is not a file of this machine", where=str(path), instead="accept a file"
        )
    return path.with_name(f"{path.name}.acceptance")


def _is_read(release: StoredRelease) -> RequestError:
    remedy = "use its page, or end it first"
    return RequestError("another voile reads this", where=str(release.path), instead=remedy)


def _resume_state(
    folder: Path, scene: AcceptanceScene, goal: AcceptanceGoal, options: AcceptOptions
) -> ReadingState:
    """Return the stored state, or begin a reading if there is none."""
    release = scene.release
    settle(folder / STATE, outputs.ACCEPTANCE)
    if not (folder / STATE).exists():
        return _begin(folder, scene, goal, options)
    state = ReadingState.read_folder(folder)
    sha256 = release.public["sha256"]
    if state.now != sha256:
        if private_manifest_of(release).get(ACCEPTANCE, {}).get("of") != state.now:
            raise TamperedError(
                "the release changed since its reading began",
                where=str(release.path),
                instead=f"remove {folder.name}, and read the release as it is now",
            )
        # the release was mended, but the run ended before it stored this
        state = replace(state, now=sha256)
        state.write(folder)
    if state.goal != goal:
        if not _is_answered(folder):
            return _begin(folder, scene, goal, options)
        raise RequestError(
            f"the reading was begun for {state.goal}",
            where=str(folder),
            instead="give the same --at-most, --per and --confidence, or remove the folder",
        )
    return state


def _begin(
    folder: Path, scene: AcceptanceScene, goal: AcceptanceGoal, options: AcceptOptions
) -> ReadingState:
    folder.mkdir(mode=0o700, exist_ok=True)
    if (folder / LINES).exists():
        _clear(folder)
    release = scene.release
    sha256 = release.public["sha256"]
    state = ReadingState(
        first=sha256,
        now=sha256,
        source=private_manifest_of(release)["source"]["sha256"],
        kit=scene.kit.id,
        goal=goal,
        seed=tuple(ProtectiveRandom().bytes(16)),
        recall=options.recall,
    )
    (folder / REMOVALS).touch(mode=0o600)
    (folder / REMOVALS).write_bytes((release.folder / REMOVALS).read_bytes())
    facts = {"fingerprint": state.source, "goal": str(goal)}
    ReviewStore.create(folder / LINES, meta=facts).close()
    state.write(folder)
    return state


def _report_plan(
    scene: AcceptanceScene, goal: AcceptanceGoal, options: AcceptOptions, reporter: VerbReporter
) -> EndedVerb:
    """Report how much must be read, without beginning a reading."""
    kept = KeptTokens.of(scene.pairs, scene.committee)
    pool = identifiers(scene.pairs, kept, SURE)
    scores = kept.chances[kept.tokens]
    reading = AcceptanceReading(
        scores,
        goal,
        seed=0,
        most_planted=len(pool),
        recall=options.recall,
        least=scene.least,
        signs=kept.signs,
    )
    found = reading.plan()
    reporter.say(
        f"{len(scores) + kept.signs:,} tokens are left; to prove {goal}, {goal.confidence:.0%} "
        "confidence, a person reads"
    )
    reporter.say(f"- {found.in_words()}")
    reporter.say(
        f"- first the {found.census:,} likeliest, then others drawn at random, with "
        f"{found.planted:,} planted among them"
    )
    reporter.say(
        "this holds where as much is left as the classifiers take to be left; else more is read"
    )
    return EndedVerb({"plan": {**found.as_data(), "tokens": len(scores) + kept.signs}})


def _clear(folder: Path) -> None:
    """Remove the files of a run that ended before its reading began.

    Answers are never removed.

    Raises
    ------
    DamagedError : the folder contains answers without the reading's state.
    """
    if _is_answered(folder):
        raise DamagedError(
            "there is a reading without its state",
            where=str(folder),
            instead="remove the folder, and begin again",
        )
    for place in folder.glob(f"{LINES}*"):
        place.unlink()


def _is_answered(folder: Path) -> bool:
    with closing(ReviewStore.open(folder / LINES)) as store:
        return bool(store.answers())


def _serve_lines(going: _GoingReading, serve: ServePage, options: AcceptOptions) -> None:
    """Serve the waiting lines and later lines on the local page, until the reader ends it."""
    serve(
        going.store,
        purposes=acceptance_answers.PURPOSES,
        reviewers=options.reviewer,
        types=types_on_page(going.scene.content.found["labels"]),
        goal=going.expected,
        more=going.has_more,
        port=options.port,
        browser=options.browser,
    )
    going.renew()


def _record_verdict(
    going: _GoingReading, verdict: AcceptanceVerdict, reporter: VerbReporter
) -> EndedVerb:
    """Write the certificate into evidence and manifests once, and report it."""
    course = going.course
    subjects = going.scene.subjects()
    found = certificate(verdict, course.reading.goal, subjects, as_hard=course.as_hard)
    _certify(going, verdict, found)
    reporter.say(found.sentence)
    result = {"decided": verdict.accepted, "says": found.sentence, **asdict(verdict)}
    return EndedVerb(result, code=0 if verdict.accepted else 1)


def _certify(
    going: _GoingReading, verdict: AcceptanceVerdict, found: AcceptanceCertificate
) -> None:
    """Write a verdict into manifests and evidence, unless they already contain it."""
    if going.decided_try < verdict.number:
        facts = {"decided": verdict.number, **asdict(verdict)}
        going.mend(facts, found.public if verdict.accepted else None)
    release = going.scene.release
    evidence = find_evidence(release, going.secret)
    others = [one for one in evidence if one.attack != READ]
    both = AttackResults(release, [*others, found.evidence], evidence.given)
    if both != evidence:
        write_evidence(default_place(release), release, both, going.secret, force=True)
