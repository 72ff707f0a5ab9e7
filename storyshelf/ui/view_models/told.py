"""What is told of a build elsewhere, and whether it got there."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from storyshelf.auth.permissions import Action, Who
from storyshelf.deliveries.connection import ConnectionKind
from storyshelf.deliveries.delivery import Delivery, DeliveryState
from storyshelf.projects.project import Project
from storyshelf.ui.signs import Sign
from storyshelf.ui.words import When, when
from storyshelf.web.links import Links

KIND_WORDS: Mapping[ConnectionKind, str] = {
    ConnectionKind.GITHUB: "GitHub",
    ConnectionKind.GITLAB: "GitLab",
    ConnectionKind.WEBHOOK: "Webhook",
}
DELIVERY_SIGNS: Mapping[DeliveryState, Sign] = {
    DeliveryState.WAITING: Sign("on its way", "busy"),
    DeliveryState.SENT: Sign("delivered", "good"),
    DeliveryState.FAILED: Sign("failed", "bad"),
}


@dataclass(frozen=True, slots=True)
class DeliveryLine:
    """One subject and how it stands; to whom may not manage, there is no link to send it again."""

    subject: str
    connection: str
    sign: Sign
    error: str
    when: When
    build: str
    resend_link: str | None


@dataclass(frozen=True, slots=True)
class Told:
    """A build's deliveries, in a word and one by one."""

    words: str
    has_failed: bool
    deliveries: Sequence[DeliveryLine]


def told_of(project: Project, who: Who, found: Sequence[Delivery], now: datetime) -> Told | None:
    """Return what a build's page says of its deliveries; None: nobody is told of it."""
    if not found:
        return None
    states = Counter(each.state for each in found)
    said = [
        f"{states[state]} {sign.word}" for state, sign in DELIVERY_SIGNS.items() if states[state]
    ]
    may_manage = who.may(Action.MANAGE, project.id)
    return Told(
        words=", ".join(said),
        has_failed=DeliveryState.FAILED in states,
        deliveries=[delivery_line(project, each, now, can_resend=may_manage) for each in found],
    )


def connections_link(project: Project) -> str:
    """Return where a project's connections are."""
    return f"{Links().settings(project.slug)}/connections"


def delivery_line(
    project: Project, delivery: Delivery, now: datetime, *, can_resend: bool = False
) -> DeliveryLine:
    """Return a delivery as lists show it."""
    number = "" if delivery.build_number is None else f"build {delivery.build_number}"
    link = f"{connections_link(project)}/{delivery.connection_id}/deliveries/{delivery.id}/resend"
    return DeliveryLine(
        subject=_subject(delivery.subject),
        connection=f"{KIND_WORDS[delivery.kind]} {delivery.connection_name}",
        sign=DELIVERY_SIGNS[delivery.state],
        error=delivery.error or "",
        when=when(delivery.sent_at or delivery.changed_at, now),
        build=number,
        resend_link=link if can_resend else None,
    )


def _subject(subject: str) -> str:
    form, _, about = subject.partition(" ")
    if form == "status":
        return f"commit status {about.partition(' ')[2]}"
    return f"comment on {about}" if form == "comment" else "event"
