"""Print a page as PDF with the system's Chromium, if it is installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SECONDS = 120


def print_pdf(page: Path, out: Path) -> bool:
    """Print a page to a PDF file. Return False if Chromium is missing or fails.

    The content policy of the page forbids every request. The browser uses a temporary profile,
    which is deleted at the end.
    """
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        return False
    # Chromium does not start with its sandbox as root, e.g. in a container.
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
