"""The verb `fit`: fit the maps and compare their strengths."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy.special import entr
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from voile.core.errors import InfeasibleError, RequestError
from voile.core.frontier import Frontier
from voile.core.interruption import ctrl_c
from voile.core.progress import ProgressHook
from voile.core.warn import warn
from voile.data import Source, open_source
from voile.data.hold_out import HoldOut
from voile.data.places import RowsPlace
from voile.data.roles import Roles
from voile.keys.random import streams
from voile.release.kit import StoredKit
from voile.signals.fitting.fit_sessions import fit_sessions
from voile.signals.fitting.maps.privacy_map import PrivacyMap
from voile.signals.fitting.maps.registry import METHODS
from voile.signals.fitting.maps.trials import MOST, ClassLeakage, MethodTrials, trials
from voile.signals.fitting.methods.conditional_fit import SideChoice
from voile.signals.fitting.methods.transport import TransportMethod
from voile.signals.fitting.try_consistency import try_consistency
from voile.signals.information.beliefs import ClassBeliefs
from voile.signals.information.over_time import information_over_time
from voile.signals.information.subjects import CheckedSubjects, Subjects
from voile.signals.model.codec.pieces import Floats
from voile.signals.model.codec.side import SideLevels, read_levels
from voile.signals.model.content import SignalsContent
from voile.signals.model.maps.checks import FEW, SignalsWarning
from voile.signals.model.maps.fitted import FittedLaws, MapMethod
from voile.signals.model.maps.stored import StoredMap
from voile.signals.model.policies import SignalsPolicy
from voile.signals.model.readings.sources import (
    SignalReader,
    SourceReadings,
    check_classes,
    without_copies,
)
from voile.signals.options import FitOptions

LEAST_BITS = 1e-3  # smallest denominator for relative leakage


def fit(
    source: Source, roles: Roles, options: FitOptions, *, seed: int | None, progress: ProgressHook
) -> StoredKit:
    """Fit a map for each class, and estimate the risk and the cost of each strength.

    Rows without a class, a subject or a complete reading are left out, with a warning. Memory:
    O(readings). The kit contains no reading.
    """
    keys, draws, each = streams(seed, "hold-out", "trials", "maps")
    key = keys.bytes(32) if options.hold_out else b""
    hold_out = HoldOut(options.hold_out, key, roles.subject)
    reader = SignalReader(roles, tuple(roles.of("reading")), hold_out, options.time)
    reader.check(source)
    progress("reading the source", 0)
    read = reader.read_rows(source)
    rows = without_copies(read)
    check_classes(rows, reader.private)
    parts = _parts(reader, source, rows) if options.time and read.left_out else rows
    if read.left_out:
        note = f"{read.left_out:,} rows lack a class, a subject or a reading, and were left out"
        also = len(parts.whose) - len(rows.whose)
        _warn(f"{note}, {also:,} of them but for sessions" if also else note)
    prior = _prior(options.beliefs, rows, reader)
    own = int(each.integers(1 << 31))
    fitting = _SignalsFitting(reader, rows, parts, prior, options, own, draws, progress)
    with threadpool_limits(1, "blas"):  # threads of small products wait for each other
        content = fitting.content()
    _check_bits(content, options.bits)
    _warn_of_few(content, rows)
    return content.to_kit()


@dataclass(frozen=True)
class _TriedPolicy:
    """A tried policy, with its leakage and its distortion of readings."""

    policy: SignalsPolicy
    leakage: ClassLeakage
    distortion: float


@dataclass(eq=False)
class _SignalsFitting:
    reader: SignalReader
    rows: SourceReadings
    parts: SourceReadings  # for sessions, including readings that lack columns
    prior: Floats | None
    options: FitOptions
    seed: int
    rng: np.random.Generator
    progress: ProgressHook
    maps: dict[str, StoredMap] = field(default_factory=dict)
    points: list[_TriedPolicy] = field(default_factory=list)
    largest: float = 0.0
    before: dict[str, Any] = field(default_factory=dict)
    consistency: dict[str, dict[str, float]] = field(default_factory=dict)

    def content(self) -> SignalsContent:
        """Fit the maps, try every policy, and keep the policies on the frontier.

        Ctrl-C loses only the current method.
        """
        u = self.rng.uniform(-0.5, 0.5, self.rows.table.shape)
        tried = self._draw_tried()
        stopped = "finished"
        for method in self.options.methods:
            try:
                with ctrl_c():
                    self._method(method, u, tried)
            except KeyboardInterrupt:
                if not self.maps:
                    raise
                stopped = "interrupted"
                break
        # if one reading reveals nothing, compare with the noise of the estimate
        whole = max(self.before["bits"], self.before["null"], LEAST_BITS)
        risk = [point.leakage.bits / whole for point in self.points]
        loss = [point.distortion / self.largest for point in self.points]
        frontier = Frontier.of(
            np.clip(risk, 0, 1), np.clip(loss, 0, 1), np.arange(len(self.points))
        )
        return SignalsContent(
            reader=self.reader,
            maps=self.maps,
            sessions=fit_sessions(
                self.reader, self.parts, self.options, self.seed, self.progress, self._choice()
            ),
            frontier=frontier,
            figures=_figures([self.points[x] for x in frontier.policies], frontier),
            before=self.before,
            found={"stopped": stopped, "consistency": self.consistency},
        )

    def _choice(self) -> SideChoice | None:
        """Return the smoothness of the side columns' frame, or None if no map has one."""
        sides = [one.fitted_.side for one in self.maps.values() if one.fitted_]
        return next((side.choice for side in sides if side), None)

    def _draw_tried(self) -> NDArray[np.intp]:
        """Draw one reading of each subject for the trials, at most `MOST`."""
        one_each = self.rows.one_each(self.rng)
        return np.sort(self.rng.permutation(one_each)[:MOST])

    def _method(self, method: str, u: Floats, tried: NDArray[np.intp]) -> None:
        """Fit the map of one method, and try all its strengths and bases."""
        self.progress(f"fitting the {method} map", 0)
        map = self._fit_map(method)
        rows, c = self.rows, np.searchsorted(map.classes_, self.rows.labels)
        made = trials(
            _reuse_choices(METHODS[method], map.fitted_),
            rows.table,
            c,
            rows.whose,
            tried,
            map.columns,
            u=u,
            seed=self.seed,
            prior=self.prior,
            side=map.side,
            levels=self._levels(map),
            lift=map.lift,
        )
        trial = MethodTrials(tuple(made))
        if not self.before:
            self.before = self._measure_unprotected(trial, tried, c[tried], len(map.classes_))
        points, bases = [], self.options.bases
        for strength in self.options.strengths:
            self.progress(f"measuring each strength of the {method} map", strength, 1.0)
            found = trial.leakage(strength)
            for base in bases:
                apart = trial.distortion(base, strength)
                points.append(_TriedPolicy(SignalsPolicy(method, base, strength), found, apart))
        self._try_consistency(method, trial)
        whole = max(trial.distortion(base, 1.0) for base in bases)
        self.maps[method] = map
        self.points += points
        self.largest = max(self.largest, whole)

    def _try_consistency(self, method: str, trial: MethodTrials) -> None:
        """Try the consistency attack on held-out people. Warn if it beats the messages alone."""
        found = try_consistency(trial, self.seed)
        if found is None:
            return
        self.consistency[method] = found
        if found["low"] > max(found["messages"], found["permuted"]):
            _warn(
                f"readings are consistent under the right class alone. With the {method} map, an "
                "adversary who decodes under every class has a balanced accuracy of at least "
                f"{found['balanced']:.2f} ({found['low']:.2f} to {found['high']:.2f}). Messages "
                f"alone give {found['messages']:.2f}. Declare the relation among columns in the "
                "roles, or leave a derived column out"
            )

    def _levels(self, map: StoredMap) -> SideLevels | None:
        """Return the readings' levels in the side columns, or None without side columns."""
        known = self.rows.beside
        return None if known is None else read_levels(known, map.side, len(known))

    def _fit_map(self, method: str) -> StoredMap:
        map = PrivacyMap(
            METHODS[method],
            resolution=self.reader.resolutions,
            random_state=self.seed,
            side_resolution=[one.resolution for one in self.reader.sides],
            in_clear=self.reader.in_clear,
            relations=self.reader.relations,
        )
        try:
            whose = Subjects(self.rows.whose, beliefs=self.prior)
            map.fit(self.rows.table, self.rows.labels, whose, known=self.rows.beside)
        except RequestError as error:
            raise self.reader.name_place(error, self.rows) from None
        codec = map.codec(base="normal", strength=1.0)
        return StoredMap(map.classes_, codec.columns, map.fitted_, codec.side, lift=map.lift_)

    def _measure_unprotected(
        self, trial: MethodTrials, tried: NDArray[np.intp], c: NDArray[np.intp], classes: int
    ) -> dict[str, Any]:
        """Estimate the information of the unprotected readings, and its null by chance."""
        leakage, null = trial.leakage(0.0), trial.null(0.0, self.rng)
        if leakage.bits <= null:
            self._check_courses(trial.folds[0].map.spans)
        known = CheckedSubjects.of(
            Subjects(self.rows.whose, beliefs=self.prior), len(self.rows.whose), classes
        )
        beliefs, chances = known.at(tried).distinct(c, classes)
        return {
            "bits": leakage.bits,
            "bits_low": leakage.low,
            "bits_high": leakage.high,
            "entropy": float(chances @ entr(beliefs).sum(axis=1) / np.log(2)),
            "null": null,
            "subjects": len(c),
            "classes": classes,
            **self._alone(trial),
        }

    def _alone(self, trial: MethodTrials) -> dict[str, Any]:
        """Estimate the information of side columns without any message, which no map hides."""
        if not self.reader.sides:
            return {}
        alone, missing = trial.alone(), trial.alone(missing=True)
        return {
            "known": [one.column for one in self.reader.sides],
            "known_bits": alone.bits,
            "known_low": alone.low,
            "known_high": alone.high,
            "missing_bits": missing.bits,
            "missing_high": missing.high,
        }

    def _check_courses(self, spans: Sequence[bool]) -> None:
        """Raise if neither single readings nor their courses reveal the class measurably.

        This does not prove that they are safe. Without `--time`, no session hides courses that
        reveal it.
        """
        rows = self.rows
        codes = np.unique(rows.labels, return_inverse=True)[1]
        X = rows.table[:, np.flatnonzero(spans)].astype(np.float64)
        found = information_over_time(X, codes, rows.whose, rows.moments, self.rng)
        if found:
            what = (
                "one reading of each subject shows no measurable information about the class. "
                "The course of a subject's readings reveals "
                f"{found.bits:.2g} of {found.entropy:.2g} bits"
            )
            if self.options.time is None:
                raise InfeasibleError(what, instead="give --time COLUMN to fit sessions")
            _warn(f"{what}: send them in sessions")
            return
        raise InfeasibleError(
            "the readings reveal nothing of the class that could be measured, which does not prove "
            "that they reveal nothing",
            instead="fit to more subjects, with --time where they have several readings",
        )


