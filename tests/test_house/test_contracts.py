"""Each import contract is broken on purpose, at every place that it guards."""

import tomllib
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.test_house.tree import TOP, Tree, copy_tree, tool

CONFIGURED = tomllib.loads((TOP / "pyproject.toml").read_text())["tool"]["importlinter"][
    "contracts"
]
CONTRACTS: dict[str, dict[str, Any]] = {contract["id"]: contract for contract in CONFIGURED}


def contracts_of_type(kind: str) -> list[str]:
    return [name for name, contract in CONTRACTS.items() if contract["type"] == kind]


def check(tree: Tree, contract: str) -> str:
    """Return what import-linter says of one contract, joined to one line per finding."""
    done = tool("lint-imports", "--no-logo", "--no-cache", "--contract", contract, cwd=tree.top)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "0 kept, 1 broken" in done.stdout
    return done.stdout


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return copy_tree(tmp_path)


def test_every_kind_of_boundary_has_its_contract() -> None:
    assert set(CONTRACTS) == {
        "layers",
        "consumer-on-top",
        "consumer-beside-cli",
        "pure",
        "view-models",
        "tables",
        "settings",
        "web-frameworks",
        "playwright",
        "child",
        "light-client",
    }


def test_the_packages_keep_every_contract() -> None:
    done = tool("lint-imports", "--no-logo", "--no-cache", cwd=TOP)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(CONTRACTS)} kept, 0 broken" in done.stdout


def test_a_forbidden_import_is_seen_in_every_guarded_module(tree: Tree) -> None:
    for name in contracts_of_type("forbidden"):
        contract = CONTRACTS[name]
        fresh = copy_tree(tree.top / name)
        for source in contract["source_modules"]:
            fresh.add_import(source, *contract["forbidden_modules"])
        said = check(fresh, name)
        for source in contract["source_modules"]:
            for forbidden in contract["forbidden_modules"]:
                assert f"{source} is not allowed to import {forbidden}:" in said


def test_what_is_protected_is_protected_from_every_other_package(tree: Tree) -> None:
    for name in contracts_of_type("protected"):
        contract = CONTRACTS[name]
        fresh = copy_tree(tree.top / name)
        outsiders = [
            fresh.add_import(package, *contract["protected_modules"])
            for package in fresh.packages()
            if package not in contract["allowed_importers"]
        ]
        said = check(fresh, name)
        for outsider in outsiders:
            for protected in contract["protected_modules"]:
                assert f"{outsider} -> {protected} " in said


def test_no_layer_may_import_the_one_above_it(tree: Tree) -> None:
    upward = list(imports_upward(tree))
    for lower, upper in upward:
        tree.add_import(lower, upper)
    said = check(tree, "layers")
    assert len(upward) >= 8
    for lower, upper in upward:
        assert f"{lower} is not allowed to import {upper}:" in said


def test_rooms_of_one_layer_may_not_import_each_other(tree: Tree) -> None:
    sideways = [pair for layer in layers(tree) for pair in pairwise(layer)]
    for one, other in sideways:
        tree.add_import(one, other)
    said = check(tree, "layers")
    assert len(sideways) >= 4
    for one, other in sideways:
        assert f"{one} is not allowed to import {other}:" in said


def test_a_room_without_a_place_is_refused(tree: Tree) -> None:
    (tree.top / "storyshelf" / "attic.py").write_text("")
    assert "- storyshelf.attic" in check(tree, "layers")


def test_storyshelf_may_not_import_the_consumer(tree: Tree) -> None:
    for package in tree.packages():
        tree.add_import(package, "consumer.channel")
    said = check(tree, "consumer-on-top")
    for package in tree.packages():
        if package != "consumer":
            assert f"{package}.probe -> consumer.channel" in said


def layers(tree: Tree) -> list[list[str]]:
    """Return the rooms that exist, top layer first."""
    lines = [line.split("|") for line in CONTRACTS["layers"]["layers"]]
    named = [[f"storyshelf.{room.strip(' ()')}" for room in line] for line in lines]
    built = [[room for room in line if tree.exists(room)] for line in named]
    return [line for line in built if line]


def imports_upward(tree: Tree) -> Iterator[tuple[str, str]]:
    for above, below in pairwise(layers(tree)):
        for lower in below:
            yield lower, above[0]
