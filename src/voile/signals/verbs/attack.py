"""The verb `attack`: infer the class from a release's messages, with background knowledge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from voile.core.evidence import Evidence, Finding, Note, Rate
from voile.core.progress import ProgressHook, ProgressSteps
from voile.data import Source
from voile.keys.random import streams
from voile.release.manifest import StoredRelease
from voile.signals.attack import breaks
from voile.signals.attack.attackers import ClassAttacker, bayes, by_chances, learners
from voile.signals.attack.breaks import MapBreak
from voile.signals.attack.consistency import DecodedMessages, infer_by_consistency
from voile.signals.attack.overheard import as_numbers, overheard
from voile.signals.information.conditional import conditional_information
from voile.signals.information.leakage import ClassInformation, leakage
from voile.signals.information.mutual import mutual_information
from voile.signals.information.subjects import Subjects
from voile.signals.model.codec.pieces import Codes, Floats
from voile.signals.options import AttackOptions
from voile.signals.verbs.scene import FreshMessages, MessagePeople, SignalsScene

STORY = (
    "The adversary overhears one message of each person, and knows the classes of half of them. "
    "They teach the adversary the messages of each class. Success is to name the "
    "class of a person not learned from."
)
KNOWING = (
    "The same adversary, who also knows the columns named here for everyone. The baseline uses "
    "these columns alone, without the release."
)
BREAKS = {
    "repeat readings": "The adversary overhears several messages of each person, and learns from "
    "half of the people the course of each class.",
    "invariants": "The adversary decodes all messages of a person by every class's map, and names "
    "the class with constant invariants. Classes come equally often.",
    breaks.KNOWN_PLAINTEXT: "The adversary knows one reading with its message, and names the class "
    "whose map takes one to the other. Classes come equally often.",
}
UNPROTECTED = "readings as they are"
"""The attack on unprotected readings, for comparison."""
BELIEVING = Note(
    "The adversary has a belief about each person's class beforehand, which weighs the overheard "
    "messages. The baseline names the likeliest class by this belief. Revealed bits count from "
    "there."
)
HELD_OUT = Note(
    "Control: people outside the maps' fit, sent by the maps. A map hides the people of its fit "
    "better. It will hide future readings as it hides the control's."
)


def attack(
    release: StoredRelease,
    truth: Source,
    options: AttackOptions,
    *,
    seed: int | None,
    progress: ProgressHook,
) -> tuple[Evidence, ...]:
    """Infer the class from overheard messages: one message of each person, then several.

    The adversary has the release and the classes of half of its people. ``truth``, the source,
    provides these classes and scores the attack. The adversary has the kit only if ``public_map``
    names it. Then the attack also tries Bayes' rule, consistency under every class, invariants and
    known plaintext. As a control, the maps also encode people held out of the kit, or those of a
    ``control`` file. A map hides the people of its fit better than others.
    """
    release.check_hash()
    halves, learn, deals = streams(seed, "halves", "learners", "deals")
    scene = SignalsScene.of(release, truth, options)
    people = scene.people(halves)
    number = int(learn.integers(1 << 31))
    step = ProgressSteps(progress, 3 + bool(scene.knows))
    step("inferring the class from one message")
    information = mutual_information(
        people.Z,
        people.c,
        None if people.prior is None else Subjects(people.whose, beliefs=people.prior),
        permutations=options.permutations,
        random_state=deals,
    )
    found = [_single(scene, people, number, information)]
    step("inferring the class from the readings themselves")
    found.append(_before(scene, people, number))
    if scene.knows:
        step("inferring the class from a message and known columns")
        found.append(_knowing(scene, people, number, deals))
    step("inferring the class from several messages")
    broken = [one.evidence(Note(BREAKS[one.name])) for one in _breaks(scene, people, number)]
    return (*found, *broken)


def _single(
    scene: SignalsScene, people: MessagePeople, seed: int, information: ClassInformation
) -> Evidence:
    half, tried = people.half, people.attacked_people

    def attackers(tried: FreshMessages) -> list[ClassAttacker]:
        """Train adversaries on half of the people, and test them on messages."""
        found = learners(people.Z[:half], people.c[:half], tried.Z, tried.c, seed, tried.prior)
        return [*found, *([] if scene.reader.sides else _bayes(scene, tried))]

    decoding = [] if scene.reader.sides else _decode_each(scene, people, seed)
    found = [*attackers(tried), *decoding[:1]]
    control = [*attackers(scene.fresh), *decoding[1:]] if scene.fresh else []
    prior: tuple[ClassAttacker, ...] = ()
    if people.after is not None:
        prior = (by_chances("prior beliefs alone", people.after, tried.c, people.after),)
    alone = prior[0].recall if prior else (None,) * len(scene.classes)
    least = dict.fromkeys((one.name for one in found), (people.majority, *alone))
    return Evidence(
        "single messages",
        "inference",
        Note(STORY),
        knows=scene.reader.columns,
        findings=tuple(_findings(scene, found, control, least)),
        curves=tuple(
            overheard(scene.reader.forms, people.X, people.table, people.c, scene.classes)
        ),
        notes=(
            leakage(information),
            *([BELIEVING] if prior else []),
            *([HELD_OUT] if control else []),
            *(one.note() for one in (*found, *prior)),
        ),
    )


def _bayes(scene: SignalsScene, tried: FreshMessages) -> list[ClassAttacker]:
    """Attack with the map's own densities, if the map is known."""
    if scene.map is None or not all(scene.map.spans):
        return []
    map: Any = scene.map  # has the same interface as a `PrivacyMap`
    return [bayes(map, tried.Z, tried.c, tried.prior, tried.known)]