def _reuse_choices(method: MapMethod, fitted: FittedLaws | None) -> MapMethod:
    """Return the method with the slow choices for side columns taken from the fit to all people."""
    if not isinstance(method, TransportMethod) or fitted is None or fitted.side is None:
        return method
    return TransportMethod(*fitted.choices)


def _parts(reader: SignalReader, source: Source, rows: SourceReadings) -> SourceReadings:
    """Read the rows for fitting sessions: the same classes, including incomplete readings."""
    if any(form.settings.nominal for form in reader.forms):
        return rows  # sessions do not accept nominal columns
    found = without_copies(reader.read_rows(source, partial=True))
    known = found.take(np.flatnonzero(np.isin(found.labels, rows.labels)))
    whose = np.unique(known.whose, return_inverse=True)[1]
    known = replace(known, whose=whose.astype(np.intp))
    check_classes(known, reader.private)
    return known


def _prior(table: RowsPlace | None, rows: SourceReadings, reader: SignalReader) -> Floats | None:
    """Read the eavesdropper's beliefs about each row's subject, (n, k), or return None."""
    if table is None:
        return None
    classes = np.unique(rows.labels).tolist()
    return ClassBeliefs.read_table(open_source(table), reader.subject, classes).of(
        rows.names, rows.whose
    )


