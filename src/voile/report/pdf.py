"""A page printed by the system's Chromium, where there is one."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SECONDS = 120


def print_pdf(page: Path, out: Path) -> bool:
    """Print a page into a PDF file; False where there is no Chromium, or it does not do it.

    The page forbids every request by its own content policy; the browser has a profile of its own,
    which goes when it ends.
    """
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        return False
    # Chromium refuses its sandbox to root, as in a container.
    alone = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    with tempfile.TemporaryDirectory(prefix="voile-", ignore_cleanup_errors=True) as profile:
        words = [
            browser,
            "--headless",
            "--disable-gpu",
            *alone,
            f"--user-data-dir={profile}",
            "--no-pdf-header-footer",
            f"--print-to-pdf={out}",
            page.resolve().as_uri(),
        ]
        try:
            subprocess.run(words, capture_output=True, timeout=SECONDS, check=True)
        except (OSError, subprocess.SubprocessError):
            out.unlink(missing_ok=True)
    return out.exists()
