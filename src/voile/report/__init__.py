"""Charts and the self-contained HTML page: a wing's sections in, one file's text out."""

from voile.report.page import render

__all__ = ["render"]
