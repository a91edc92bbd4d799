"""Charts of answers: one specification for notebook, page, PNG and SVG (altair). Each reads at a glance and says what it shows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from beforehand.errors import BeforehandError

if TYPE_CHECKING:
    from beforehand.answers.answer import Answer, Distribution, FuturesFound
    from beforehand.answers.resolve import Resolving

INK, MAIN, SOFT = "#1f2933", "#2563a8", "#a9c6e3"
WIDTH, HEIGHT = 560, 300
# More bars than these cannot be read; the likeliest are shown.
MOST_BARS = 25
# Nor bars smaller than this share of the largest.
TINY = 0.002
FEW = {"tickCount": 6}
TOOLTIP = ["label:N", "value:Q", "low:Q", "high:Q"]


def altair() -> Any:
    """The library, or how to get it."""
    try:
        import altair
    except ImportError:
        raise BeforehandError("plots need the package altair: pip install 'beforehand[plots]'") from None
    return altair


def styled(chart: Any, title: str, subtitle: str = "", height: int = HEIGHT) -> Any:
    """The common look."""
    grey = "#52606d"
    heading = altair().TitleParams(title, subtitle=subtitle, anchor="start", color=INK, subtitleColor=grey, fontSize=15, offset=12)
    axis = {"labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": "normal", "gridColor": "#e4e7eb", "domainColor": "#9aa5b1"}
    return chart.properties(title=heading, width=WIDTH, height=height).configure_view(strokeWidth=0).configure_axis(**axis)


def of_answer(answer: Answer) -> Any:
    """One probability on the line from 0 to 1, with its interval."""
    alt = altair()
    data = alt.Data(values=[{"value": answer.value, "low": answer.low, "high": answer.high, "y": ""}])
    top = 1 if answer.low >= 0 and answer.high <= 1 else answer.high * 1.1
    scale = alt.Scale(domain=[0, top if answer.high > 0.05 else answer.high * 1.3 or 1])
    base = alt.Chart(data).encode(y=alt.Y("y:N", title=None, axis=None))
    band = base.mark_bar(color=SOFT, height=26).encode(x=alt.X("low:Q", title="probability", scale=scale, axis=FEW), x2="high:Q")
    point = base.mark_tick(color=MAIN, thickness=4, size=44).encode(x="value:Q", tooltip=["value:Q", "low:Q", "high:Q"])
    return styled(band + point, answer.question, str(answer), height=70)


def of_distribution(answer: Distribution) -> Any:
    """Bars with error bars, of labels the likeliest; of numbers in their order, as steps with a band where there are many."""
    subtitle = f"{answer.confidence:.0%} intervals · {answer.cost}"
    if answer.undecided > 1e-12:
        subtitle += f" · {answer.undecided:.3f} undecided"
    chart, height = _of_numbers(answer) if answer.numbers is not None else _of_labels(answer)
    return styled(chart, answer.question, subtitle, height)


def _rows(answer: Distribution) -> list[dict[str, Any]]:
    numbers = zip(answer.labels, answer.value.tolist(), answer.low.tolist(), answer.high.tolist(), strict=True)
    return [dict(zip(("label", "value", "low", "high"), each, strict=True)) for each in numbers]


def _of_numbers(answer: Distribution) -> tuple[Any, int]:
    alt, rows = altair(), [row | {"label": float(row["label"])} for row in _rows(answer)]
    base, y = alt.Chart(alt.Data(values=rows)), alt.Y("value:Q", title="probability")
    title = "steps from now" if answer.question.startswith("when") else "how often"
    if len(rows) > MOST_BARS:
        x = alt.X("label:Q", title=title)
        band = base.mark_area(color=SOFT, interpolate="step").encode(x=x, y=alt.Y("low:Q", title="probability"), y2="high:Q")
        return band + base.mark_line(color=MAIN, interpolate="step").encode(x=x, y="value:Q"), HEIGHT
    x = alt.X("label:O", title=title, axis=alt.Axis(labelAngle=0, grid=False))
    bars = base.mark_bar(color=MAIN).encode(x=x, y=y, tooltip=TOOLTIP)
    return bars + base.mark_rule(color=INK, strokeWidth=1.5).encode(x=x, y="low:Q", y2="high:Q"), HEIGHT


def _of_labels(answer: Distribution) -> tuple[Any, int]:
    top = float(answer.value.max())
    seen = [row for row in _rows(answer) if float(row["value"]) >= TINY * top]
    alt, rows = altair(), sorted(seen, key=lambda row: -float(row["value"]))[:MOST_BARS]
    base = alt.Chart(alt.Data(values=rows))
    y = alt.Y("label:N", sort=None, title=None, axis=alt.Axis(labelLimit=220, grid=False))
    bars = base.mark_bar(color=MAIN).encode(y=y, x=alt.X("value:Q", title="probability", axis=FEW), tooltip=TOOLTIP)
    return bars + base.mark_rule(color=INK, strokeWidth=1.5).encode(y=y, x="low:Q", x2="high:Q"), max(60, 22 * len(rows))


def of_futures(found: FuturesFound) -> Any:
    """The likeliest futures, each with its chance."""
    alt = altair()
    rows = [{"label": " → ".join(each.events), "value": each.probability} for each in found.likely]
    y = alt.Y("label:N", sort=None, title=None, axis=alt.Axis(labelLimit=420, grid=False))
    x = alt.X("value:Q", title="probability of exactly these events", axis=FEW)
    bars = alt.Chart(alt.Data(values=rows)).mark_bar(color=MAIN).encode(y=y, x=x, tooltip=["label:N", "value:Q"])
    return styled(bars, found.question, f"the likeliest found · {found.cost}", height=max(60, 30 * len(rows)))


def of_resolving(found: Resolving) -> Any:
    """Two curves with bands."""
    alt, rows = altair(), []
    for name, *arrays in zip(found.names, found.value, found.low, found.high, strict=True):
        for step, (value, low, high) in enumerate(zip(*(each.tolist() for each in arrays), strict=True), 1):
            rows.append({"step": step, "first": name, "value": value, "low": low, "high": high})
    color = alt.Color("first:N", title="came first", sort=None, scale=alt.Scale(range=[MAIN, "#c2571a"]))
    base = alt.Chart(alt.Data(values=rows)).encode(x=alt.X("step:Q", title="steps from now"), color=color)
    band = base.mark_area(opacity=0.25).encode(y=alt.Y("low:Q", title="probability"), y2="high:Q")
    line = base.mark_line(strokeWidth=2.5).encode(y="value:Q", tooltip=["step:Q", "first:N", "value:Q", "low:Q", "high:Q"])
    return styled(band + line, found.question, f"by which came first, step by step · {found.cost}")


def write(chart: Any, path: str | Path) -> Path:
    """To a PNG, SVG or a self-contained HTML file, by its ending."""
    target = check_place(path)
    ending = target.suffix.lower().removeprefix(".")
    try:
        if ending == "html":
            target.write_text(page(chart))
        else:
            chart.save(str(target), **({"scale_factor": 2} if ending == "png" else {}))
    except OSError as error:
        raise BeforehandError(f"the plot could not be written to {target}: {error.strerror or error}") from None
    return target


def check_place(path: str | Path) -> Path:
    """Where a plot can be written."""
    target = Path(path)
    if target.suffix.lower() not in (".png", ".svg", ".html"):
        raise BeforehandError(f"a plot is written to a .png, .svg or .html file; got {target.name}")
    if not target.parent.is_dir():
        raise BeforehandError(f"there is no folder {target.parent} to write the plot to")
    return target


def page(chart: Any) -> str:
    """HTML that needs no network: the drawing library comes along."""
    import vl_convert

    return str(vl_convert.vegalite_to_html(chart.to_dict(), bundle=True))
