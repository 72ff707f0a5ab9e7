"""`storyshelf db`: start, stop and look at the embedded database server."""

import json as json_module
from typing import Annotated

import typer

from storyshelf.cli.database import embedded_server
from storyshelf.db.embedded import ServerState, ServerStatus
from storyshelf.settings import Settings, read_settings

NOT_RUNNING = 3  # what `pg_ctl status` and service scripts answer with
NAMED = (
    "STORYSHELF_DATABASE_URL names the database, so the embedded server is not used."
    " Unset the variable to work with it."
)

app = typer.Typer(
    name="db",
    no_args_is_help=True,
    help="Start, stop and look at the embedded database.",
    pretty_exceptions_enable=False,
)


@app.command()
def start() -> None:
    """Start the embedded database, if it does not run; it stays until `db stop`."""
    settings = read_settings()
    if _says_that_named(settings):
        return
    server = embedded_server(settings)
    server.start()
    status = server.status()
    print(f"{_sentence(status)}. The url with its password is in {server.files.run}.")


@app.command()
def stop() -> None:
    """Stop the embedded database: open transactions are rolled back, nothing done is lost."""
    settings = read_settings()
    if _says_that_named(settings):
        return
    server = embedded_server(settings)
    server.stop()
    print(f"{_sentence(server.status())}.")


@app.command()
def status(
    *,
    json: Annotated[
        bool, typer.Option("--json", help="Print one JSON document and nothing else.")
    ] = False,
) -> None:
    """Tell whether the embedded database answers.

    Exit codes: 0 it runs, or STORYSHELF_DATABASE_URL is used instead; 3 it does not.
    """
    settings = read_settings()
    named = settings.named_url is not None
    found = None if named else embedded_server(settings).status()
    print(json_module.dumps(_document(found), indent=2) if json else _text(found))
    if found and found.state is not ServerState.RUNNING:
        raise typer.Exit(NOT_RUNNING)


def _says_that_named(settings: Settings) -> bool:
    if settings.named_url is None:
        return False
    print(NAMED)
    return True


def _text(status: ServerStatus | None) -> str:
    return f"{_sentence(status)}." if status else NAMED


def _sentence(status: ServerStatus) -> str:
    match status.state:
        case ServerState.RUNNING:
            place = f"on 127.0.0.1:{status.port} (process {status.pid})"
            return f"PostgreSQL {status.version} runs {place}, with its data in {status.data}"
        case ServerState.UNANSWERING:
            return f"PostgreSQL {status.version} (process {status.pid}) does not answer yet"
        case ServerState.STOPPED:
            return f"The embedded database does not run; its data is in {status.data}"


def _document(status: ServerStatus | None) -> dict[str, object]:
    if status is None:
        return {"embedded": False}
    return {
        "embedded": True,
        "state": status.state,
        "version": status.version,
        "data": str(status.data),
        "pid": status.pid,
        "port": status.port,
    }
