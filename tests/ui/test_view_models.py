"""View models hold what templates print, and nothing else."""

import re
from dataclasses import fields, is_dataclass
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType

import pytest
from pydantic import BaseModel

from storyshelf.api import schemas, steadiness
from storyshelf.ui import view_models, words
from storyshelf.ui.render import TEMPLATES
from tests.test_house.read_by_name import read_by_name

NEVER_PRINTED = {  # what a view model is made from
    *("Failures", "Found", "Listed", "Names", "Read", "Said", "Shown", "Typed", "Wish"),
}
FOLDER = Path(view_models.__file__).parent
MODULES = [name for _, name, _ in iter_modules([str(FOLDER)])]


def printed() -> set[str]:
    """Every attribute that some template reads."""
    assert TEMPLATES.loader is not None
    texts = [TEMPLATES.loader.get_source(TEMPLATES, name)[0] for name in TEMPLATES.list_templates()]
    return {name for text in texts for name in re.findall(r"\.([a-z_]+)", text)}


def fields_in(module: ModuleType) -> set[str]:
    """Every field of the data that the module itself defines."""
    own = [each for each in vars(module).values() if isinstance(each, type)]
    own = [each for each in own if each.__module__ == module.__name__]
    names = {field.name for each in own if is_printed(each) for field in fields(each)}
    sent = [each for each in own if issubclass(each, BaseModel)]
    return names | {name for each in sent for name in each.model_fields}


def is_printed(each: type) -> bool:
    return is_dataclass(each) and each.__name__ not in NEVER_PRINTED


def module_of(name: str) -> ModuleType:
    return import_module(f"storyshelf.ui.view_models.{name}")


@pytest.mark.parametrize("name", MODULES)
def test_every_field_is_printed_by_a_template(name: str) -> None:
    named = fields_in(module_of(name))
    assert named
    assert named - printed() == set()


def test_what_vulture_is_told_of_is_a_field_still() -> None:
    known = {name for each in (schemas, steadiness, words) for name in fields_in(each)}
    known |= {name for each in MODULES for name in fields_in(module_of(each))}
    assert set(read_by_name(Names())) <= known


class Names:
    """Answers every attribute with its name."""

    def __getattr__(self, name: str) -> str:
        return name
