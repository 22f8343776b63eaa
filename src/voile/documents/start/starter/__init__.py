"""What was learnt from public text and comes with voile: how likely a token is part of a name."""

from voile.documents.start.starter.shipped import (
    STARTERS,
    find_starter,
    load_starter,
    reader_starter,
)
from voile.documents.start.starter.starter import PretrainedStarter

__all__ = ["STARTERS", "PretrainedStarter", "find_starter", "load_starter", "reader_starter"]
