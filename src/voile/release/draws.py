"""The draws of one release: the order of its rows, the ids of its classes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from voile.core.version import __version__
from voile.data.places import PLACES
from voile.keys.random import Protective
from voile.keys.secret import Secret
from voile.release.options import ApplyOptions, leaves, stored

if TYPE_CHECKING:
    from voile.data import Source
    from voile.release.choice import Chosen
    from voile.release.kit import Kit


def draws_of(
    options: ApplyOptions, kit: Kit, chosen: Chosen, source: Source, use: str
) -> Protective:
    """Return the draws of one use in one release.

    With a secret the draws are keyed by it, and by everything that shapes the rows: kit, policy,
    source, options and version. The same request then gives the same bytes, and no two other
    releases share an order. Without a secret, or with an option that names a file or a ledger,
    whose content may change, they come from the system's entropy.
    """
    given = options.model_fields_set - {"key_file"}
    fields = type(options).model_fields
    names_files = any(leaves(fields[name].annotation) & PLACES for name in given)
    secret = None if names_files else Secret.find(options.key_file)
    if secret is None:
        return Protective()
    shaping = [use, __version__, kit.id, chosen.to_toml(), source.name, source.fingerprint()]
    return Protective.keyed(secret, purpose=json.dumps([*shaping, stored(options)], sort_keys=True))
