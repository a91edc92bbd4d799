from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import beforehand as bh
from beforehand.errors import QueryError, QuerySyntaxError, UnknownLabelError
from beforehand.queries.questions import CountDistribution, Probability, Question
from beforehand.queries.sets import Labels
from beforehand.testing import letters, random_markov
from tests.queries.strategies import asked

BOTH_WAYS: list[tuple[str, object]] = [
    ("P(purchase within 30)", bh.P(bh.occurs("purchase").within(30))),
    ("P(event(10) = purchase)", bh.P(bh.event(10) == "purchase")),
    ("P(when(purchase) = 10)", bh.P(bh.when("purchase") == 10)),
    ("P(when(purchase) in 2..5)", bh.P(bh.when("purchase").between(2, 5))),
    ("P(when(purchase) > 4)", bh.P(bh.when("purchase") > 4)),
    ("P(purchase before logout)", bh.P(bh.occurs("purchase").before("logout"))),
    ("P(purchase before logout within 30)", bh.P(bh.occurs("purchase").before("logout").within(30))),
    ("P(count(error) = 3 within 10)", bh.P(bh.count("error").within(10) == 3)),
    ("P(count({e, a}) = 4 within 10)", bh.P(bh.count({"a", "e"}).within(10) == 4)),
    ("P(count(error) >= 2 within 10)", bh.P(bh.count("error").within(10) >= 2)),
    ("P(count(error) != 2 within 10)", bh.P(bh.count("error").within(10) != 2)),
    ("P(count(error) in 2..4 within 10)", bh.P(bh.count("error").within(10).between(2, 4))),
    ("P(browse then cart then purchase within 20)", bh.P(bh.occurs("browse").then("cart").then("purchase").within(20))),
    ("P(cart immediately then purchase within 20)", bh.P(bh.occurs("cart").then("purchase", immediately=True).within(20))),
    ("P(never refund within 50)", bh.P(bh.never("refund").within(50))),
    ("P(always {a, b} within 5)", bh.P(bh.always({"a", "b"}).within(5))),
    ("P(browse until purchase within 20)", bh.P(bh.occurs("browse").until("purchase").within(20))),
    (
        "P(matches (view cart?)* purchase within 20)",
        bh.P(
            bh.matches(bh.Repeat(bh.chain([bh.pattern("view"), bh.Repeat(bh.pattern("cart"), 0, 1)]), 0, None), "purchase").within(
                20
            )
        ),
    ),
    ("P((a within 5) and not (b within 10))", bh.P(bh.occurs("a").within(5) & ~bh.occurs("b").within(10))),
    ("P(a within 5 or b within 10)", bh.P(bh.occurs("a").within(5) | bh.occurs("b").within(10))),
    ("P(purchase within 10 | cart within 3)", bh.P(bh.occurs("purchase").within(10), given=bh.occurs("cart").within(3))),
    ("next", bh.next_event),
    ("event(10)", bh.event(10)),
    ("when(purchase) within 50", bh.when("purchase").within(50)),
    ("count({a, e, i, o, u}) within 10", bh.count(set("aeiou")).within(10)),
    ("which(purchase, logout, refund) within 30", bh.which("purchase", "logout", "refund").within(30)),
    ("E(when(purchase) within 50)", bh.E(bh.when("purchase").within(50))),
    ("E(count(purchase) within 50)", bh.E(bh.count("purchase").within(50))),
    ("futures where purchase within 10", bh.futures(bh.occurs("purchase").within(10))),
    ("P(not a within 3)", bh.P(bh.occurs(~Labels(("a",))).within(3))),
    ("P(any until a within 3)", bh.P(bh.occurs(bh.any_event).until("a").within(3))),
    ("P(/^ca.t/ within 3)", bh.P(bh.occurs(bh.matching("^ca.t")).within(3))),
    ("P(matches (a {b, c} | {a, c} any) within 2)", bh.P(bh.products(["a", {"b", "c"}], [{"a", "c"}, bh.any_event]))),
]


