"""Small language models with random weights, and a tokenizer learned from a few sentences."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import torch

SENTENCES = [
    "the cat sat on the mat.",
    "the dog sat on the other mat, then the cat left!",
    "there is a théâtre in the thermal bath?",
]


@lru_cache(maxsize=4)
def _trained() -> str:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    letters = pre_tokenizers.ByteLevel.alphabet()
    made.train_from_iterator(
        SENTENCES, trainers.BpeTrainer(vocab_size=300, special_tokens=["<s>", "</s>"], initial_alphabet=letters)
    )
    return str(made.to_str())


def tokenizer(bos: str | None = "<s>") -> Any:
    """At most 300 tokens: all bytes, and what is frequent in the sentences."""
    from tokenizers import Tokenizer
    from transformers import PreTrainedTokenizerFast

    return PreTrainedTokenizerFast(tokenizer_object=Tokenizer.from_str(_trained()), bos_token=bos, eos_token="</s>")


def gpt2(vocabulary: int = 300) -> Any:
    """Two layers of two heads."""
    from transformers import GPT2Config, GPT2LMHeadModel

    torch.manual_seed(0)
    config = GPT2Config(vocab_size=vocabulary, n_positions=64, n_embd=16, n_layer=2, n_head=2, bos_token_id=0, eos_token_id=1)
    return _sharper(GPT2LMHeadModel(config))


def llama() -> Any:
    """Four heads of queries to two of keys, and turning positions."""
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    config = LlamaConfig(**_sizes(), num_attention_heads=4, num_key_value_heads=2)
    return _sharper(LlamaForCausalLM(config))


def mistral() -> Any:
    """Looks at the last three tokens only."""
    from transformers import MistralConfig, MistralForCausalLM

    torch.manual_seed(0)
    config = MistralConfig(**_sizes(), num_attention_heads=4, num_key_value_heads=2, sliding_window=3)
    return _sharper(MistralForCausalLM(config))


def _sizes() -> dict[str, Any]:
    sizes = {"vocab_size": 300, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "max_position_embeddings": 64}
    return sizes | {"bos_token_id": 0, "eos_token_id": 1}


def _sharper(network: Any) -> Any:
    """Random weights say next to nothing; larger ones make a difference between tokens, and between pasts."""
    with torch.no_grad():
        for weight in network.parameters():
            if weight.dim() > 1:
                weight *= 8
    return network.eval()
