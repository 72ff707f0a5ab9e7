"""A project's connections: where each leads, how its last delivery went, and what can be done."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from storyshelf.auth.permissions import Who
from storyshelf.deliveries.connection import Connection, ConnectionKind, Forge
from storyshelf.deliveries.delivery import Delivery
from storyshelf.deliveries.message import STORYBOOK, TESTS, context_of
from storyshelf.ids import ConnectionId
from storyshelf.projects.project import Project
from storyshelf.ui.signs import Sign
from storyshelf.ui.view_models.forms import Field, Notice
from storyshelf.ui.view_models.frame import Frame, Section, settings_frame
from storyshelf.ui.view_models.told import (
    KIND_WORDS,
    DeliveryLine,
    connections_link,
    delivery_line,
)

FLAGS = ("comments", "names_project", "checks_storybook")
LABELS: Mapping[ConnectionKind, Mapping[str, tuple[str, str]]] = {
    ConnectionKind.GITHUB: {
        "repository": ("Repository", "As owner/name."),
        "url": ("Address of the API", "Only for GitHub Enterprise, such as https://ghe.example."),
        "secret": (
            "Token",
            "A fine-grained one with commit statuses and pull requests: read and write.",
        ),
    },
    ConnectionKind.GITLAB: {
        "repository": ("Project", "As group/name; groups may lie in groups."),
        "url": ("Address of the server", "Only for one of your own, such as https://git.example."),
        "secret": ("Token", "A project access token, role developer, scope api."),
    },
    ConnectionKind.WEBHOOK: {
        "url": ("Address", "It takes a POST with JSON for each state of a build."),
        "secret": ("Key of the signature", "None: one is made, and shown once."),
    },
}
FLAG_LABELS = {
    "comments": "One comment a pull request, kept up to date",
    "names_project": "Name the project in the checks, for repositories with several",
    "checks_storybook": "A second check, that the Storybook is published",
}


@dataclass(frozen=True, slots=True)
class ConnectionLine:
    """One connection in the list."""

    name: str
    kind: str
    where: str
    says: str
    secret_label: str
    sign: Sign
    last: DeliveryLine | None
    is_disabled: bool
    link: str


@dataclass(frozen=True, slots=True)
class ConnectionsPage:
    """A project's connections."""

    title: str
    frame: Frame
    link: str
    notice: Notice | None
    key: str | None
    connections: Sequence[ConnectionLine]
    kinds: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class NewConnectionPage:
    """The form for one more."""

    title: str
    frame: Frame
    link: str
    back_link: str
    kind: str
    notice: Notice | None
    fields: Mapping[str, Field]
    flags: Sequence[Field]


@dataclass(frozen=True, slots=True)
class Came:
    """What came of what was sent: words, or a key that is shown this once."""

    notice: Notice | None = None
    key: str | None = None


def connections_page(
    named: tuple[Project, Who],
    found: Sequence[Connection],
    last: Mapping[ConnectionId, Delivery],
    came: Came,
    now: datetime,
) -> ConnectionsPage:
    """Return what the page says; `last` are the connections' newest deliveries, failed first."""
    project, who = named
    frame = settings_frame(project, who, Section.CONNECTIONS)
    link = connections_link(project)
    return ConnectionsPage(
        title=f"{project.name} · connections",
        frame=frame,
        link=link,
        notice=came.notice,
        key=came.key,
        connections=[_line(project, each, last.get(each.id), now) for each in found],
        kinds=[(words, f"{link}/new/{kind}") for kind, words in KIND_WORDS.items()],
    )


def new_connection_page(
    named: tuple[Project, Who],
    kind: ConnectionKind,
    typed: Mapping[str, str],
    problems: Mapping[str, str],
    notice: Notice | None,
) -> NewConnectionPage:
    """Return the form with what was typed; a secret is never shown again."""
    project, who = named
    link = connections_link(project)
    fields = {
        name: Field(
            name,
            label,
            "" if name == "secret" else typed.get(name, ""),
            hint,
            problems.get(name, "") or (problems.get("api_url", "") if name == "url" else ""),
        )
        for name, (label, hint) in LABELS[kind].items()
    }
    flags = () if kind is ConnectionKind.WEBHOOK else FLAGS
    return NewConnectionPage(
        title=f"{project.name} · connect {KIND_WORDS[kind]}",
        frame=settings_frame(project, who, Section.CONNECTIONS),
        link=f"{link}/new/{kind}",
        back_link=link,
        kind=KIND_WORDS[kind],
        notice=notice,
        fields=fields,
        flags=[Field(name, FLAG_LABELS[name], typed.get(name, "")) for name in flags],
    )


def _line(
    project: Project, connection: Connection, last: Delivery | None, now: datetime
) -> ConnectionLine:
    config = connection.config
    is_off = connection.disabled_at is not None
    is_forge = isinstance(config, Forge)
    return ConnectionLine(
        name=connection.name,
        kind=KIND_WORDS[connection.kind],
        where=config.api_url if isinstance(config, Forge) else config.url,
        says=_says(project, config) if isinstance(config, Forge) else "an event for each state",
        secret_label="Token" if is_forge else "Key of the signature",
        sign=Sign("disabled", "quiet") if is_off else Sign("enabled", "good"),
        last=None if last is None else delivery_line(project, last, now),
        is_disabled=is_off,
        link=f"{connections_link(project)}/{connection.id}",
    )


def _says(project: Project, forge: Forge) -> str:
    slug = project.slug if forge.names_project else None
    contexts = [context_of(TESTS, slug)]
    if forge.checks_storybook:
        contexts.append(context_of(STORYBOOK, slug))
    return ", ".join([*contexts, *(["a comment"] if forge.comments else [])])
