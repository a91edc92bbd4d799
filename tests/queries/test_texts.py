"""Questions about text, against every word of a small vocabulary and Python's own regular expressions."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest

import beforehand as bh
from beforehand.errors import QueryError
from beforehand.events.tokens import Tokens
from beforehand.queries import compile_questions
from beforehand.queries.texts import BLOCK, Text, walk
from beforehand.testing import check_automaton, enumerate_futures

# Pieces that overlap, one that is half of a letter, one that adds nothing.
PIECES = (b"a", b"b", b"ab", b"ba.", "é".encode()[:1], "é".encode()[1:], b"", b"0")
WORDS = Tokens(PIECES, [f"t{i}" for i in range(8)], {6}, lambda text: [], end=None)
# Half a letter is not a letter: no regular expression matches it.
UNFINISHED = "a[^b\udc80-\udcff]*b[^\udc80-\udcff]a"


def a_model(order: int = 1) -> bh.Markov:
    table = np.random.default_rng(0).dirichlet(np.ones(len(PIECES)), size=(len(PIECES),) * order)
    return bh.Markov.from_table(table, WORDS)


def spoken(word: tuple[int, ...]) -> bytes:
    return b"".join(PIECES[i] for i in word)


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ('P(text contains "ab" within 4)', lambda text: b"ab" in text),
        ('P(text contains "aba" within 4)', lambda text: b"aba" in text),
        ('P(text matches "ab" within 4)', lambda text: text.startswith(b"ab")),
        ("P(text contains /b+a/ within 4)", lambda text: re.search(rb"b+a", text)),
        ("P(text matches /(ab|ba)[.0]/ within 4)", lambda text: re.match(rb"(ab|ba)[.0]", text)),
        ("P(text contains /é/ within 4)", lambda text: "é".encode() in text),
        ("P(text contains /a[^b]*b.a/ within 4)", lambda text: re.search(UNFINISHED, text.decode(errors="surrogateescape"))),
        ('P(text contains "ab" and not text contains "ba" within 4)', None),
        (r"P(text matches /\d/ within 1)", lambda text: text.startswith(b"0")),
    ],
)
def test_a_text_is_found_however_it_is_cut(question: str, found: object) -> None:
    model = a_model()
    if found is None:
        question = 'P(text contains "ab" within 4 and not (text contains "ba" within 4))'
        found = lambda text: b"ab" in text and b"ba" not in text  # noqa: E731
    length = 1 if "within 1" in question else 4
    truth = sum(chance for word, chance in enumerate_futures(model, [0], length) if found(spoken(word)))  # type: ignore[operator, misc]
    assert 0 < truth < 1
    assert bh.ask(model, question, np.array([0])).value == pytest.approx(truth, abs=1e-12)
    check_automaton(compile_questions((bh.parse(question),), WORDS))


def test_when_a_phrase_is_complete() -> None:
    model = a_model()
    answer = bh.ask(model, 'when(text contains "ab0") within 4', np.array([0]))
    for steps in (1, 2, 3, 4):
        truth = sum(chance for word, chance in enumerate_futures(model, [0], steps) if b"ab0" in spoken(word))
        assert answer.value[:steps].sum() == pytest.approx(truth, abs=1e-12)


def test_which_text_comes_first() -> None:
    model, options = a_model(), (b"ab", b"b0", b"a0")
    answer = bh.ask(model, bh.which(*(bh.text.contains(option.decode()) for option in options)).within(3), np.array([0]))
    wanted = np.zeros(3)
    for word, chance in enumerate_futures(model, [0], 3):
        ends = [spoken(word).find(option) + len(option) if option in spoken(word) else 10**9 for option in options]
        if min(ends) < 10**9:
            wanted[int(np.argmin(ends))] += chance
    assert answer.value == pytest.approx(wanted, abs=1e-12) and answer.labels == ("ab", "b0", "a0")


def test_text_and_builders_say_the_same() -> None:
    for text, built in (
        ('P(text contains "a\\"b" within 3)', bh.P(bh.text.contains('a"b').within(3))),
        (r"P(text matches /a\/b+/ within 3)", bh.P(bh.text.matches(re.compile("a/b+")).within(3))),
        ('when(text contains "a") within 3', bh.when(bh.text.contains("a")).within(3)),
        (
            'P(token containing "a" before token ending with "b")',
            bh.P(bh.occurs(bh.token.containing("a")).before(bh.token.ending_with("b"))),
        ),
        ('P(not token starting with "a" within 3)', bh.P(bh.occurs(~bh.token.starting_with("a")).within(3))),
    ):
        assert bh.parse(text) == built and bh.parse(str(built)) == built


def test_words_of_the_language_are_still_labels() -> None:
    model = bh.Markov.from_table([[0.5, 0.5], [0.5, 0.5]], bh.Vocabulary(["text", "token"]))
    assert bh.ask(model, "P(text within 2)", ["token"]).value == 0.75
    assert bh.ask(model, "P(text before token)", ["token"]).value == 0.5


def test_tokens_by_their_text() -> None:
    model = a_model()
    first = model.start([[0]]).log_probs[0].exp()
    for question, ids in (("containing", (1, 2, 3)), ("starting with", (1, 3)), ("ending with", (1, 2))):
        assert bh.ask(model, f'P(token {question} "b" within 1)', np.array([0])).value == pytest.approx(
            float(first[list(ids)].sum())
        )


def test_labels_of_tokens_are_texts_and_differ() -> None:
    words = Tokens([b"a", b"a", b"\xc3", b"", b"<s>", b""], list("uvwxyz"), {4, 5}, lambda text: [1], start=4, end=5)
    assert words.labels == ("a", "a<1>", "<C3>", "<nothing>", "y", "z") and words.start == "y" and words.end == "z"
    assert words.pieces[4] == b"" and words.encode("a") == [1]


def test_a_sequence_that_ends_says_no_more() -> None:
    words = Tokens([b"a", b"b", b"</s>"], ["a", "b", "</s>"], {2}, lambda text: [], end=2)
    model = bh.Markov.from_table([[0.2, 0.3, 0.5]] * 3, words)
    assert bh.ask(model, 'P(text contains "ab" within 2)', np.array([0])).value == pytest.approx(0.06)
    assert bh.ask(model, 'P(text contains "aa" within 3)', np.array([1])).value == pytest.approx(0.04 + 0.3 * 0.04 + 0 * 0.2)


def test_many_states_and_kinds_of_events() -> None:
    """More states than are walked at once, and a vocabulary of all short words."""
    words = ["".join(letters) for size in (1, 2, 3) for letters in itertools.product("abc", repeat=size)]
    walked = walk((Text("a" * (2 * BLOCK) + "b", anywhere=False),), bh.Vocabulary(words))
    assert len(walked.moves) == 2 * BLOCK + 1
    state = 0
    for _ in range(2 * BLOCK // 2):
        state = walked.moves[state, walked.kinds[words.index("aa")]]
    assert walked.moves[state, walked.kinds[words.index("b")]] == -1 and walked.moves[state, walked.kinds[words.index("a")]] == -2
    assert walked.moves[state, walked.kinds[words.index("bca")]] == -1, "found in the middle of an event"


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("P(text contains /(/ within 3)", "cannot be looked for"),
        ("P(text contains /a*/ within 3)", "nothing at all matches it"),
        ('P(text contains "" within 3)', "not empty"),
        ("P(text contains a within 3)", "expected"),
        ('which(text contains "a", b) within 3', "expected"),
        ('P(token containing "zzz" within 3)', "no event of the 8"),
        ("P(text contains /(a|b)*a(a|b){14}/ within 3)", "more than 4,000 states"),
    ],
)
def test_texts_that_cannot_be_looked_for(question: str, said: str) -> None:
    with pytest.raises(QueryError, match=re.escape(said)):
        bh.ask(a_model(), question, np.array([0]))
