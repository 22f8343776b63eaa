"""The demo county as a project: its files, its roles, and what a person types into the forms."""

from __future__ import annotations

import subprocess
from pathlib import Path

from voile.demo.county import make_county, write_county

CHANGED = {
    "birth_date": "identifier",
    "insurance": "drop",
    "visit_date": "drop",
    "ward": "drop",
    "length_of_stay": "drop",
}
CONTEXT = {
    "recipient": "The county's institute of public health",
    "purpose": "Planning of clinics for the next five years",
    "legal_basis": "Public interest in public health",
    "prepared_by": "engineer@county.org",
    "policy": "The data engineer chose it on the frontier",
    "thresholds": "The privacy officer set them",
    "assumed": "An employee of the recipient with the county's register",
    "stronger": "The register is sold to anybody",
    "contract": "Data use agreement that forbids linking",
    "access": "Two named analysts, on one server",
    "audit": "Queries are logged and read each month",
    "joint": "No other release of these patients is out",
    "singling-out.source": "The privacy officer",
    "inference.source": "The privacy officer",
    "kept-columns.source": "The privacy officer",
    "kept-columns.accept": "The recipient cannot know a diagnosis beforehand",
    "population": "../population.parquet",
    "register_file": "../register-adversary.csv",
}


def make_table(folder: Path) -> Path:
    """Write the county's files, and return its table."""
    write_county(make_county(), folder, force=False)
    return folder / "patients.csv"


def make_key(folder: Path) -> Path:
    """Make a signer's key, and the file of allowed signers next to it."""
    key = folder / "officer"
    command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)]
    subprocess.run(command, check=True)
    public = key.with_suffix(".pub").read_text()
    (folder / "signers").write_text(f"officer@county.org {public}")
    return key
