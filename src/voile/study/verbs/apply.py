"""The study's second verb: apply writes every part, or none, into one folder with one manifest."""

from __future__ import annotations

from pathlib import Path

from voile.core.progress import Progress
from voile.data import Staging
from voile.keys.seal import SEAL, Seal, file_sha256
from voile.release.kit import Kit
from voile.release.manifest import PRIVATE_MANIFEST, encode, private_path
from voile.study.plan.plan import Plan
from voile.study.study_kit import chosen_in, extract_in, unpack
from voile.study.study_release import MANIFEST, STUDY, StudyRelease
from voile.study.verbs.export import sending
from voile.study.verbs.measuring import Measuring
from voile.study.verbs.writing import Writing


def apply(plan: Plan, kit: Kit, *, force: bool, progress: Progress) -> StudyRelease:
    """Write the release of a study: all parts appear together, or none does.

    Memory follows the batch, but for the intervals that each person's rows show.

    Raises
    ------
    RequestError : a part cannot be opened, or nobody of a part has a released row.
    InfeasibleError : a part breaks its kit's constraints.
    """
    _ = plan.secret  # of which nothing is made before it is there
    kits = unpack(kit)
    chosen = chosen_in(kit, kits)
    out = plan.release
    with Staging(out, STUDY, force=force) as staging:
        shown = staging.folder(out)
        private = staging.folder(private_path(out), mode=0o700)
        writing = Writing(
            plan, kits, chosen, extract_in(kit), shown, private, staging.scratch(), progress
        )
        writing.write()
        public, hidden = Measuring(writing).manifests()
        if plan.export is not None:
            writing.export(public, hidden)
        (shown / MANIFEST).write_bytes(encode(public))
        (private / PRIVATE_MANIFEST).write_bytes(encode(hidden))
        (private / SEAL).write_bytes(_seal(shown, private, plan).to_bytes())
        with sending(plan, shown, force=force) as publish:
            staging.commit(publish)
    return StudyRelease.open(out)


def _seal(release: Path, private: Path, plan: Plan) -> Seal:
    """Seal every file of the release and of the private folder, under the study's secret."""
    files = {
        str(path.relative_to(folder.parent)): file_sha256(path)
        for folder in (release, private)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
    return Seal(files).under(plan.secret)
