"""Writers of releases, into files and into tables of databases."""
