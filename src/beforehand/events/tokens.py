"""Vocabularies whose events are pieces of text: the tokens of a language model."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from beforehand.events.vocabulary import Vocabulary

Cut = Callable[[str], list[int]]
# What ends a sentence, as far as one token tells.
SENTENCE_END = (b".", b"!", b"?")


class Tokens(Vocabulary):
    """Tokens by the text that they add; `pieces` are their bytes, which need not be valid text on their own.

    `names` are what the tokenizer calls them: those of `special` tokens, which add no text, are their labels. `cut` turns a text
    into ids. The group `sentence_end` holds the tokens with a full stop, an exclamation or a question mark.
    """

    pieces: tuple[bytes, ...]
    cut: Cut

    def __init__(
        self,
        pieces: Sequence[bytes],
        names: Sequence[str],
        special: Collection[int],
        cut: Cut,
        start: int | None = None,
        end: int | None = None,
    ) -> None:
        labels = _labels(pieces, names, special)
        ends = [labels[i] for i, piece in enumerate(pieces) if i not in special and any(sign in piece for sign in SENTENCE_END)]
        groups = {"sentence_end": ends} if ends and "sentence_end" not in labels else {}
        first, last = (None if each is None else labels[each] for each in (start, end))
        super().__init__(labels, start=first, end=last, groups=groups)
        object.__setattr__(self, "pieces", tuple(b"" if i in special else bytes(piece) for i, piece in enumerate(pieces)))
        object.__setattr__(self, "cut", cut)

    def encode(self, text: str) -> list[int]:
        """The ids that a text is read as."""
        return self.cut(text)


def spelling(vocabulary: Vocabulary) -> tuple[bytes, ...]:
    """What each event adds to a text: a token its bytes, any other event its label; start and end add nothing."""
    if isinstance(vocabulary, Tokens):
        return vocabulary.pieces
    silent = {vocabulary.start, vocabulary.end}
    return tuple(b"" if label in silent else label.encode() for label in vocabulary.labels)


def _labels(pieces: Sequence[bytes], names: Sequence[str], special: Collection[int]) -> list[str]:
    """The text of each token, if it is one and no other token has it."""
    found: list[str] = []
    taken: set[str] = set()
    for number, (piece, name) in enumerate(zip(pieces, names, strict=True)):
        label = name if number in special else _text(piece)
        while label in taken:
            label = f"{label}<{number}>"
        taken.add(label)
        found.append(label)
    return found


def _text(piece: bytes) -> str:
    try:
        return piece.decode() or "<nothing>"
    except UnicodeDecodeError:
        return "".join(f"<{byte:02X}>" for byte in piece)
