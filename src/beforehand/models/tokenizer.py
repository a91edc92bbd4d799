"""A tokenizer's tokens as a vocabulary."""

from __future__ import annotations

from typing import Any

from beforehand.errors import ModelError
from beforehand.events.tokens import Tokens

NEEDED = 'language models need more than is installed: pip install "beforehand[language-models]"'
# A model may have so many more outputs than its tokenizer has tokens, to fill up blocks: in all, or as a share.
MOST_PADDING, MOST_SHARE = 16, 0.05


def tokens_of(tokenizer: Any, size: int) -> Tokens:
    """The tokens of a model with so many outputs; those that the tokenizer does not know are called `<unused i>`."""
    try:
        from llguidance.hf import from_tokenizer
    except ImportError:
        raise ModelError(NEEDED) from None
    if not getattr(tokenizer, "is_fast", False):
        raise ModelError(f"{type(tokenizer).__name__} is not a fast tokenizer; load it with AutoTokenizer.from_pretrained(folder)")
    known = len(tokenizer)
    highest = max(tokenizer.get_vocab().values(), default=-1) + 1
    if highest > size or size - known > max(MOST_PADDING, MOST_SHARE * size):
        raise ModelError(
            f"the tokenizer knows {known:,} tokens and the model {size:,}: they do not belong together; "
            "load both from the same folder"
        )
    inner = from_tokenizer(tokenizer, n_vocab=size)
    names = tokenizer.convert_ids_to_tokens(list(range(size)))
    special = {i for i, name in enumerate(names) if name is None or inner.is_special_token(i)} | set(tokenizer.all_special_ids)
    pieces = [b"" if i in special else inner.decode_bytes([i]) for i in range(size)]
    bos, eos = tokenizer.bos_token_id, tokenizer.eos_token_id
    begins = bos is not None and bos != eos and tokenizer("a").input_ids[:1] == [bos]

    def cut(text: str) -> list[int]:
        return list(map(int, tokenizer(text, add_special_tokens=False).input_ids))

    called = [f"<unused {i}>" if name is None else name for i, name in enumerate(names)]
    return Tokens(pieces, called, special, cut, start=bos if begins else None, end=eos)
