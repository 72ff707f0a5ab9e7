"""A command group that knows its commands by name and imports one only when it runs."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command, get_group


@dataclass(frozen=True, slots=True)
class LazyCommand:
    """A name, where its function or `typer.Typer` is (`module:attribute`), and its line of help."""

    name: str
    target: str
    help: str

    def load(self) -> Any:
        """Import the module and return the click command; a Typer becomes a group."""
        module, _, attribute = self.target.partition(":")
        found = getattr(import_module(module), attribute)
        if not isinstance(found, typer.Typer):
            return _single(self.name, found)
        group = get_group(found)
        group.name = self.name
        return group


class LazyGroup(TyperGroup):
    """Help and completion of the group itself import nothing but this.

    A first word that is a folder, or an option that is not the group's, means `default`, which is
    one of the table.
    """

    table: tuple[LazyCommand, ...] = ()
    default: LazyCommand

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002  # typer's signature
        """Return the names in the order of the table."""
        return [command.name for command in self.table]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002  # typer's signature
        """Return a stand-in that has the name and the help only."""
        found = self._find(cmd_name)
        return None if found is None else TyperCommand(found.name, help=found.help)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the default command's name first where it is meant."""
        if args and self._means_default(ctx, args[0]):
            args = [self.default.name, *args]
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Load the command that is to run."""
        found = self._find(args[0])
        if found is None:
            raise typer.BadParameter(f"{args[0]!r} is neither a command nor a folder", ctx=ctx)
        return found.name, found.load(), args[1:]

    def _find(self, name: str) -> LazyCommand | None:
        return next((command for command in self.table if command.name == name), None)

    def _means_default(self, ctx: Any, first: str) -> bool:
        if first.startswith("-"):
            own = {option for parameter in self.get_params(ctx) for option in parameter.opts}
            return first.partition("=")[0] not in own
        return self._find(first) is None and Path(first).is_dir()


def _single(name: str, function: Callable[..., Any]) -> Any:
    alone = typer.Typer(add_completion=False)
    alone.command(name)(function)
    return get_command(alone)
