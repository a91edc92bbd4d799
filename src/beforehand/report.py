"""A report of one HTML file: words and charts, and the library that draws them; it needs no network."""

from __future__ import annotations

import html
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #1f2933; max-width: 900px; margin: 2.5rem auto; padding: 0 1.25rem; }
h1 { font-size: 1.7rem; } h2 { font-size: 1.15rem; margin: 2.2rem 0 .4rem; }
pre { font: 13px/1.45 ui-monospace, monospace; background: #f5f7fa; padding: .8rem 1rem; border-radius: 6px; }
pre { white-space: pre-wrap; }
.chart { overflow-x: auto; margin: .8rem 0; }
"""


@dataclass(frozen=True)
class Section:
    """A heading, what to say, and a chart if there is one."""

    heading: str
    text: str
    chart: Any = None


def write_report(path: Path, sections: list[Section], title: str = "beforehand: a shop, asked about its future") -> Path:
    """Writes the file."""
    import vl_convert

    body, drawn = [f"<h1>{html.escape(title)}</h1>"], []
    for number, section in enumerate(sections):
        body.append(f"<h2>{html.escape(section.heading)}</h2>\n<pre>{html.escape(section.text)}</pre>")
        if section.chart is not None:
            body.append(f'<div class="chart" id="chart{number}"></div>')
            specification = json.dumps(section.chart.to_dict()).replace("</", "<\\/")
            drawn.append(f'vegaEmbed("#chart{number}", {specification}, {{actions: false, renderer: "svg"}});')
    library = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;\n" + "\n".join(drawn))
    page = (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>{html.escape(title)}</title><style>{STYLE}</style></head>\n<body>\n" + "\n".join(body)
    )
    path.write_text(f'{page}\n<script type="module">{library}</script>\n</body></html>\n', encoding="utf-8")
    return path
