"""Read text: documents, corpora, sources and formats."""
