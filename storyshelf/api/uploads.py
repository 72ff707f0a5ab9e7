"""The upload of a build: open, send what is missing, seal; every step may be repeated."""

from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response
from starlette.requests import ClientDisconnect

from storyshelf.api.builds import build_out
from storyshelf.api.requests import OpenBuild, SkipBuild
from storyshelf.api.schemas import OneBuild, OpenedBuild
from storyshelf.auth.permissions import Action
from storyshelf.builds import intake
from storyshelf.builds.cancel_build import cancel_older
from storyshelf.builds.skip_build import Skip, skip_build
from storyshelf.bundle.manifest import parse_manifest
from storyshelf.errors import BadInputError
from storyshelf.ids import BlobKey
from storyshelf.queue.job import Trace
from storyshelf.storage.blobs import WrongContentError
from storyshelf.web.caller import (
    CallerFirst,
    WithBuild,
    WithCaller,
    WithParts,
    WithProject,
    needs,
)
from storyshelf.web.request_id import trace_of

WithTrace = Annotated[Trace, Depends(trace_of)]
router = APIRouter(
    prefix="/projects/{slug}/builds",
    tags=["uploads"],
    route_class=CallerFirst,
    dependencies=[needs(Action.UPLOAD)],
)


class LengthNotDeclaredError(BadInputError):
    """A file that is sent without saying how long it is."""

    http_status = 411

    def __init__(self, key: BlobKey) -> None:
        super().__init__(
            "The length of the content must be declared",
            where=f"blob {key}",
            next_step="Send a Content-Length; what is shorter or longer is refused.",
        )


@router.post("", status_code=201, responses={200: {"model": OpenedBuild}})
async def open_build(
    project: WithProject,
    parts: WithParts,
    trace: WithTrace,
    body: OpenBuild,
    response: Response,
) -> OpenedBuild:
    """Open a build, or return the one of the same idempotency key with what it still lacks."""
    manifest = parse_manifest([entry.model_dump() for entry in body.files], parts.limits)
    new = replace(body.to_build(body.idempotency_key), trace=trace)
    opened = await intake.open_build(parts.db, project, new, manifest)
    if opened.was_there:
        response.status_code = 200
    wants_older_gone = project.options.cancels_older_builds
    if wants_older_gone if body.cancel_older is None else body.cancel_older:
        await cancel_older(parts.db, parts.kinds, opened.build)
    shown = await build_out(parts, project, opened.build)
    return OpenedBuild(build=shown, missing=list(opened.missing))


@router.post("/skip", status_code=201, responses={200: {"model": OneBuild}})
async def skip(
    project: WithProject,
    caller: WithCaller,
    parts: WithParts,
    body: SkipBuild,
    response: Response,
) -> OneBuild:
    """Resolve a commit's checks without capturing anything; said twice, it is one build."""
    new = body.to_build("")
    skipped = await skip_build(parts.db, project, new, Skip(caller.actor, body.reason))
    if skipped.was_there:
        response.status_code = 200
    return OneBuild(build=await build_out(parts, project, skipped.build))


@router.put("/{number}/blobs/{sha256}", status_code=201)
async def put_blob(build: WithBuild, parts: WithParts, sha256: str, request: Request) -> Response:
    """Take one file of the manifest, as raw bytes of the declared length."""
    key = BlobKey(sha256)
    if await intake.has_file(parts.db, build, key):
        return Response(status_code=200)
    if "content-length" not in request.headers:
        raise LengthNotDeclaredError(key)
    try:
        await intake.receive_file(parts.db, parts.blobs, build, key, request.stream())
    except ClientDisconnect as error:
        raise WrongContentError(key, "the connection was cut") from error
    return Response(status_code=201)


@router.post("/{number}/seal")
async def seal(project: WithProject, build: WithBuild, parts: WithParts) -> OneBuild:
    """End the upload: the bundle is whole and can no longer change, and is planned next."""
    sealed = await intake.seal(parts.db, parts.blobs, build)
    return OneBuild(build=await build_out(parts, project, sealed))