@pytest.mark.parametrize("text,built", BOTH_WAYS, ids=[text for text, _ in BOTH_WAYS])
def test_text_and_builder_give_the_same_object(text: str, built: object) -> None:
    from beforehand.queries import as_question

    assert bh.parse(text) == as_question(built)
    assert bh.parse(str(bh.parse(text))) == bh.parse(text)


@given(asked)
@settings(max_examples=300, deadline=None)
def test_every_question_says_itself_in_text(question: Question) -> None:
    assert bh.parse(str(question)) == question


@given(st.lists(st.text(min_size=1), min_size=1, max_size=3))
@settings(max_examples=200, deadline=None)
def test_labels_of_any_text(names: list[str]) -> None:
    question = CountDistribution(Labels(tuple(names)), 3)
    assert bh.parse(str(question)) == question


@pytest.mark.parametrize(
    "label", ['say "hi"', "a\nb", "8", "событие", "活动", "within", "ca t", "-", "\\", "x-y", "a/b", "{", "\u2028"]
)
def test_odd_labels_are_asked_and_answered(label: str) -> None:
    model = bh.Markov.from_table([[0.25, 0.75], [0.5, 0.5]], bh.Vocabulary([label, "other"]))
    question = bh.P(bh.occurs(label).within(1))
    assert bh.ask(model, str(question), ["other"]).value == 0.5
    assert isinstance(bh.parse(str(question)), Probability)


@pytest.mark.parametrize(
    "text,position,words",
    [
        ("P(purchase within)", 17, "a number"),
        ("P(purchase befor logout)", 11, "did you mean 'before'"),
        ("P(purchase within 30", 20, "')'"),
        ("P(count(error) 3 within 10)", 15, "comparison"),
        ("P(a within 5) x", 14, "the end of the question"),
        ("P(a # b)", 4, "expected"),
        ("P(a within next)", 11, "a number"),
        ("Q(a within 3)", 0, "'P('"),
        ("P(a within 3 and\n b wihtin 3)", 3, "did you mean 'within'"),
        ("", 0, "expected"),
    ],
)
def test_errors_point_at_the_character(text: str, position: int, words: str) -> None:
    with pytest.raises(QuerySyntaxError) as raised:
        bh.parse(text)
    message, caret = str(raised.value), str(raised.value).splitlines()[-1]
    assert words in message
    assert caret.index("^") - 4 == position


def test_unknown_labels_are_pointed_at_with_the_nearest_known() -> None:
    shop = bh.Markov.from_table([[0.5, 0.5], [0.5, 0.5]], bh.Vocabulary(["purchase", "log out"]))
    with pytest.raises(UnknownLabelError) as raised:
        bh.ask(shop, 'P("log out" within 3 and purchas within 3)', ["purchase"])
    assert "did you mean 'purchase'?" in str(raised.value)
    assert str(raised.value).splitlines()[-1].index("^") - 4 == 25


@pytest.mark.parametrize(
    "text,under",
    [("P(a within 3 and b within 0)", "0"), ("event(0)", "0"), ("P(/[/ within 3)", "/"), ("P(count(a) in 5..3 within 9)", "3")],
)
def test_wrong_numbers_and_patterns_are_pointed_at(text: str, under: str) -> None:
    with pytest.raises(QueryError) as raised:
        bh.parse(text)
    assert text[str(raised.value).splitlines()[-1].index("^") - 4] == under


def test_parentheses_that_change_nothing_make_the_same_object() -> None:
    a, b, c = (bh.occurs(label).within(i) for i, label in enumerate("abc", start=1))
    assert bh.parse("P(a within 1 and (b within 2 and c within 3))") == bh.P(a & (b & c)) == bh.P(a & b & c)
    assert bh.parse("P((a within 1 or b within 2) or c within 3)") == bh.P(a | b | c)


def test_keywords_are_whole_words_and_quotes_are_offered() -> None:
    for text, hint in (
        ("EVENT(3)", "did you mean 'event'"),
        ("P(a within 3 orb within 4)", "'or'"),
        ("P(a within 3) and 'b'", "expected"),
        ("P(3 within 4)", 'a label that is a number is written in quotes: "3"'),
    ):
        with pytest.raises(QuerySyntaxError, match=hint):
            bh.parse(text)
    assert bh.parse("""P('say "b"' within 3)""") == bh.P(bh.occurs('say "b"').within(3))
    assert bh.parse(r"""P('it\'s' within 3)""") == bh.P(bh.occurs("it's").within(3))


