"""Random questions over small vocabularies, for hypothesis."""

from __future__ import annotations

from hypothesis import strategies as st

from beforehand.queries import patterns, questions
from beforehand.queries import propositions as say
from beforehand.queries.sets import Anything, Complement, Labels

LABELS = ["a", "b", "c"]
HORIZONS = st.integers(1, 5)

sets = st.recursive(
    st.one_of(
        st.lists(st.sampled_from(LABELS), min_size=1, max_size=2).map(lambda names: Labels(tuple(names))), st.just(Anything())
    ),
    lambda inner: inner.map(Complement),
    max_leaves=2,
)
pattern = st.recursive(
    sets.map(patterns.One),
    lambda inner: st.one_of(
        st.lists(inner, min_size=2, max_size=3).map(patterns.chain),
        st.lists(inner, min_size=2, max_size=2).map(patterns.choice),
        st.tuples(inner, st.sampled_from([(0, None), (1, None), (0, 1), (2, 2), (1, 2), (2, None)])).map(
            lambda drawn: patterns.Repeat(drawn[0], *drawn[1])
        ),
    ),
    max_leaves=4,
)


@st.composite
def sequences(draw: st.DrawFn) -> say.Sequence:
    steps = draw(st.lists(sets, min_size=2, max_size=3))
    immediate = draw(st.lists(st.booleans(), min_size=len(steps) - 1, max_size=len(steps) - 1))
    return say.Sequence(tuple(steps), tuple(immediate), draw(HORIZONS))


@st.composite
def counts(draw: st.DrawFn) -> say.CountIs:
    low = draw(st.integers(0, 4))
    high = draw(st.one_of(st.none(), st.integers(low, 6)))
    return say.CountIs(draw(sets), low, high, draw(HORIZONS))


@st.composite
def whens(draw: st.DrawFn) -> say.WhenIs:
    low = draw(st.integers(1, 4))
    return say.WhenIs(draw(sets), low, draw(st.one_of(st.none(), st.integers(low, 5))))


elementary = st.one_of(
    st.builds(say.Occurs, sets, HORIZONS),
    st.builds(say.Never, sets, HORIZONS),
    st.builds(say.Always, sets, HORIZONS),
    st.builds(say.Before, sets, sets, HORIZONS),
    st.builds(say.Until, sets, sets, HORIZONS),
    st.builds(say.EventIs, HORIZONS, sets),
    whens(),
    counts(),
    sequences(),
    st.builds(say.Matches, pattern, HORIZONS),
)
propositions = st.recursive(
    elementary,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(lambda pair: pair[0] & pair[1]),
        st.tuples(inner, inner).map(lambda pair: pair[0] | pair[1]),
        inner.map(say.Not),
    ),
    max_leaves=3,
)
asked = st.one_of(
    st.builds(questions.Probability, propositions, st.one_of(st.none(), propositions)),
    st.builds(questions.EventAt, HORIZONS),
    st.builds(questions.WhenDistribution, sets, HORIZONS),
    st.builds(questions.CountDistribution, sets, HORIZONS),
    st.builds(questions.Expectation, st.builds(questions.WhenDistribution, sets, HORIZONS)),
    st.builds(questions.Futures, propositions),
)
