"""The order in which lines are read."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from voile.documents.replacements.removal import RemovalReason, TextRemoval
from voile.documents.reviewing.order import GLANCE, LONGEST, RankedTokens, cut_lines, next_lines
from voile.documents.text.document import Document
from voile.documents.words.tokens import tokenise

WORDS = ["Ana", "May", "left", "ward", "ok"]
TEXTS = st.lists(
    st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join), min_size=1)
    .map("\n".join),
    min_size=1,
    max_size=4,
)  # fmt: skip


def ranked(
    texts: list[str], probability: object, miss_cost: float = 10.0, **more: object
) -> RankedTokens:
    tokens = tokenise(texts)
    likely = np.broadcast_to(np.asarray(probability, float), (len(tokens),))[:, None]
    proposals = more.get("proposals", [[] for _ in texts])
    return RankedTokens(
        [Document(one) for one in texts], tokens, likely, np.array([miss_cost]), proposals
    )  # type: ignore[arg-type]


def test_the_expected_cost_is_highest_at_the_cut_and_nothing_where_it_is_sure() -> None:
    likely = [0, 0.05, 1 / 11, 0.5, 1]
    cost = ranked(["a b c d e"], likely).cost
    assert cost == pytest.approx([0, 0.5, 10 / 11, 0.5, 0])


def test_types_have_costs_of_their_own() -> None:
    one = ranked(["a b"], 0.0)
    both = RankedTokens(
        one.documents, one.tokens, np.array([[0.1, 0.1], [0.5, 0.4]]), np.array([2, 5.0]), [[]]
    )
    assert both.cost == pytest.approx([0.7, 0.1])


@given(TEXTS, st.data())
def test_the_order_is_that_of_valuing_every_line_anew_each_time(
    texts: list[str], data: st.DataObject
) -> None:
    n = len(tokenise(texts))
    likely = data.draw(st.lists(st.sampled_from([0, 0.02, 0.1, 0.3, 1]), min_size=n, max_size=n))
    size = data.draw(st.integers(1, 30))
    given_ = ranked(texts, likely)
    lines = next_lines(given_, taken=[], size=size)
    assert [(one.document, one.start) for one in lines] == naive(given_, size)


def naive(given_: RankedTokens, size: int) -> list[tuple[int, int]]:
    tokens, cost = given_.tokens, given_.cost
    left = [*zip(*(side.tolist() for side in cut_lines(tokens)), strict=True)]
    chosen: list[tuple[int, int]] = []
    seen: Counter[int] = Counter()
    while left and size > 0:
        values = []
        for a, b in left:
            counts, total = seen.copy(), 0.0
            for token in range(a, b):
                form = int(tokens.form[token])
                total += cost[token] / (1 + counts[form])
                counts[form] += cost[token] > 0
            values.append((-total / (b - a + GLANCE), a, b))
        value, a, b = min(values)
        if value == 0:
            break
        seen.update(int(tokens.form[token]) for token in range(a, b) if cost[token] > 0)
        left.remove((a, b))
        size -= b - a
        chosen.append((int(tokens.document[a]), int(tokens.starts[a])))
    return chosen


@given(TEXTS, st.integers(1, 20), st.integers(1, 20))
def test_no_token_is_handed_out_twice_and_all_are_in_the_end(
    texts: list[str], first: int, second: int
) -> None:
    given_ = ranked(texts, 0.1)
    lines = next_lines(given_, taken=[], size=first)
    lines += next_lines(given_, taken=lines, size=second)
    lines += next_lines(given_, taken=lines, size=10_000)
    assert next_lines(given_, taken=lines, size=10_000) == []
    covered = sorted((one.document, place) for one in lines for place in range(one.start, one.end))
    assert covered == sorted(set(covered))
    assert Counter(word for one in lines for word in one.text.split()) == Counter(
        word for text in texts for word in text.split()
    )


def test_a_line_is_the_text_at_its_place_with_what_stands_around_it() -> None:
    text = "Plan\n" + "word " * 100 + "\nSeen by Ana.\n" + "other " * 100
    likely = np.zeros(len(tokenise([text])))
    likely[tokenise([text]).starts == text.index("Ana")] = 0.2
    (line,) = next_lines(ranked([text], likely), taken=[], size=5)
    assert line.text == text[line.start : line.end] == "Seen by Ana."
    before, after = line.before.removeprefix("… "), line.after.removesuffix(" …")
    assert before + line.text + after in text
    assert len(before) <= 200
    assert before.startswith("word")
    assert after.startswith("\nother")
    assert line.why == (
        "A close call on 1 of 4 words: without you it is expected to cost 0.8 harmless words."
    )


def test_a_word_that_the_batch_has_already_is_worth_less_than_another() -> None:
    texts = ["Summer went home", "Summer went there", "Autumn went home"]
    likely = [0.1, 0, 0] * 3
    lines = next_lines(ranked(texts, likely), taken=[], size=6)
    assert [one.document for one in lines] == [0, 2]


def test_what_is_sure_has_no_doubt_and_the_rest_has_what_the_committee_has() -> None:
    text = "Ana May called 020 7946 0123 on Monday"
    removals = [
        TextRemoval(
            0, 7, "NAME", (RemovalReason("rule", "title"), RemovalReason("known", "surname"))
        ),
        TextRemoval(15, 28, "PHONE", (RemovalReason("pattern", "phone"),)),
        TextRemoval(32, 38, "DATE", (RemovalReason("pass", "consensus", 1),)),
    ]
    given_ = ranked([text], [0.05] * 6 + [0.25] * 2, proposals=[removals])
    (line,) = next_lines(given_, taken=[], size=10)
    assert [(one.by, one.doubt) for one in line.proposals] == [
        ("known surname", 0.0),
        ("pattern phone", 0.0),
        ("pass 1, consensus", 0.75),
    ]
    assert [text[one.start : one.end] for one in line.proposals] == [
        "Ana May",
        "020 7946 0123",
        "Monday",
    ]


def test_a_long_line_is_read_in_pieces_that_end_with_sentences() -> None:
    sentence = "It is well with us all here today . "
    tokens = tokenise([sentence * 30, "word " * 200, "", "short"])
    first, end = cut_lines(tokens)
    assert (end - first).max() <= LONGEST
    assert first.tolist() == [0, *end.tolist()[:-1]]
    ends = {int(one) for one in end if tokens.document[one - 1] == 0}
    assert ends == {*range(54, 270, 54), 270}
