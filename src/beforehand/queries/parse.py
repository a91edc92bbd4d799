"""Text to question."""

from __future__ import annotations

import json
import re
from functools import lru_cache, reduce
from operator import and_, or_
from pathlib import Path
from typing import Any

from lark import Lark, Token, Transformer, UnexpectedCharacters, UnexpectedInput, UnexpectedToken
from lark.exceptions import VisitError

from beforehand.errors import QueryError, QuerySyntaxError, UnknownLabelError, did_you_mean
from beforehand.queries import propositions as say
from beforehand.queries import questions as ask
from beforehand.queries.patterns import One, Pattern, Repeat, chain, choice
from beforehand.queries.sets import KEYWORDS, Anything, Complement, EventSet, LabelPattern, Labels, Spelled
from beforehand.queries.texts import Text

# What the parser's terminals are called when it tells a person what it expected.
_SPOKEN = {
    "WORD": "an event",
    "STRING": None,
    "EXPRESSION": None,
    "LBRACE": None,
    "INT": "a number",
    "COMPARE": "a comparison (=, >=, <=)",
    "TIMES": None,
    "STAR": None,
    "PLUS": None,
    "QMARK": None,
    "VBAR": "'|'",
    "_ANY": None,
    "_NOT": None,
    "_P": "'P('",
    "_E": "'E('",
    "LPAR": "'('",
    "RPAR": "')'",
    "RBRACE": "'}'",
    "COMMA": "','",
    "EQUAL": "'='",
    "__ANON_0": "'..'",
    "$END": "the end of the question",
}


def parse(text: str) -> ask.Question:
    """The question that a text asks.

    >>> str(parse("P( purchase before logout )"))
    'P(purchase before logout)'
    """
    if not isinstance(text, str):
        raise QueryError(f"parse takes text; got {text!r}")
    return _parsed(text)


@lru_cache(maxsize=1024)
def _parsed(text: str) -> ask.Question:
    try:
        question = _Builder().transform(_parser().parse(text)).children[0]
    except UnexpectedInput as error:
        raise QuerySyntaxError(_complaint(text, error)) from None
    except VisitError as error:
        if isinstance(error.orig_exc, QueryError):
            raise _placed(text, error.orig_exc, error.obj) from None
        raise
    except RecursionError:
        raise QuerySyntaxError("the question is nested too deeply; ask its parts apart") from None
    assert isinstance(question, ask.Question)
    return question


def point(text: str, position: int, message: str) -> str:
    """A message with the line of the text and a caret under the character it speaks of."""
    line_start = text.rfind("\n", 0, position) + 1
    line = text[line_start:].split("\n", 1)[0]
    return f"{message}\n\n    {line}\n    {' ' * (position - line_start)}^"


def locate(text: str, error: QueryError) -> QueryError:
    """The same error, with a caret under the label or the pattern that it is about in the text of the question."""
    for token in _parser().lex(text):
        named = token.type in ("WORD", "STRING") and isinstance(error, UnknownLabelError) and _label(token) == error.label
        if named or (token.type == "EXPRESSION" and error.about in _read_as(token)):
            error.args = (point(text, token.start_pos or 0, str(error)),)
            break
    return error


def _read_as(token: Token) -> list[object]:
    """A regular expression speaks of labels, or of a text."""
    of_text = Text(str(token)[1:-1].replace("\\/", "/"), expression=True).wanted
    try:
        return [of_text, LabelPattern(str(token)[1:-1])]
    except QueryError:
        return [of_text]


def _placed(text: str, error: QueryError, made_of: Any) -> QueryError:
    """The same error, with a caret under the number that is wrong, or where the part begins that is."""
    if isinstance(made_of, Token):
        position = made_of.start_pos or 0
    else:
        numbers = made_of.scan_values(lambda value: isinstance(value, Token) and value.type == "INT")
        wrong = next((token.start_pos for token in numbers if int(token) == error.about), None)
        position = made_of.meta.start_pos if wrong is None else wrong
    error.args = (point(text, position, str(error)),)
    return error


