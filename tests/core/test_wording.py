from voile.core.wording import visible


def test_signs_that_a_page_would_obey_are_written_out():
    assert visible("a\u202eb\u200bc\x00d") == "a⟨U+202E⟩b⟨U+200B⟩c⟨U+0000⟩d"
    assert visible("नमस्ते می\u200cخواهم\n\t") == "नमस्ते می\u200cخواهم\n\t"
