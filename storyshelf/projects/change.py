"""Change what a project is called and what it has set; only what differs is written and told."""

from collections.abc import Mapping
from dataclasses import dataclass

from storyshelf.audit import store as audit
from storyshelf.db.engine import Tx
from storyshelf.projects import store
from storyshelf.projects.options import StoredValue
from storyshelf.projects.project import Project, parse_branch, parse_name


@dataclass(frozen=True, slots=True)
class ProjectChange:
    """What a project is to be; options that are not named stay as they are."""

    name: str
    default_branch: str
    options: Mapping[str, StoredValue]


async def change_project(
    tx: Tx, project: Project, wanted: ProjectChange, actor: str
) -> Mapping[str, StoredValue | str]:
    """Write what differs and return it; raises BadNameError, BadBranchError.

    An option that is as it was is not written, so that a default which nobody chose can change.
    """
    is_now = project.options.to_json()
    options = {name: value for name, value in wanted.options.items() if value != is_now[name]}
    named: dict[str, str] = {}
    if wanted.name != project.name:
        named["name"] = parse_name(wanted.name)
    if wanted.default_branch != project.default_branch:
        named["default_branch"] = parse_branch(wanted.default_branch)
    if not (options or named):
        return {}
    await store.change(tx, project.id, named, options)
    changed = {**named, **options}
    await audit.record(tx, audit.Event(actor, "project.set", project.id, detail=changed))
    return changed
