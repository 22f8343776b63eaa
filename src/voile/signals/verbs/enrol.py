"""`voile signals enrol` writes the keys of a device, so that it needs no secret."""

from __future__ import annotations

from pathlib import Path

from voile.core.errors import RequestError
from voile.core.wording import count
from voile.keys.secret import Secret
from voile.release.kit import StoredKit
from voile.release.own_verbs import EndedVerb, VerbReporter, open_reported
from voile.signals.channel import Enrolment
from voile.signals.options import EnrolOptions
from voile.signals.verbs.subjects import live_of, subjects_in


def enrol(
    options: EnrolOptions,
    reporter: VerbReporter,
    *,
    kit: StoredKit | str,
    out: Path,
    force: bool,
    table: str | None,
    encoding: str | None,
) -> EndedVerb:
    content, codec = live_of(kit)
    opened = open_reported(reporter, options.classes, table=table, encoding=encoding)
    known = subjects_in(opened, content.reader, content.classes, generation=options.generation)
    if absent := [who for who in options.subject if who not in known]:
        where = f"--subject, {len(absent)} of {len(options.subject)}"
        raise RequestError(f"a subject is not in {opened.name}", where=where)
    own = {who: known[who].generation for who in options.subject or known}
    secret = secret_of(options.key_file)
    Enrolment.of(secret, codec.mark, own).write(out, force=force)
    reporter.say(f"{out}: {count(len(own), 'subject')} enrolled; give it to their device alone")
    return EndedVerb({"enrolment": str(out), "subjects": len(own)})


def secret_of(key_file: Path | None) -> Secret:
    """Read the secret from a file, or from the environment without one.

    Raises
    ------
    RequestError : there is no secret.
    """
    return Secret.from_file(key_file) if key_file else Secret.from_environment()
