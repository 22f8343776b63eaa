"""A PostgreSQL transaction through ADBC.

Each failure is reported in one sentence of voile's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from voile.core.errors import RequestError, SourceError, install
from voile.data.postgres.address import INSTEAD, DatabaseAddress

if TYPE_CHECKING:
    from adbc_driver_manager.dbapi import Connection

SETTINGS = {
    "client_encoding": "UTF8",
    "DateStyle": "ISO, YMD",
    "IntervalStyle": "postgres",
    "TimeZone": "UTC",
    "idle_in_transaction_session_timeout": "0",
    "row_security": "off",
}
"""Settings that fix the text format of values and reject hidden rows.

Rows hidden by row-level security raise an error, because counts would silently lack some people.
"""

PHYSICAL = (
    "enable_bitmapscan",
    "enable_indexonlyscan",
    "enable_indexscan",
    "synchronize_seqscans",
)
"""Settings that are turned off, so that rows have table order for any selection of columns."""


LOST = "the server ended the query, or the connection was lost"
ITS_LOG = "the server's log says why"


class RefusedError(SourceError):
    """The database server refused a request. Check the address and your rights.

    code : the SQLSTATE, or "" if there is none.
    """

    def __init__(self, what: str, code: str, *, where: str, instead: str) -> None:
        super().__init__(what, where=where, instead=instead)
        self.code = code


class DatabaseSession:
    """One transaction on one connection. It leaves no trace unless it is committed.

    snapshot : the exported snapshot of another session, with the rows at the start of that session.
    write : whether the session may write. A session that only reads sees one state of the database.

    Raises RequestError: the driver is not installed. Raises SourceError: the server cannot be
    reached, or refuses the user.
    """

    def __init__(
        self, address: DatabaseAddress, *, snapshot: str | None = None, write: bool = False
    ) -> None:
        self.address = address
        self._connection = _connect(address)
        try:
            if not write:
                self.run("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            if snapshot is not None:
                self.run(f"SET TRANSACTION SNAPSHOT {literal(snapshot)}")
            self.set(SETTINGS)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> DatabaseSession:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def set(self, settings: dict[str, str]) -> None:
        """Set server settings for this transaction only."""
        pairs = [
            f"set_config({literal(name)}, {literal(to)}, true)" for name, to in settings.items()
        ]
        self.run(f"SELECT {', '.join(pairs)}")

    def run(self, sql: str) -> list[tuple[Any, ...]]:
        with failures(self.address.name), self._connection.cursor() as cursor:
            cursor.execute(sql)
            return cursor.fetchall() if cursor.description else []

    def stream(self, sql: str) -> Iterator[pa.RecordBatch]:
        """Run a query and yield its rows as the server sends them, about 16 MB at a time."""
        with failures(self.address.name), self._connection.cursor() as cursor:
            cursor.execute(sql)
            yield from cursor.fetch_record_batch()

    def ingest(self, schema: str, table: str, rows: pa.RecordBatchReader) -> None:
        """Stream rows into an existing table with COPY."""
        with failures(self.address.name), self._connection.cursor() as cursor:
            cursor.adbc_ingest(table, rows, mode="append", db_schema_name=schema)

    def commit(self) -> None:
        """Make the written rows visible to everyone."""
        with failures(self.address.name):
            self._connection.commit()

    def close(self) -> None:
        """End the transaction and the connection. Uncommitted changes are discarded."""
        with suppress(Exception):
            self._connection.close()


def literal(text: str) -> str:
    """Quote a text for SQL.

    >>> print(literal("it's"))
    'it''s'
    """
    return "'" + text.replace("'", "''") + "'"


def _connect(address: DatabaseAddress) -> Connection:
    try:
        from adbc_driver_manager import Error
        from adbc_driver_postgresql import dbapi
    except ImportError:
        raise RequestError(
            "PostgreSQL needs its ADBC driver, which is not installed",
            instead=install("postgres"),
        ) from None
    try:
        connection: Connection = dbapi.connect(address.url)
    except Error as error:
        raise _explain_refusal(str(error), address) from None
    return connection


_UNREACHED = {
    "definition of service|service file": ("there is no such service", "see ~/.pg_service.conf"),
    "authentication failed|no password supplied": ("the server wants another password", INSTEAD),
    "pg_hba.conf": ("the server does not let this user in from here", "ask who administers it"),
    "database .* does not exist": ("the server has no such database", "see psql --list"),
    "role .* does not exist": ("the server has no such user", "name one before the host's @"),
    "translate host name": ("there is no such host", "check the address"),
    "too many (clients|connections)|connection slots": ("the server is full", "try again later"),
    "invalid URI|invalid connection option": ("the address cannot be read", "check its options"),
}
"""The message when libpq cannot connect, by a pattern of libpq's message, which is not printed."""


def _explain_refusal(words: str, address: DatabaseAddress) -> SourceError:
    for pattern, (what, instead) in _UNREACHED.items():
        if re.search(pattern, words):
            return SourceError(what, where=address.database, instead=instead)
    return SourceError(
        "the database cannot be reached",
        where=address.database,
        instead="check the host and the port, and that the server runs",
    )


_REFUSALS = {
    "42501": (
        "this role may not, or row-level security hides some rows from it",
        "ask for the privilege, or use a role that sees all rows",
    ),
    "53100": ("the server's disk is full", "nothing was written"),
    "57014": ("the server cancelled the query", "raise statement_timeout"),
}
"""The message for each SQLSTATE. The server's own messages quote names and rows."""


@contextmanager
def failures(name: str) -> Iterator[None]:
    """Report in one sentence why the server refused a request, without the server's words."""
    from adbc_driver_manager import Error

    try:
        yield
    except Error as error:
        code = error.sqlstate or ""
        what, instead = _REFUSALS.get(code, (f"the server refused (SQLSTATE {code})", ITS_LOG))
        lost = not code or code.startswith(("08", "57P"))
        raise RefusedError(LOST if lost else what, code, where=name, instead=instead) from None
    except (OSError, pa.ArrowException):  # while rows stream, no SQLSTATE is passed on
        raise RefusedError(LOST, "", where=name, instead=ITS_LOG) from None
