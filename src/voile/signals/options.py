"""The options of the verbs of signals. Each field is an option of the command line."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

import voile.release.options
from voile.data.places import RowsPlace
from voile.release.options import Options, PseudonymOptions

Method = Literal["transport", "normal", "exponential", "gamma", "uniform", "affine"]
Base = Literal["normal", "uniform", "barycentre"]
Share = Annotated[float, Field(ge=0, le=1)]
TENTHS = tuple(tenth / 10 for tenth in range(11))

AXES = {"risk": "relative leakage", "loss": "distortion without the key"}
"""The names of risk and loss."""


class FitOptions(voile.release.options.FitOptions):
    """The maps to fit, and the policies to compare."""

    method: tuple[Method, ...] = Field(
        (), description="method that fits the maps. Repeatable [transport]"
    )
    base: tuple[Base, ...] = Field((), description="appearance of messages. Repeatable [all three]")
    strength: tuple[Share, ...] = Field(
        (), description="strength of the maps, 0 to 1. Repeatable [every tenth]"
    )
    time: str | None = Field(
        None, description="column with the time of each reading. voile then also fits sequences"
    )
    period: float | None = Field(
        None,
        ge=0,
        description=(
            "length of a season, such as 7, in days or in the time column's unit; 0 "
            "means no season [detected]"
        ),
    )
    leaky_sessions: bool = Field(
        False,
        description=(
            "keep the map of sequences even if whole sessions reveal the class of held-out subjects"
        ),
    )
    send: tuple[str, ...] = Field(
        (),
        description=(
            "column of readings that fit must not withhold, even if an adversary who decodes "
            "messages under every class infers the class from it. Repeatable"
        ),
    )
    beliefs: RowsPlace | None = Field(
        None,
        description="table of the eavesdropper's prior beliefs: a column of subjects, and one of "
        "probabilities for each class",
    )
    bits: float | None = Field(
        None,
        ge=0,
        description="fail if no policy reveals at most this many bits, with 95% confidence",
    )

    @property
    def methods(self) -> tuple[Method, ...]:
        """The methods to fit, without duplicates."""
        return tuple(dict.fromkeys(self.method)) or ("transport",)

    @property
    def bases(self) -> tuple[Base, ...]:
        """The bases to try, without duplicates. The first one names the policy of strength 0."""
        return tuple(dict.fromkeys(self.base)) or ("barycentre", "normal", "uniform")

    @property
    def strengths(self) -> tuple[float, ...]:
        """The strengths to fit, in increasing order. The default is every tenth."""
        return tuple(sorted(set(self.strength))) or TENTHS


class ApplyOptions(PseudonymOptions):
    """Options for writing the release."""

    missing: Literal["set-aside", "pass"] = Field(
        "set-aside", description="treatment of rows with a missing or infinite reading"
    )
    places: int | None = Field(
        None, ge=0, le=12, description="decimal places of messages [float64]"
    )
    no_pseudonyms: bool = Field(
        False,
        description="give each subject a random name for this release only, without a secret key",
    )


class AttackOptions(voile.release.options.ControlOptions):
    """The adversary's background knowledge."""

    public_map: Path | None = Field(None, description="kit with the maps that the adversary knows")
    knows: tuple[str, ...] = Field(
        (),
        description="column that the adversary also knows. Repeatable [known and kept columns]",
    )
    beliefs: RowsPlace | None = Field(
        None,
        description="table of the adversary's prior beliefs: a column of subjects, and one of "
        "probabilities for each class",
    )
    permutations: int = Field(
        100, ge=0, description="number of permutations that estimate the bits without leakage"
    )


class DecodeOptions(Options):
    """Decode the readings of a release, given each subject's class.

    CLASSES has one row for each pseudonym of the release, with its class.
    RELEASE.private/classes.csv is such a table, which apply writes for the recipient only. Rows
    with a reading outside the map's range go to OUT.set-aside.jsonl, and the exit code is 1.
    """

    policy: Path = Field(description="policy file of the release")
    classes: RowsPlace | None = Field(
        None,
        title="CLASSES",
        description="class of each pseudonym [RELEASE.private/classes.csv]",
    )


class _EnrolledOptions(Options):
    classes: RowsPlace = Field(title="CLASSES", description="table with the class of each subject")
    generation: str | None = Field(
        None,
        title="COLUMN",
        description="column of CLASSES that numbers each subject's key, from 1 up [all 1]",
    )
    key_file: Path | None = Field(
        None,
        description=(
            "file with the secret key of pseudonyms and device keys [environment "
            "variable VOILE_SECRET]"
        ),
    )


