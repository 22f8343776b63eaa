"""Install the reader from the files of an encoder."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

import tomli_w

from voile.data.files.atomic import write_folder
from voile.data.files.outputs import OutputKind, holds_only
from voile.documents.reader.installed import GRAPH, INDEX, TOKENIZER, InstalledReader, reader_folder

if TYPE_CHECKING:
    from voile.documents.reader.sources import EncoderSource


def install_reader(source: EncoderSource, layer: int | None = None) -> InstalledReader:
    """Build the graph of a source, and save it in the user's data folder.

    layer : the layer to read. By default the listed layer of a known encoder, or the middle layer.
    """
    from voile.documents.reader.graph import build_graph
    from voile.documents.reader.sources import KNOWN

    known = KNOWN.get(source.sha256)
    if layer is None:
        layer = known.layer if known else (source.weights.layers + 1) // 2
    graph = build_graph(source.weights, layer)
    tokenizer = json.dumps(source.tokenizer, ensure_ascii=False).encode()
    reader = InstalledReader(
        name=known.name if known else "unlisted",
        sha256=source.sha256,
        is_listed=known is not None,
        layer=layer,
        width=source.weights.width,
        source=source.file,
        graph=hashlib.sha256(graph).hexdigest(),
        tokenizer=hashlib.sha256(tokenizer).hexdigest(),
    )
    place = reader_folder()
    place.parent.mkdir(parents=True, exist_ok=True)
    with write_folder(place, READER, force=True) as folder:
        (folder / GRAPH).write_bytes(graph)
        (folder / TOKENIZER).write_bytes(tokenizer)
        (folder / INDEX).write_text(tomli_w.dumps(reader.model_dump()), "utf-8")
    return reader


READER = OutputKind(
    "an installed reader",
    {"": lambda path: (path / INDEX).is_file() and holds_only(path, {INDEX, GRAPH, TOKENIZER})},
)
