"""Where text comes from: documents, corpora, sources, formats."""
