"""The API against its own description: whatever is sent, every answer is a documented one."""

import asyncio
import socket
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import schemathesis
import uvicorn
from fastapi import FastAPI
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from storyshelf.auth import store as tokens
from storyshelf.auth.tokens import mint
from storyshelf.db.engine import Database
from storyshelf.server import create_app
from storyshelf.storage.local import LocalBlobs
from tests.app import parts_on
from tests.builds.hand import a_hand

EXAMPLES = 15
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
KNOWN: Mapping[str, Any] = {"slug": "shop", "number": 1, "shard": 1}  # what is really there


@pytest.fixture
async def app(db: Database, tmp_path: Path) -> FastAPI:
    return create_app(parts_on(db, tmp_path / "blobs"))


@pytest.fixture
async def address(app: FastAPI) -> AsyncIterator[str]:
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="error"))
    async with asyncio.TaskGroup() as group:
        group.create_task(server.serve(sockets=[listener]))
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        server.should_exit = True


@pytest.fixture
async def bearer(db: Database, tmp_path: Path) -> Mapping[str, str]:
    """A token of a shop with two builds: one that has ended, one that is uploaded."""
    hand = await a_hand(db, LocalBlobs(tmp_path / "blobs"))
    await hand.run({"a--one": "red", "a--two": "blue"})
    await hand.upload(["a--one"])
    token = mint(b"r" * 32)
    async with db.transaction() as tx:
        await tokens.add_token(tx, hand.project.id, tokens.TokenUse("ci"), token)
    return {"authorization": f"Bearer {token.text}"}


@pytest.mark.timeout(240)
@pytest.mark.browser  # not for its kind, but for its length: the quick tests stay quick
async def test_whatever_is_asked_the_answer_is_a_documented_one(
    app: FastAPI, address: str, bearer: Mapping[str, str]
) -> None:
    schema = schemathesis.openapi.from_dict(app.openapi())
    operations = [found.ok() for found in schema.get_all_operations() if isinstance(found, Ok)]
    answers: Counter[str] = Counter()
    for operation, known, mode in product(operations, ({}, KNOWN), GenerationMode):
        sent = Sent(operation, mode, known, answers)
        await asyncio.to_thread(ask, sent, address, bearer)
    assert {status[0] for status in answers} == {"2", "4"}
    assert min(answers["200"], answers["404"], answers["422"]) > EXAMPLES


@dataclass
class Sent:
    """What is sent: what the description allows or what it does not, to what is or is not there."""

    operation: Any
    mode: GenerationMode
    known: Mapping[str, Any]
    answers: Counter[str]


def ask(sent: Sent, address: str, bearer: Mapping[str, str]) -> None:
    @given(case=sent.operation.as_strategy(generation_mode=sent.mode))
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def send(case: Case[Any]) -> None:
        parameters = case.path_parameters or {}
        parameters.update({name: sent.known[name] for name in parameters if name in sent.known})
        answer = case.call_and_validate(base_url=address, headers=dict(bearer), checks=CHECKS)
        sent.answers[str(answer.status_code)] += 1

    with suppress(Unsatisfiable):  # where nothing can be sent, nothing can be sent wrongly
        send()