def test_expressions_take_no_time_to_speak_of() -> None:
    vocabulary = bh.Vocabulary(["a" * 40 + "b", "aa"])
    assert bh.matching("^(a+)+$").resolve(vocabulary).tolist() == [False, True]


@pytest.mark.parametrize(
    "text,words",
    [
        ("P(a within 0)", "at least 1"),
        ("event(0)", "at least 1"),
        ("P(a within 99999999)", "past the limit"),
        ("P(when(a) in 5..3)", "empty"),
        ("P(count(a) in 5..3 within 9)", "empty"),
        ("P(when(a) < 1)", "at least 1"),
        ("which(a) within 3", "expected"),
        ("P(/[/ within 3)", "regular expression"),
        ('P("\\q" within 3)', "escapes"),
        ("P(matches a{3..2} within 9)", "repetition"),
        ("P(matches a{9999} within 9)", "at most 4,000"),
        ("P(a within 99999999999999999999)", "too large"),
        ("P(" + "(" * 3_000 + "a within 3" + ")" * 3_001, "nested"),
        ("P(/(?=a)/ within 3)", "look-around"),
        ("P({} within 3)", "an event"),
    ],
)
def test_impossible_questions_say_why(text: str, words: str) -> None:
    with pytest.raises(QueryError, match=words):
        bh.parse(text)


def test_builders_refuse_what_is_no_question() -> None:
    for wrong in (
        lambda: bh.P("a within 3"),  # type: ignore[arg-type]
        lambda: bh.occurs("a").within(3) & "b",  # type: ignore[operator]
        lambda: bh.occurs(set()),
        lambda: bh.occurs([3]),  # type: ignore[list-item]
        lambda: bh.when("a") == "soon",
        lambda: bh.occurs("a").within(-1),
        lambda: bh.occurs("a").within(2.5),  # type: ignore[arg-type]
        lambda: bh.E(bh.next_event),
        lambda: bh.ask(random_markov(), bh.occurs("a").within(3), [0]),
        lambda: bh.ask(random_markov(), 17, [0]),
        lambda: bh.P(bh.occurs("a").within(3) and bh.occurs("b").within(3)),
        lambda: bh.P(2 <= bh.when("a") <= 5),
        lambda: bh.event(3) > 2,
        lambda: bh.occurs(5),  # type: ignore[arg-type]
        lambda: bh.occurs("a").within(None),  # type: ignore[arg-type]
        lambda: bh.futures("a"),  # type: ignore[arg-type]
        lambda: bh.count("a").within(3).between(1.5, 2),  # type: ignore[arg-type]
        lambda: bh.matching(""),
        lambda: bh.matches(),
        lambda: bh.chain([]),
        lambda: bh.Repeat("a", 0, None),  # type: ignore[arg-type]
        lambda: bh.Repeat(bh.pattern("a"), 0, 10**9),
        lambda: bh.products(5),  # type: ignore[arg-type]
    ):
        with pytest.raises(QueryError):
            wrong()


def test_a_set_that_matches_nothing_is_an_error_and_one_that_is_everything_is_not() -> None:
    model = random_markov(3)
    with pytest.raises(QueryError, match="no label"):
        bh.ask(model, "P(/zebra/ within 3)", ["a"])
    assert bh.ask(model, "P({a, b, c} within 3)", ["a"]).value == 1
    assert bh.ask(model, "P(not {a, b, c} within 3)", ["a"]).value == 0


def test_groups_are_used_like_labels() -> None:
    vocabulary = bh.Vocabulary(letters(3).labels, groups={"vowels": ["a"], "rest": ["b", "c"]})
    model = bh.Markov(random_markov(3).probabilities, random_markov(3).follow, vocabulary, needs=1)
    assert bh.ask(model, "P(rest within 2)", ["a"]).value == bh.ask(model, "P({b, c} within 2)", ["a"]).value
