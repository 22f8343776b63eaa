"""Choosing a policy and reporting a release learn nothing, and load nothing that learns."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from tests.documents.flow import kit_of

HEAVY = (
    "numba",
    "sklearn",
    "joblib",
    "voile.documents.learners",
    "voile.documents.model.committee",
)
CHOOSE = """
from voile.documents.verbs.choose import choose
from voile.release.choice import Choice
choose(StoredKit.load(place), Choice(policy=0))
"""
KIT = """
from voile.documents.verbs.report import sections
sections(StoredKit.load(place), (), audience="public")
"""
RELEASE = """
from voile.documents.verbs.report import sections
from voile.release.manifest import StoredRelease
sections(StoredRelease.open(place), (), audience="internal")
"""
WITHOUT = f"""
import sys
from voile.release.kit import StoredKit
place = sys.argv[1]
{{}}
print(*[name for name in {HEAVY} if name in sys.modules])
"""


@pytest.mark.whole
@pytest.mark.parametrize("what", ["choose", "kit", "release"])
def test_nothing_that_learns_is_loaded(tmp_path, release, what):
    kit_of().save(tmp_path / "kit")
    code, place = {
        "choose": (CHOOSE, tmp_path / "kit"),
        "kit": (KIT, tmp_path / "kit"),
        "release": (RELEASE, release.path),
    }[what]
    path = os.pathsep.join(one for one in sys.path if one)
    ran = subprocess.run(
        [sys.executable, "-c", WITHOUT.format(code), str(place)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert (ran.returncode, ran.stdout.split(), ran.stderr) == (0, [], "")