@lru_cache(maxsize=1)
def _parser() -> Lark:
    grammar = Path(__file__).with_name("language.lark").read_text(encoding="utf-8")
    return Lark(grammar, parser="lalr", maybe_placeholders=False, propagate_positions=True)


def _complaint(text: str, error: UnexpectedInput) -> str:
    ended = isinstance(error, UnexpectedToken) and error.token.type == "$END"
    position = len(text.rstrip()) if ended else int(error.pos_in_stream or 0)
    accepted = set(getattr(error, "accepts", None) or getattr(error, "expected", None) or getattr(error, "allowed", None) or ())
    wanted = sorted({name for each in accepted if (name := _SPOKEN.get(each, f"'{each.strip('_').lower()}'"))})
    if isinstance(error, UnexpectedCharacters):
        got = repr(text[position])
        if "STRING" in accepted:
            wanted.append('a label in "quotes"')
    else:
        got = "the end of the text" if ended else repr(str(error.token))  # type: ignore[attr-defined]
    word = re.match(r"\w+", text[position:])
    spoken = [keyword for each in accepted if (keyword := each.strip("_").lower()) in KEYWORDS]
    near = did_you_mean(word[0], spoken) if word and not word[0].isdigit() and spoken else ""
    hint = near if "did you mean" in near else ""
    if "STRING" in accepted and (number := re.match(r"\d+", text[position:])):
        hint = f'; a label that is a number is written in quotes: "{number[0]}"'
    return point(text, position, f"expected {_either(wanted)}, got {got}{hint}")


def _either(names: list[str]) -> str:
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " or " + names[-1] if names else "something else"


def _label(token: Token) -> str:
    if token.type != "STRING":
        return str(token)
    text = str(token)
    if text[0] == "'":  # JSON knows double quotes alone
        text = '"' + text[1:-1].replace("\\'", "'").replace('"', '\\"') + '"'
    try:
        return str(json.loads(text, strict=False))
    except json.JSONDecodeError:
        raise QueryError(f'{token} is not a label: the escapes are those of JSON (\\n, \\t, \\", \\\\, \\u00e9)') from None


