# SPDX-License-Identifier: GPL-2.0-only
"""Measurements as files: CSV, one file each, or one SQLite database, one table each.

The database is laid out as OML2's server lays out its own (mytestbed.net): each table begins with
oml_sender_id, oml_seq, oml_ts_client and oml_ts_server; `_senders` names the senders, here the
runs; `_experiment_metadata` has keys and values, the schema's number among them. Both timestamps
are seconds after t0, as a run has one clock.
"""

from __future__ import annotations

import csv
import sqlite3
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from apbed.export.measurements import SCHEMA, Measurement
from apbed.export.results import Experiment

APPLICATION = "apbed"  # OML's tables are named APPLICATION_MEASUREMENT
OML_COLUMNS = (
    "oml_sender_id INTEGER",
    "oml_seq INTEGER",
    "oml_ts_client REAL",
    "oml_ts_server REAL",
)
SQL_TYPES = {str: "TEXT", float: "REAL", int: "INTEGER"}


def write_csv(measurements: Sequence[Measurement], directory: Path) -> None:
    """DIRECTORY/MEASUREMENT.csv: a header line, then a line a row (RFC 4180, but ends with \\n)."""
    directory.mkdir()
    for one in measurements:
        with (directory / f"{one.name}.csv").open("w", newline="") as file:
            lines = csv.writer(file, lineterminator="\n")
            lines.writerow(("run", "t_s", *one.columns))
            lines.writerows((row.run, row.t_s, *row.values) for row in one.rows)


def write_sqlite(experiment: Experiment, measurements: Sequence[Measurement], path: Path) -> None:
    """One database; equal experiments give equal ones."""
    senders = {run.id: number for number, run in enumerate(experiment.runs, start=1)}
    metadata = {
        "schema": str(SCHEMA),
        "scenario": experiment.scenario,
        "title": experiment.title,
        "start_time": "0",  # virtual: timestamps count from it
    }
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE _experiment_metadata (key TEXT PRIMARY KEY, value TEXT)")
        database.executemany("INSERT INTO _experiment_metadata VALUES (?, ?)", metadata.items())
        database.execute("CREATE TABLE _senders (name TEXT PRIMARY KEY, id INTEGER UNIQUE)")
        database.executemany("INSERT INTO _senders VALUES (?, ?)", senders.items())
        for one in measurements:
            _add_table(database, one, senders)


def _add_table(database: sqlite3.Connection, one: Measurement, senders: dict[str, int]) -> None:
    table = f"{APPLICATION}_{one.name}"
    kinds = zip(one.columns, one.kinds(), strict=True)
    columns = [*OML_COLUMNS, *(f'"{name}" {SQL_TYPES[kind]}' for name, kind in kinds)]
    database.execute(f"CREATE TABLE {table} ({', '.join(columns)})")
    marks = ", ".join("?" * len(columns))
    sequence: Counter[str] = Counter()
    for row in one.rows:
        sequence[row.run] += 1
        about = (senders[row.run], sequence[row.run], row.t_s, row.t_s)
        database.execute(f"INSERT INTO {table} VALUES ({marks})", (*about, *row.values))
