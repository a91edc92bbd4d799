"""How to train: chosen for the size of a log, or by name."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from beforehand.errors import ModelError

KINDS = ("recurrent", "transformer", "markov")


@dataclass(frozen=True)
class Settings:
    """What a training run is made of. `warm_up` is a share of all steps; `decay` lets the learning rate fall to a twentieth."""

    kind: Literal["recurrent", "transformer", "markov"] = "recurrent"
    cell: Literal["lstm", "gru"] = "lstm"
    hidden: int = 128
    layers: int = 1
    dropout: float = 0.1
    learning_rate: float = 3e-3
    warm_up: float = 0.02
    decay: bool = True
    epochs: int = 20
    patience: int = 3
    batch_events: int = 4_096
    window: int = 128
    keep: Literal["loss", "accuracy"] = "loss"
    validation: float = 0.1
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("hidden", "layers", "epochs", "patience", "batch_events", "window"):
            if not isinstance(getattr(self, name), int) or getattr(self, name) < 1:
                raise ModelError(f"{name} is a whole number of 1 or more; got {getattr(self, name)!r}")
        for name in ("dropout", "warm_up", "validation"):
            if not 0 <= getattr(self, name) < 1:
                raise ModelError(f"{name} is from 0 to below 1; got {getattr(self, name)!r}")
        if self.kind not in KINDS or self.cell not in ("lstm", "gru"):
            raise ModelError(f"a model is one of {', '.join(KINDS)}, a cell lstm or gru; got {self.kind!r} and {self.cell!r}")

    def described(self) -> dict[str, Any]:
        """As JSON has it."""
        return asdict(self)


# Section 5 and appendix of the paper: two layers of 512, dropout 0.3, Adam at 1e-3 after 1 % of warm-up, best accuracy kept.
PAPER = Settings(
    hidden=512, layers=2, dropout=0.3, learning_rate=1e-3, warm_up=0.01, decay=False, keep="accuracy", epochs=40, patience=5
)
# A run reads about so many events in all, unless the log is so small that this would be more than the most passes.
EVENTS_IN_ALL, MOST_EPOCHS, FEWEST_EPOCHS = 6_000_000, 40, 3


def settings_for(events: int, wanted: Settings | str | None, kind: str, **changes: Any) -> Settings:
    """The settings wanted, or those that suit a log of so many events."""
    if isinstance(wanted, Settings):
        base = wanted
    elif wanted == "paper":
        base = PAPER
    elif wanted is not None:
        raise ModelError(f"settings are 'paper', a Settings, or None for those that suit the log; got {wanted!r}")
    else:
        hidden = 64 if events < 100_000 else 128
        epochs = min(MOST_EPOCHS, max(FEWEST_EPOCHS, EVENTS_IN_ALL // max(1, events)))
        batch = min(8_192, max(1_024, events // 100))
        rate = 3e-3 if kind == "transformer" else 5e-3
        base = Settings(kind=kind, hidden=hidden, epochs=epochs, batch_events=batch, learning_rate=rate)  # type: ignore[arg-type]
        base = replace(base, layers=2) if kind == "transformer" else base
    if base.kind != kind and wanted is not None and kind != "recurrent":
        base = replace(base, kind=kind)  # type: ignore[arg-type]
    return replace(base, **{name: value for name, value in changes.items() if value is not None})
