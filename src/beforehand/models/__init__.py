"""Models: a past becomes a distribution over the next event.

In: ids, in ragged histories. Out: a `State`, whose `log_probs` are all that the rest of the house looks at. `protocol` is the
contract; `Markov`, `Recurrent`, `Transformer`, `Tempered`, `Function` and `HuggingFace` keep it, and so may anything else. Nothing
here knows of questions.
"""

from beforehand.models.distil import prepare
from beforehand.models.function import Function
from beforehand.models.huggingface import HuggingFace
from beforehand.models.language import load_language_model
from beforehand.models.markov import Markov
from beforehand.models.protocol import Model, State, join
from beforehand.models.recurrent import Recurrent
from beforehand.models.settings import PAPER, Settings
from beforehand.models.storage import load, save
from beforehand.models.surrogate import Prepared, Surrogate
from beforehand.models.tempered import Tempered
from beforehand.models.train import train
from beforehand.models.transformer import Transformer

__all__ = [
    "PAPER",
    "Function",
    "HuggingFace",
    "Markov",
    "Model",
    "Prepared",
    "Recurrent",
    "Settings",
    "State",
    "Surrogate",
    "Tempered",
    "Transformer",
    "join",
    "load",
    "load_language_model",
    "prepare",
    "save",
    "train",
]
