"""The paper's data sets, from their public files: sequences of labels.

Each is read from a folder (`--data`) if its file is there, or else fetched from its public address when that is asked for. Prepared
as the paper says: users with at least 15 events; reviews of defined categories only. Two of the five cannot be had everywhere; the
nearest stand-ins are other public sets of the same kind, and are always called by their own names.
"""

from __future__ import annotations

import ast
import csv
import gzip
import random
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import polars as pl

LEAST = 15
# Characters of one piece of Shakespeare.
PIECE = 100


@dataclass(frozen=True)
class Source:
    """Where a data set comes from, how it is read, and what it stands for."""

    file: str  # within the data folder; a folder for sets of several files
    addresses: tuple[str, ...]
    read: Callable[[Path], Iterator[list[str]]]
    stands_for: str | None = None


def sequences(name: str, data: Path) -> list[list[str]]:
    """All sequences of a data set, in the order of the file; says which file it needs if that is not there."""
    source = SOURCES[name]
    path = data / source.file
    if not path.exists():
        where = f"; `python -m paper fetch {name}` gets it from {source.addresses[0]}" if source.addresses else ""
        raise SystemExit(f"{name} needs {path}, which is not here{where}")
    return [events for events in source.read(path) if len(events) >= LEAST]


def fetch(name: str, data: Path) -> None:
    """Gets the public files of a data set; those that are there stay."""
    import pooch

    source = SOURCES[name]
    if not source.addresses:
        raise SystemExit(f"{name} has no public address that is known here; put its file at {data / source.file}")
    several = len(source.addresses) > 1
    folder = data / source.file if several else (data / source.file).parent
    for address in source.addresses:
        target = Path(address).name if several else Path(source.file).name
        unpacked = pooch.Decompress(name=target) if address.endswith(".gz") and not target.endswith(".gz") else None
        fetched = target + ".gz" if unpacked else target
        pooch.retrieve(address, known_hash=None, path=folder, fname=fetched, processor=unpacked, progressbar=False)


def sampled(name: str, data: Path, count: int, length: int, seed: int = 0) -> list[list[str]]:
    """The beginnings of some sequences that are long enough, drawn at random."""
    long_enough = [events[:length] for events in sequences(name, data) if len(events) >= length]
    return random.Random(seed).sample(long_enough, min(count, len(long_enough)))


def reviews(folder: Path) -> Iterator[list[str]]:
    """One file of ratings per category: item, user, rating, time. A user's reviews in the order of time, each its category."""
    files = sorted(folder.glob("*.csv"))
    if not files:
        raise SystemExit(f"{folder} holds no .csv: one file of ratings per category is wanted (item, user, rating, timestamp)")
    columns = ["item", "user", "rating", "time"]
    tables = [
        pl.scan_csv(file, has_header=False, new_columns=columns).select("user", "time", pl.lit(file.stem).alias("event"))
        for file in files
    ]
    yield from _by_user(pl.concat(tables).collect())


def apps(file: Path) -> Iterator[list[str]]:
    """lsapp.tsv: user_id, session_id, timestamp, app_name, event_type; what counts is that an app was opened."""
    table = pl.read_csv(file, separator="\t", infer_schema=False)
    opened = table.filter(pl.col("event_type").str.to_lowercase() == "opened")
    yield from _by_user(
        opened.select(pl.col("user_id").alias("user"), pl.col("timestamp").alias("time"), pl.col("app_name").alias("event"))
    )


def _by_user(table: pl.DataFrame) -> Iterator[list[str]]:
    grouped = table.sort("time", maintain_order=True).group_by("user", maintain_order=True).agg("event")
    yield from grouped.sort("user")["event"].to_list()


def moocs(file: Path) -> Iterator[list[str]]:
    """JODIE's form: user_id, item_id and more, in the order of time; gzipped or not."""
    users: dict[int, list[str]] = {}
    with file.open("rb") as packed, gzip.open(file, "rt") if packed.read(2) == b"\x1f\x8b" else file.open() as lines:
        reader = csv.reader(lines)
        names = next(reader)
        user, item = names.index("user_id"), names.index("item_id")
        for row in reader:
            users.setdefault(int(float(row[user])), []).append(row[item])
    yield from users.values()


def shakespeare(file: Path) -> Iterator[list[str]]:
    """Pieces of the text, character by character."""
    text = file.read_text()
    yield from (list(text[first : first + PIECE]) for first in range(0, len(text), PIECE))


def typed(folder: Path) -> Iterator[list[str]]:
    """EasyTPP's form: a row per event with the number of its sequence and its kind, or a list of kinds per row."""
    for file in sorted(folder.glob("*.csv")):
        with file.open() as lines:
            found: dict[str, list[str]] = {}
            for number, row in enumerate(csv.DictReader(lines)):
                key = row.get("seq_idx") or row.get("seq") or row.get("seq_id") or str(number)
                kind = row.get("type_event") or ""
                found.setdefault(key, []).extend(map(str, ast.literal_eval(kind)) if kind.startswith("[") else [kind])
        yield from found.values()


def msnbc(file: Path) -> Iterator[list[str]]:
    """One session a line, kinds of pages as numbers."""
    with zipfile.ZipFile(file) as archive, archive.open(next(n for n in archive.namelist() if not n.startswith("_"))) as lines:
        for line in lines:
            words = line.decode().split()
            if words and all(word.isdigit() for word in words):
                yield words


LSAPP = "https://raw.githubusercontent.com/aliannejadi/LSApp/main/lsapp.tsv.gz"
JODIE = "http://snap.stanford.edu/jodie/mooc.csv"
GUTENBERG = "https://www.gutenberg.org/cache/epub/100/pg100.txt"
MSNBC = "https://archive.ics.uci.edu/static/public/133/msnbc+com+anonymous+web+data.zip"
RATINGS = "https://datarepo.eng.ucsd.edu/mcauley_group/data/amazon_v2/categoryFilesSmall/"
CATEGORIES = [
    "AMAZON_FASHION",
    "All_Beauty",
    "Appliances",
    "Arts_Crafts_and_Sewing",
    "Automotive",
    "Books",
    "CDs_and_Vinyl",
    "Cell_Phones_and_Accessories",
    "Clothing_Shoes_and_Jewelry",
    "Digital_Music",
    "Electronics",
    "Gift_Cards",
    "Grocery_and_Gourmet_Food",
    "Home_and_Kitchen",
    "Industrial_and_Scientific",
    "Kindle_Store",
    "Luxury_Beauty",
    "Magazine_Subscriptions",
    "Movies_and_TV",
    "Musical_Instruments",
    "Office_Products",
    "Patio_Lawn_and_Garden",
    "Pet_Supplies",
    "Prime_Pantry",
    "Software",
    "Sports_and_Outdoors",
    "Tools_and_Home_Improvement",
    "Toys_and_Games",
    "Video_Games",
]
SOURCES = {
    "reviews": Source("reviews", tuple(f"{RATINGS}{category}.csv" for category in CATEGORIES), reviews),
    "apps": Source("lsapp/lsapp.tsv", (LSAPP,), apps),
    "moocs": Source("moocs/events.csv.gz", (JODIE,), moocs),
    "shakespeare": Source("shakespeare/shakespeare.txt", (GUTENBERG,), shakespeare),
    "amazon": Source("amazon", (), typed, stands_for="reviews"),
    "taobao": Source("taobao", (), typed, stands_for="apps"),
    "msnbc": Source("msnbc/msnbc990928.zip", (MSNBC,), msnbc, stands_for="apps"),
}
