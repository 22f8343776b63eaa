"""Read JSON and TOML files of voile, with limits of size and depth."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from voile.core.errors import DamagedError, RequestError, VoileError
from voile.core.mistakes import mistakes

if TYPE_CHECKING:
    from pydantic import BaseModel

LONGEST = 256 << 20
"""The largest number of bytes of a JSON or TOML file."""
DEEPEST = 64
"""The largest depth of nested lists and objects."""


class ReadableFile(Protocol):
    """A file on this machine, in memory or in a store."""

    def read_bytes(self) -> bytes:
        """Return all bytes of the file."""


M = TypeVar("M", bound="BaseModel")


def read_json(path: ReadableFile, what: str) -> Any:
    return parse_json(read_bytes(path), what, path)


def parse_json(raw: bytes, what: str, where: object) -> Any:
    try:
        data = json.loads(raw)
        if b"\\u" in raw:
            json.dumps(data, ensure_ascii=False).encode()  # an unpaired surrogate is not text
        if _is_deeper(data, DEEPEST):
            raise RecursionError
    except (ValueError, RecursionError):
        raise DamagedError(f"{what} is not valid JSON", where=str(where)) from None
    return data


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file, which a person may have edited."""
    try:
        data = tomllib.loads(read_bytes(path).decode("utf-8-sig"))
        if _is_deeper(data, DEEPEST):
            raise RecursionError
    except RecursionError:
        raise RequestError(
            "the file is not valid TOML: its tables are nested too deeply", where=str(path)
        ) from None
    except UnicodeDecodeError as error:
        said = f"byte {error.start} is not UTF-8 text"
        raise RequestError(f"the file is not valid TOML: {said}", where=str(path)) from None
    except ValueError as error:
        raise RequestError(
            f"the file is not valid TOML: {_short(error)}", where=str(path)
        ) from None
    return data


def read_bytes(path: ReadableFile) -> bytes:
    if not isinstance(path, Path):
        return path.read_bytes()
    try:
        if path.stat().st_size > LONGEST:
            raise RequestError(f"the file is larger than {LONGEST >> 20} MiB", where=str(path))
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        raise
    except OSError as error:
        raise RequestError(f"the file cannot be read ({error.strerror})", where=str(path)) from None


def check_model(model: type[M], data: Any, what: str, where: Path) -> M:
    """Validate the data of a file as a model. The error lists each mistake with its position."""
    from pydantic import ValidationError

    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise DamagedError(
            f"{what} is incomplete or has wrong fields: {mistakes(error)}", where=str(where)
        ) from None


@contextmanager
def fitting(what: str, where: Path | None = None) -> Iterator[None]:
    """Report inconsistent parts of a file as one DamagedError.

    Use it only for code that parses a file's contents, and cannot fail for other reasons. `--debug`
    shows the failing value.
    """
    try:
        yield
    except VoileError:
        raise
    except (
        ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError,
    ) as error:  # fmt: skip
        place = None if where is None else str(where)
        absent = str(error.args[0]) if isinstance(error, KeyError) and error.args else ""
        if absent.isidentifier():
            raise DamagedError(f"{what} lacks {absent[:60]}", where=place) from error
        raise DamagedError(f"{what} has parts that contradict each other", where=place) from error


def _is_deeper(data: Any, levels: int) -> bool:
    if isinstance(data, dict):
        data = data.values()
    elif not isinstance(data, list):
        return False
    return not levels or any(_is_deeper(part, levels - 1) for part in data)


def _short(said: object) -> str:
    text = str(said)
    return text if len(text) <= 200 else f"{text[:200]}..."