class _Builder(Transformer[Token, Any]):
    """The parser's tree to the objects of the language, bottom up."""

    def INT(self, token: Token) -> int:  # noqa: N802 - lark calls terminals by their names
        if len(token) > 15:
            raise QueryError(f"the number {token[:9]}… of {len(token)} digits is too large")
        return int(token)

    def WORD(self, token: Token) -> str:  # noqa: N802
        return _label(token)

    STRING = WORD

    def labels(self, names: list[str]) -> EventSet:
        return Labels(tuple(names))

    def anything(self, _: list[Any]) -> EventSet:
        return Anything()

    def complement(self, parts: list[EventSet]) -> EventSet:
        return Complement(parts[0])

    def label_pattern(self, tokens: list[Token]) -> EventSet:
        return LabelPattern(str(tokens[0])[1:-1])

    def token_containing(self, parts: list[str]) -> EventSet:
        return Spelled("containing", parts[0])

    def token_starting(self, parts: list[str]) -> EventSet:
        return Spelled("starting with", parts[0])

    def token_ending(self, parts: list[str]) -> EventSet:
        return Spelled("ending with", parts[0])

    def text_contains(self, parts: list[str]) -> Text:
        return _text(parts[0], anywhere=True)

    def text_matches(self, parts: list[str]) -> Text:
        return _text(parts[0], anywhere=False)

    def one(self, parts: list[EventSet]) -> Pattern:
        return One(parts[0])

    def chain(self, parts: list[Pattern]) -> Pattern:
        return chain(parts)

    def choice(self, parts: list[Pattern]) -> Pattern:
        return choice(parts)

    def any_number(self, parts: list[Pattern]) -> Pattern:
        return Repeat(parts[0], 0, None)

    def at_least_one(self, parts: list[Pattern]) -> Pattern:
        return Repeat(parts[0], 1, None)

    def maybe(self, parts: list[Pattern]) -> Pattern:
        return Repeat(parts[0], 0, 1)

    def times(self, parts: list[Any]) -> Pattern:
        low, _, high = str(parts[1])[1:-1].partition("..")
        exact = ".." not in str(parts[1])
        return Repeat(parts[0], int(low), int(low) if exact else int(high) if high.strip() else None)

    def later(self, _: list[Any]) -> bool:
        return False

    def at_once(self, _: list[Any]) -> bool:
        return True

    def equal(self, parts: list[int]) -> tuple[str, int, int]:
        return "=", parts[0], parts[0]

    def between(self, parts: list[int]) -> tuple[str, int, int]:
        return "in", parts[0], parts[1]

    def compare(self, parts: list[Any]) -> tuple[str, int, int]:
        return str(parts[0]), parts[1], parts[1]

    def when_is(self, parts: list[Any]) -> say.Proposition:
        return _ranged(lambda low, high: say.WhenIs(parts[0], low, high), parts[1], floor=1)

    def count_is(self, parts: list[Any]) -> say.Proposition:
        return _ranged(lambda low, high: say.CountIs(parts[0], low, high, parts[2]), parts[1], floor=0)

    def event_is(self, parts: list[Any]) -> say.Proposition:
        return say.EventIs(*parts)

    def says(self, parts: list[Any]) -> say.Proposition:
        return say.Says(*parts)

    def occurs(self, parts: list[Any]) -> say.Proposition:
        return say.Occurs(*parts)

    def before(self, parts: list[Any]) -> say.Proposition:
        return say.Before(*parts)

    def until(self, parts: list[Any]) -> say.Proposition:
        return say.Until(*parts)

    def then(self, parts: list[Any]) -> say.Proposition:
        *chained, horizon = parts
        return say.Sequence(tuple(chained[::2]), tuple(chained[1::2]), horizon)

    def never(self, parts: list[Any]) -> say.Proposition:
        return say.Never(*parts)

    def always(self, parts: list[Any]) -> say.Proposition:
        return say.Always(*parts)

    def matches(self, parts: list[Any]) -> say.Proposition:
        return say.Matches(*parts)

    def negation(self, parts: list[say.Proposition]) -> say.Proposition:
        return ~parts[0]

    def both(self, parts: list[say.Proposition]) -> say.Proposition:
        return reduce(and_, parts)

    def either(self, parts: list[say.Proposition]) -> say.Proposition:
        return reduce(or_, parts)

    def probability(self, parts: list[say.Proposition]) -> ask.Question:
        return ask.Probability(*parts)

    def next(self, _: list[Any]) -> ask.Question:
        return ask.EventAt(1)

    def event_at(self, parts: list[int]) -> ask.Question:
        return ask.EventAt(parts[0])

    def when_distribution(self, parts: list[Any]) -> ask.Question:
        return ask.WhenDistribution(*parts)

    def count_distribution(self, parts: list[Any]) -> ask.Question:
        return ask.CountDistribution(*parts)

    def which(self, parts: list[Any]) -> ask.Question:
        return ask.Which(tuple(parts[:-1]), parts[-1])

    def expectation(self, parts: list[Any]) -> ask.Question:
        return ask.Expectation(parts[0])

    def futures(self, parts: list[say.Proposition]) -> ask.Question:
        return ask.Futures(parts[0])


def _text(needle: str, anywhere: bool) -> Text:
    """A regular expression still has its slashes."""
    if isinstance(needle, Token):
        return Text(str(needle)[1:-1].replace("\\/", "/"), expression=True, anywhere=anywhere)
    return Text(needle, anywhere=anywhere)


def _ranged(make: Any, spoken: tuple[str, int, int], floor: int) -> say.Proposition:
    word, low, high = spoken
    ranges = {"=": (low, high), "in": (low, high), "!=": (low, high)}
    ranges |= {">=": (low, None), ">": (low + 1, None), "<=": (floor, high), "<": (floor, high - 1)}  # type: ignore[dict-item]
    made: say.Proposition = make(*ranges[word])
    return ~made if word == "!=" else made
