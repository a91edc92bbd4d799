"""The chart of a backtest: what was said beside what came."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from beforehand.answers.plots import INK, MAIN, altair

if TYPE_CHECKING:
    from beforehand.backtesting.backtest import Backtest

SIZE = 240


def calibration(report: Backtest) -> Any:
    """One panel a question; on the diagonal, what was said came true as often as it was said."""
    alt = altair()
    panels = []
    for each in report.questions:
        rows = [vars(group) for group in each.calibration]
        top = max([group.high for group in each.calibration] + [group.said for group in each.calibration])
        scale = alt.Scale(domain=[0, min(1.0, top * 1.1)])
        base = alt.Chart(alt.Data(values=rows))
        x = alt.X("said:Q", title="said", scale=scale)
        points = base.mark_circle(color=MAIN, size=70, opacity=1).encode(x=x, y=alt.Y("came:Q", title="came true", scale=scale))
        bars = base.mark_rule(color=MAIN).encode(x=x, y="low:Q", y2="high:Q")
        ends = alt.Data(values=[{"said": 0, "came": 0}, {"said": min(1.0, top * 1.1), "came": min(1.0, top * 1.1)}])
        diagonal = alt.Chart(ends).mark_line(color="#9aa5b1", strokeDash=[4, 4]).encode(x=x, y=alt.Y("came:Q", scale=scale))
        title = alt.TitleParams(
            each.question, subtitle=[f"{each.cases:,} cases", each.verdict.split(":")[0]], anchor="start", color=INK
        )
        panels.append((diagonal + bars + points).properties(title=title, width=SIZE, height=SIZE))
    return (
        alt.concat(*panels, columns=3).configure_view(strokeWidth=0).configure_axis(gridColor="#e4e7eb", titleFontWeight="normal")
    )
