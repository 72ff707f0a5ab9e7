"""All SQL of environments: what each fingerprint stands for."""

from collections.abc import Mapping

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert

from storyshelf.db.engine import Tx
from storyshelf.db.tables import EnvironmentRow
from storyshelf.ids import EnvironmentId


async def facts_of(tx: Tx, environment: EnvironmentId | None) -> Mapping[str, str]:
    """Return what an environment's fingerprint stands for; nothing for one that is not known."""
    rows = await tx.execute(select(EnvironmentRow.facts).where(EnvironmentRow.id == environment))
    return rows.scalar_one_or_none() or {}


async def in_words(tx: Tx, environment: EnvironmentId | None) -> str:
    """Return an environment by what people know of it: `chromium 140.0 on x86_64 (1a2b3c4d5e6f)`.

    One that nothing is known of is named by its fingerprint.
    """
    facts = await facts_of(tx, environment)
    named = [facts[name] for name in ("browser", "version") if name in facts]
    if "architecture" in facts:
        named.append(f"on {facts['architecture']}")
    return " ".join([*named, f"({environment})"])


async def know_environment(tx: Tx, environment: EnvironmentId, facts: Mapping[str, str]) -> None:
    """Write down what an environment's fingerprint stands for."""
    await tx.execute(
        insert(EnvironmentRow)
        .values(id=environment, facts=dict(facts))
        .on_conflict_do_nothing(index_elements=[EnvironmentRow.id])
    )