def _figures(points: Sequence[_TriedPolicy], frontier: Frontier) -> pa.Table:
    """Return a table with one row per policy: its leakage in bits, and its costs."""
    leakages = [point.leakage for point in points]
    return pa.table(
        {
            "number": np.arange(len(points)),
            "bits": [one.bits for one in leakages],
            "bits_low": [one.low for one in leakages],
            "bits_high": [one.high for one in leakages],
            "risk": frontier.risk,
            "loss": frontier.loss,
            "distortion": [point.distortion for point in points],
            "method": [point.policy.method for point in points],
            "base": [point.policy.base for point in points],
            "strength": [point.policy.strength for point in points],
        }
    )


def _check_bits(content: SignalsContent, most: float | None) -> None:
    """Raise if no policy reveals as little as the requested bits."""
    if most is None:
        return
    least = min(content.figures["bits_high"].to_pylist())
    if least > most:
        raise InfeasibleError(
            f"no policy reveals {most:g} bits or less with 95% confidence; the closest reveals "
            f"up to {least:.3g}",
            instead="ask for more, try another method, or fit to more subjects",
        )


def _warn_of_few(content: SignalsContent, rows: SourceReadings) -> None:
    """Warn that a map fitted to few people may itself reveal information."""
    first = np.unique(rows.whose, return_index=True)[1]
    fewest = int(np.unique(rows.labels[first], return_counts=True)[1].min())
    if fewest >= FEW:
        return
    best = min(content.figures.to_pylist(), key=lambda row: float(row["bits_high"]))
    low, high = (max(best[f"bits_{end}"], 0.0) for end in ("low", "high"))
    _warn(
        f"a class has {fewest} people, and a map fitted to so few reveals some of the class: "
        f"{max(best['bits'], 0.0):.3f} bits (95% interval {low:.3f} to {high:.3f}) by the policy "
        "that reveals least. Fit to more people"
    )


def _warn(note: str) -> None:
    warn(note, SignalsWarning)
