"""The text of HTML, from pages that are damaged too."""

from __future__ import annotations

import time

import pytest

from voile.data.html_text import extract_html_text

PIECES = ["<", "<a ", "<a '", '<a ="', "<!--", "<!", "&", "&#", "<p>", "</", "<script>", "<pre>\r"]


@pytest.mark.parametrize("piece", PIECES)
def test_html_without_end_takes_no_time_that_grows_with_its_square(piece):
    start = time.process_time()
    extract_html_text(piece * 100_000)
    assert time.process_time() - start < 5
