"""The command `voile KIND choose`, which chooses one policy of a kit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from voile.cli.parameters import Run, VoileCommand, argument, load_kit, out
from voile.cli.results import tell_chosen
from voile.cli.screen import CommandScreen
from voile.data.files.outputs import POLICY
from voile.release.choosing import choose_by
from voile.release.module import AnyModule


class _WayOption(click.Option):
    """An option for a way to choose a policy. Not every kind of data supports each way."""


class _LedgerOption(click.Option):
    """An option for choosing with a ledger. Not every kind of data supports it."""


_WAYS: dict[str, dict[str, Any]] = {
    "--max-risk": {
        "type": float,
        "help": "Choose the least loss with at most this risk of any record, 0 to 1.",
    },
    "--max-relative-risk": {
        "type": float,
        "help": "Choose the least loss with at most this share of the source's risk, 0 to 1.",
    },
    "--max-loss": {"type": float, "help": "Choose the least risk with at most this loss, 0 to 1."},
    "--beats": {
        "metavar": "NAME",
        "help": (
            "Choose the least loss among policies that beat a reference policy, such "
            "as safe-harbor."
        ),
    },
    "--policy": {
        "type": int,
        "help": "Choose the policy with this number, as `voile KIND frontier` lists it.",
    },
    "--least-loss": {
        "is_flag": True,
        "help": "Choose the least loss, at any risk within the constraints.",
    },
    "--knee": {"is_flag": True, "help": "Choose the knee of the frontier, where it bends most."},
}
_AFTER: dict[str, dict[str, Any]] = {
    "--joint-risk": {
        "type": float,
        "help": (
            "Choose the least loss with at most this share of the source's risk in "
            "all releases together, 0 to 1 [the ledger's risk budget]."
        ),
    },
    "--after": {
        "type": click.Path(path_type=Path),
        "metavar": "LEDGER",
        "help": "Choose the least loss within the risk budget of this ledger.",
    },
    "--key-file": {
        "type": click.Path(path_type=Path),
        "help": "File with the secret key of the ledger.",
    },
    "--releases": {
        "type": click.Path(path_type=Path, exists=True),
        "multiple": True,
        "help": "Folder with the ledger's releases of other rows. Repeatable.",
    },
    "--source": {
        "type": click.Path(),
        "metavar": "SOURCE",
        "help": "Rows to release. voile links their people to earlier releases of other rows.",
    },
    "--hold-back": {
        "is_flag": True,
        "help": "Evaluate with the option --hold-back of apply: new people wait.",
    },
    "--recount": {
        "is_flag": True,
        "help": "Evaluate with the option --recount of apply: count the rows of --source again.",
    },
    "--recipient": {"help": "Recipient of the release, as for apply [everybody]."},
}


def choose(module: AnyModule) -> click.Command:
    """Return the command of one kind of data."""

    def run(
        screen: CommandScreen,
        *,
        kit: str,
        out: Path,
        force: bool,
        after: Path | None = None,
        key_file: Path | None = None,
        releases: tuple[Path, ...] = (),
        source: str | None = None,
        hold_back: bool = False,
        recipient: str | None = None,
        recount: bool = False,
        **how: Any,
    ) -> None:
        """Choose one policy of a kit.

        The command writes the policy as a file to read, to edit and to apply. Give exactly one way
        to choose.
        """
        from voile.data.files.atomic import write_text

        chosen = choose_by(
            module,
            load_kit(Path(kit), module.kind),
            how,
            after,
            key_file=key_file,
            releases=releases,
            source=None if source is None else module.open(source),
            hold_back=hold_back,
            recipient=recipient,
            recount=recount,
        )
        write_text(out, chosen.to_toml(), POLICY, force=force)
        tell_chosen(screen, chosen, out)

    ways = [_WayOption([name], **how) for name, how in _WAYS.items()]
    by_ledger = [_LedgerOption([name], **how) for name, how in _AFTER.items()]
    return _ChooseCommand(module, run, [argument("kit"), *ways, *by_ledger, *out("POLICY", POLICY)])


class _ChooseCommand(VoileCommand):
    """The choose command of a module, with the ways to choose that the module supports."""

    def __init__(self, module: AnyModule, run: Run, params: list[click.Parameter]) -> None:
        super().__init__("choose", run, params)
        self._module = module

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Leave out the ways to choose that the module does not support."""
        params = [
            one for one in super().get_params(ctx)
            if not isinstance(one, _WayOption) or one.name in self._module.ways
        ]  # fmt: skip
        judged = self._module.choose_after is not None
        return [one for one in params if judged or not isinstance(one, _LedgerOption)]
