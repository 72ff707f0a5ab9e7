"""What a token may know about its project, and what an upload may hold."""

from fastapi import APIRouter

from storyshelf.api.schemas import LimitsOut, ProjectOut
from storyshelf.projects import store as projects
from storyshelf.web.caller import WithCaller, WithParts
from storyshelf.web.links import Links

router = APIRouter(tags=["project"])


@router.get("/project")
async def show_project(caller: WithCaller, parts: WithParts) -> ProjectOut:
    """Return the project that the token belongs to."""
    async with parts.db.transaction() as tx:
        project = await projects.by_id(tx, caller.project_id)
    return ProjectOut(
        slug=project.slug,
        name=project.name,
        default_branch=project.default_branch,
        url=Links(parts.public_url).project(project.slug),
    )


@router.get("/limits")
async def show_limits(parts: WithParts) -> LimitsOut:
    """Return what an upload may hold; no token is needed to read it."""
    return LimitsOut(
        max_files=parts.limits.max_files,
        max_file_bytes=parts.limits.max_file_bytes,
        max_bundle_bytes=parts.limits.max_bundle_bytes,
        max_path_length=parts.limits.max_path_bytes,
    )