class _LineOptions(Options):
    """The broker and the connection to it."""

    broker: str = Field(
        title="URL", description="address: mqtts://host:8883, or mqtt://host:1883 without TLS"
    )
    topic: str = Field("voile", description="first part of all topics, before the pseudonym")
    login_file: Path | None = Field(
        None,
        description="file with the user in one line and the password in the next, "
        "else VOILE_MQTT_USER and _PASSWORD",
    )
    tls_ca: Path | None = Field(
        None, description="file of certificates to trust instead of the system's"
    )
    tls_cert: Path | None = Field(
        None, description="certificate that identifies this end to the broker"
    )
    tls_key: Path | None = Field(
        None,
        description="private key of --tls-cert, if the certificate's file does not contain it",
    )
    encrypt: bool = Field(
        False,
        description="encrypt messages and receipts from end to end. Set this at both ends",
    )


class EnrolOptions(_EnrolledOptions):
    """Write the keys that one device needs to authenticate and encrypt its messages.

    The device receives this file and the kit, never the secret. A thief of the file can forge and
    decrypt the messages of the subjects in it, but not of others. Without --subject, the device
    sends for all subjects of CLASSES, as a gateway does. To replace a key, raise its generation.
    """

    subject: tuple[str, ...] = Field(
        (), title="SUBJECT", description="subject whose readings the device sends. Repeatable [all]"
    )


class SendOptions(_LineOptions):
    """Send readings live, encoded, until each has its receipt.

    SOURCE is a table with the columns that the kit was fitted to. If it is -, rows are JSON lines
    on standard input, sent as they arrive. The spool keeps readings until their receipts arrive.
    After an interruption, run the same command again to continue. No row is sent twice. The exit
    code is 1 if a reading was not sent or cannot be sent.
    """

    enrolment: Path = Field(
        description="file of the device's keys, which `voile signals enrol` writes"
    )
    ahead: int = Field(
        1,
        ge=1,
        le=1000,
        description=(
            "maximum number of unconfirmed messages of a subject. A larger number is "
            "faster and reveals more"
        ),
    )
    wait: float | None = Field(None, ge=0, description="maximum run time in seconds")
    begin_again: bool = Field(
        False, description="begin new sessions, for instance after an end lost its state"
    )


class ReceiveOptions(_EnrolledOptions, _LineOptions):
    """Receive readings live, and decode them, until stopped.

    Each reading is written as a line of FOLDER/readings.jsonl before its receipt is sent. Readings
    outside the map's range go to FOLDER/set-aside.jsonl. The folder also contains the state of each
    session. Run the same command again to continue. The exit code is 1 if messages were refused or
    ignored, or readings were rejected.
    """

    overlap: date | None = Field(
        None,
        title="DATE",
        description="last day on which voile also accepts a subject's previous key",
    )
    idle: float | None = Field(
        None, ge=0, description="stop after this many seconds without a reading"
    )


class DecodeFhirOptions(Options):
    """Decode what encode-fhir encoded: the same file, to the byte.

    Readings outside the map's range stay encoded in the file. Their decoded values go to
    OUT.set-aside.jsonl, and the exit code is 1.
    """

    classes: RowsPlace = Field(
        title="CLASSES",
        description=(
            "table with the class and known columns of each subject, with subjects "
            "written as in Observations: Patient/17"
        ),
    )
    policy: Path | None = Field(None, description="policy file that encodes each reading by itself")
    key_file: Path | None = Field(
        None,
        description="file with the secret that dither is drawn from, so that encoding a file again "
        "gives the same values. A kit with known columns needs it at both ends [variable "
        "VOILE_SECRET; else random dither]",
    )


class EncodeFhirOptions(DecodeFhirOptions):
    """Encode the readings in a file of FHIR R4 Observations.

    SOURCE is NDJSON, or one resource or Bundle in JSON. Values are replaced in place and marked.
    All other bytes stay unchanged, including those of subjects. Each reading is encoded given the
    subject's earlier readings, or by itself with --policy.
    """

    fields: Path = Field(description="TOML file with the code and unit of each column")
    keep_others: bool = Field(False, description="keep values of other codes, which stay readable")
    canonical_numbers: bool = Field(
        False, description="accept numbers such as 1.2E+2. They decode to the field's usual form"
    )
