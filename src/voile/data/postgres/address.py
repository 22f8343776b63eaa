"""The address of a PostgreSQL table, without a password. Parsing it needs no server."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from voile.core.errors import RequestError

POSTGRESQL = ".postgresql"
"""The suffix of a file that represents a released table."""

SERVICE = "service="
URL = re.compile(
    r"(?:jdbc:)?postgres(?:ql)?(?:\+\w+)?:/+", re.IGNORECASE
)  # also in the forms of other programs
BRACKETS = re.compile(r"[^/?]*\[")  # an IPv6 host, whose colons name no table
PASSWORD = re.compile(r"[^@?]*:[^@]*@")  # after the scheme: the part between a colon and an @
WORD = re.compile(r"(^|[\s?&])\w*password\s*=", re.IGNORECASE)  # as in connection strings of libpq
INSTEAD = "use PGPASSWORD, ~/.pgpass, or a service file with service=NAME"


@dataclass(frozen=True)
class DatabaseAddress:
    """A PostgreSQL database, and optionally a table in it.

    url : the address for libpq. It contains no password, because libpq finds that itself.
    table : "name" or "schema.name" as stored in the database, not folded or quoted.

    >>> DatabaseAddress.parse("postgresql://db.example/clinic::visits")
    DatabaseAddress(url='postgresql://db.example/clinic', table='visits')
    >>> DatabaseAddress.parse("service=clinic::research.visits").name
    'clinic::research.visits'
    >>> print(DatabaseAddress.parse("visits.csv"))
    None
    """

    url: str
    table: str | None = None

    @classmethod
    def parse(cls, thing: str | os.PathLike[str]) -> DatabaseAddress | None:
        """Parse "postgresql://host/database::table" or "service=NAME::table".

        Return None for a file.

        A URL that was a `Path` has lost a slash, which is restored.
        """
        text = os.fspath(thing)
        if WORD.search(text):
            raise _password()
        if text.startswith(SERVICE):
            service, _, table = text.removeprefix(SERVICE).partition("::")
            return cls(f"postgresql:///?service={quote(service, safe='')}", table or None)
        scheme = URL.match(text)
        if scheme is None:
            return None
        rest = text[scheme.end() :]
        check_no_password(rest)
        at = rest.find("::", rest.find("]") if BRACKETS.match(rest) else 0)
        where, table = (rest, "") if at < 0 else (rest[:at], rest[at + 2 :])
        host_alone = scheme.group().endswith("//") and not scheme.group().endswith("///")
        return cls(f"postgresql://{_whole(where, host_alone=host_alone)}", table or None)

    @property
    def database(self) -> str:
        """The name of the database in messages: its name or service, never its host or user."""
        parts = urlsplit(self.url)
        given = dict(parse_qsl(parts.query))
        return (
            unquote(parts.path[1:]) or given.get("dbname") or given.get("service") or "postgresql"
        )

    @property
    def name(self) -> str:
        """The name of the table in messages."""
        return f"{self.database}::{self.table}" if self.table else self.database

    @property
    def file(self) -> str:
        """The name of the file that represents the table as a release."""
        return (self.table or self.database).replace("/", "_") + POSTGRESQL


def check_no_password(rest: str) -> None:
    """Raise RequestError for a password in a URL. Other users of the machine can see arguments."""
    keys = [key for key, _ in parse_qsl(rest.partition("?")[2], keep_blank_values=True)]
    if PASSWORD.match(rest) or any("password" in key.lower() for key in keys):
        raise _password()


def _password() -> RequestError:
    return RequestError(
        "the address contains a password, which other programs could read",
        where="database",
        instead=INSTEAD,
    )


def _whole(where: str, *, host_alone: bool) -> str:
    """Return the part after `//` of `//host/database`, or of `///database` on this machine.

    After a `Path`, both forms begin with one slash, so an address must name its database. A single
    part is then a database. After two slashes, it is a host.
    """
    place, mark, query = where.partition("?")
    parts = place.split("/")
    queried = any(key in ("dbname", "service") for key, _ in parse_qsl(query))
    host, database = parts if len(parts) == 2 else (parts[0], "") if host_alone else ("", parts[0])
    if len(parts) > 2 or not (database or queried):
        raise RequestError(
            "the address lacks the name of a database",
            where="database",
            instead="write postgresql://host/database::table",
        )
    return f"{host}/{database}{mark}{query}"
