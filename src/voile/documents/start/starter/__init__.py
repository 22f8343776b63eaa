"""What was learnt from public text and comes with voile: how likely a token is part of a name."""

from voile.documents.start.starter.shipped import (
    STARTERS,
    find_starter,
    load_starter,
    reader_starter,
)
from voile.documents.start.starter.starter import Starter

__all__ = ["STARTERS", "Starter", "find_starter", "load_starter", "reader_starter"]