def _decode_each(
    scene: SignalsScene, people: MessagePeople, seed: int, beside: Sequence[Floats] = ()
) -> list[ClassAttacker]:
    """Decode under every class, for the release's people and the control.

    `beside` are the adversary's known columns of the people, and of the control if it has them.
    """
    map = scene.map
    if map is None or map.fitted_ is None or map.strength == 0:
        return []
    groups = [(people.table, people.c, people.known)]
    if scene.fresh and len(beside) != 1:
        groups.append((scene.fresh.table, scene.fresh.c, scene.fresh.known))
    heard = [
        DecodedMessages.of(
            map.codec_,
            table,
            map.codec_.levels(known, len(c)),
            beside[place] if beside else np.zeros((len(c), 0)),
        )
        for place, (table, c, known) in enumerate(groups)
    ]
    sizes = [people.half, *(len(c) for _, c, _ in groups)]
    sizes[1] -= people.half
    learned, *tried = np.split(np.arange(sum(sizes)), np.cumsum(sizes)[:-1])
    priors = [people.after, *(scene.fresh.prior for _ in groups[1:] if scene.fresh)]
    c = np.concatenate([c for _, c, _ in groups])
    return [
        *infer_by_consistency(DecodedMessages.join_parts(heard), c, learned, tried, seed, priors)
    ]


def _findings(
    scene: SignalsScene,
    found: Sequence[ClassAttacker],
    control: Sequence[ClassAttacker],
    least: Mapping[str, Sequence[Rate | None]],
) -> Iterator[Finding]:
    """Yield the attackers' findings, with the control and each baseline by attacker."""
    others = [one for each in control for one in each.findings(scene.classes, ())]
    held = {(one.by, one.of): one.rate for one in others}
    for each in found:
        for one in each.findings(scene.classes, least.get(each.name, ())):
            yield replace(one, control=held.get((one.by, one.of)))


def _before(scene: SignalsScene, people: MessagePeople, seed: int) -> Evidence:
    half, X = people.half, as_numbers(scene.reader.forms, people.X)
    found = learners(X[:half], people.c[:half], X[half:], people.c[half:], seed, people.after)
    return Evidence(
        UNPROTECTED,
        "inference",
        Note("The same adversaries, had the readings been sent as they are."),
        knows=scene.reader.columns,
        findings=tuple(one for each in found for one in each.findings(scene.classes, ())),
        notes=tuple(each.note() for each in found),
    )


def _knowing(
    scene: SignalsScene, people: MessagePeople, seed: int, deals: np.random.Generator
) -> Evidence:
    """Attack with known columns. A class hidden overall may be visible in a subgroup."""
    half, c, tried, fresh = people.half, people.c, people.attacked_people, scene.fresh
    K, *others = scene.beside(people)
    both = np.concatenate([K, people.Z], axis=1)
    knows_all = {one.column for one in scene.reader.sides} <= {*scene.knows}

    def attackers(tried: FreshMessages, beside: Floats) -> list[ClassAttacker]:
        given = np.concatenate([beside, tried.Z], axis=1)
        found = learners(both[:half], c[:half], given, tried.c, seed, tried.prior)
        return [*found, *(_bayes(scene, tried) if scene.reader.sides and knows_all else [])]

    alone = learners(K[:half], c[:half], K[half:], c[half:], seed, people.after)
    decoding = _decode_each(scene, people, seed, (K, *others)) if knows_all else []
    found = [*attackers(tried, K[half:]), *decoding[:1]]
    control = [*attackers(fresh, others[0]), *decoding[1:]] if fresh and others else []
    most = max((each.accuracy for each in alone), key=lambda rate: rate.value)  # for Bayes' rule
    least = {each.name: [most] for each in found}
    least |= {each.name: [one.rate for one in each.findings(scene.classes, ())] for each in alone}
    number = scene.options.permutations
    added = conditional_information(people.Z, c, K, permutations=number, random_state=deals)
    findings = _findings(scene, found, control, least)
    return Evidence(
        "single messages, columns known",
        "inference",
        Note(KNOWING),
        knows=(*scene.knows, *scene.reader.columns),
        findings=tuple(replace(one, meaning="") for one in findings),
        notes=(
            leakage(added, beside=True),
            *([HELD_OUT] if control else []),
            *(each.note() for each in found),
            *(each.note("Without messages. ") for each in alone),
        ),
    )


def _breaks(scene: SignalsScene, people: MessagePeople, seed: int) -> Iterator[MapBreak]:
    """Run attacks that bypass the map: several messages, then those that need the public map."""
    longest: tuple[Codes, Codes] | None = None
    for length in breaks.LENGTHS:
        rows, c = scene.runs(people, length)
        if not scene.enough(c):
            continue
        longest = rows, c
        Z = scene.Z[rows.ravel()].reshape(*rows.shape, -1)
        rate, majority = breaks.repeats(Z, c, seed)
        yield MapBreak("repeat readings", rate, majority, promised=False, messages=length)
    map = scene.map
    if map is None or not all(map.spans) or map.strength == 0:
        return
    X = people.X.astype(np.float64)
    if longest is not None and scene.reader.invariants:
        rows, c = longest
        Z = scene.Z[rows.ravel()].reshape(*rows.shape, -1)
        known = None if scene.rows.beside is None else scene.rows.known[rows.ravel()]
        yield breaks.invariants(map.codec_, Z, c, scene.reader.invariants, known)
    yield breaks.known_plaintext(map.codec_, X, people.Z, people.c, people.known)
