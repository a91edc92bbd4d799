"""python -m paper list · run errors | all [--size small | full] [--data DIR] · draw all · page · fetch apps"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import polars as pl

from paper import before, budgets, complexity, coverage, efficiency, entropy, errors, habits, long_horizon, products, temperature
from paper.data import SOURCES, fetch
from paper.page import built
from paper.study import FULL, SMALL, Size, carry_out, written
from paper.subjects import SHARED

ORDER = (errors, budgets, efficiency, entropy, temperature, coverage, long_horizon, before, habits, products, complexity)
STUDIES = {each.STUDY.name: each.STUDY for each in ORDER}
SUBJECTS = ("moocs", "shakespeare", "amazon", "taobao")
RESULTS = Path(__file__).parent / "results"


def main() -> None:
    """The command."""
    options = argparse.ArgumentParser(prog="python -m paper", description=__doc__)
    options.add_argument("what", choices=("run", "draw", "page", "list", "fetch"))
    options.add_argument(
        "names", nargs="*", help=f"experiments: {', '.join(STUDIES)}, or all; data sets to fetch: {', '.join(SOURCES)}"
    )
    options.add_argument("--size", choices=("small", "full"), default="small")
    options.add_argument("--subjects", nargs="+", default=list(SUBJECTS), help="data sets")
    options.add_argument("--histories", type=int, help="instead of the size's")
    options.add_argument("--data", type=Path, default=SHARED / "data")
    options.add_argument("--out", type=Path, default=RESULTS)
    told = options.parse_args()
    if told.what == "list":
        print("\n".join(f"{name:13} {study.about.splitlines()[0]}" for name, study in STUDIES.items()))
        return
    if told.what == "fetch":
        for name in told.names:
            fetch(name, told.data)
        return
    if told.what == "run":
        sizes = SMALL if told.size == "small" else FULL
        size = Size(told.size, tuple(told.subjects), data=told.data, **sizes)  # type: ignore[arg-type]
        size = replace(size, histories=told.histories or size.histories)
        for name in STUDIES if "all" in told.names else told.names:
            carry_out(STUDIES[name], size, told.out)
        return
    if told.what == "draw":
        folder = told.out / told.size
        for name in STUDIES if "all" in told.names else told.names:
            written(STUDIES[name], pl.read_parquet(folder / f"{name}.parquet"), folder)
        return
    page = Path(__file__).parent / "README.md"
    page.write_text(built(STUDIES, told.out))
    print(f"wrote {page.name}")


if __name__ == "__main__":
    main()
