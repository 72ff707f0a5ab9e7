"""The list of stories a built Storybook carries: `index.json` (v4, v5) or `stories.json` (v3)."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass

from storyshelf.bundle.manifest import BundledFile, Manifest
from storyshelf.bundle.paths import shown
from storyshelf.errors import BadInputError
from storyshelf.ids import StoryId

INDEX_NAMES = ("index.json", "stories.json")  # the newer wins where both are there
FRAME_NAME = "iframe.html"
MAX_INDEX_BYTES = 60_000_000  # refused from here on; 20,000 stories take about 8 MB
MAX_ENTRIES = 20_000
MAX_ID_BYTES = 1_000  # with mode and browser a snapshot's key stays within an index entry
MAX_TEXT_BYTES = 4_000
NEWEST_VERSION = 5
_V3, _V4 = 3, 4

_REBUILD = "Build the Storybook again (7.0 or later) and upload the folder that the build wrote."


@dataclass(frozen=True, slots=True)
class Story:
    """An entry of type story, or a docs page; tests are neither."""

    story_id: StoryId
    title: str
    name: str
    import_path: str = ""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StoryIndex:
    """At least one story, in the order of the sidebar; the docs pages stand beside them."""

    version: int
    stories: tuple[Story, ...]
    warnings: tuple[str, ...] = ()
    docs: tuple[Story, ...] = ()


class NoIndexError(BadInputError):
    """The bundle has no list of stories."""

    def __init__(self) -> None:
        super().__init__(
            "The upload holds neither index.json nor stories.json",
            where="the top folder of the bundle",
            next_step="Upload the folder that `storybook build` wrote, usually storybook-static.",
        )


class NoFrameError(BadInputError):
    """The bundle has no page to render stories in."""

    def __init__(self) -> None:
        super().__init__(
            "The upload holds no iframe.html",
            where="the top folder of the bundle",
            next_step="Upload the folder that `storybook build` wrote, usually storybook-static.",
        )


class BadIndexError(BadInputError):
    """The list of stories cannot be read."""

    def __init__(self, problem: str, where: str, next_step: str = _REBUILD) -> None:
        super().__init__(f"The list of stories {problem}", where=where, next_step=next_step)


class NoStoriesError(BadInputError):
    """The list of stories is readable and holds none."""

    def __init__(self, name: str, other_entries: int) -> None:
        besides = f", only {other_entries} docs or test entries" if other_entries else ""
        super().__init__(
            f"The Storybook has no stories{besides}",
            where=name,
            next_step="Check the `stories` globs in .storybook/main, then build again.",
        )


def find_index(manifest: Manifest) -> BundledFile:
    """Return the file that lists the stories; both it and iframe.html must be there."""
    if manifest.find(FRAME_NAME) is None:
        raise NoFrameError
    found = (manifest.find(name) for name in INDEX_NAMES)
    index = next((file for file in found if file is not None), None)
    if index is None:
        raise NoIndexError
    return index


def parse_index(content: bytes, name: str) -> StoryIndex:
    """Read the stories and docs pages out of a file called `name`; other entries are dropped.

    A version newer than the newest known is tried, with a warning.
    """
    root = _parse_json(content, name)
    version = _parse_version(root, name)
    key = "stories" if version == _V3 else "entries"
    entries = root.get(key)
    if not isinstance(entries, Mapping):
        raise BadIndexError(f"has no object `{key}`, as version {version} must", name)
    if len(entries) > MAX_ENTRIES:
        raise BadIndexError(f"has {len(entries):,} entries; {MAX_ENTRIES:,} are allowed", name)
    parse = _parse_v3 if version == _V3 else _parse_v4
    read = [parse(_Entry(name, story_id, raw)) for story_id, raw in entries.items()]
    stories = tuple(story for story in read if story is not None)
    if not stories:
        raise NoStoriesError(name, len(read))
    _refuse_ids_equal_but_for_case(stories, name)
    newer = f"{name} has version {version}, newer than {NEWEST_VERSION}: read as that one"
    return StoryIndex(
        version=version,
        stories=stories,
        warnings=(newer,) if version > NEWEST_VERSION else (),
        docs=tuple(_docs(name, entries, _is_docs_v3 if version == _V3 else _is_docs_v4)),
    )


def _parse_json(content: bytes, name: str) -> Mapping[str, object]:
    if len(content) >= MAX_INDEX_BYTES:
        limit = f"{MAX_INDEX_BYTES // 1_000_000} MB"
        raise BadIndexError(f"weighs {len(content):,} bytes; it must be under {limit}", name)
    if not content.strip():
        raise BadIndexError("is an empty file", name)
    try:
        root = json.loads(content.decode("utf-8-sig"))  # tolerates a byte order mark
    except UnicodeDecodeError as error:
        raise BadIndexError(f"is not UTF-8 at byte {error.start}", name) from None
    except json.JSONDecodeError as error:
        where = f"{name}, line {error.lineno}, column {error.colno}"
        raise BadIndexError(f"is not JSON: {error.msg}", where) from None
    except (ValueError, RecursionError):
        raise BadIndexError("is JSON that nobody would write (numbers, depth)", name) from None
    if not isinstance(root, Mapping):
        raise BadIndexError("is not a JSON object", name)
    return root


def _parse_version(root: Mapping[str, object], name: str) -> int:
    version = root.get("v")
    if not isinstance(version, int) or isinstance(version, bool):
        raise BadIndexError("has no version (`v`)", name)
    if version < _V3:
        raise BadIndexError(f"has version {version}; the oldest readable is {_V3}", name)
    return version


@dataclass(frozen=True, slots=True)
class _Entry:
    """One raw entry, with the words for what is wrong with it."""

    file_name: str
    key: str
    raw: object

    @property
    def fields(self) -> Mapping[str, object]:
        if not isinstance(self.raw, Mapping):
            raise self.wrong("is not an object")
        return self.raw

    def text(self, *names: str, default: str | None = None) -> str:
        """Return the first of the fields that is there."""
        found = (self.fields[name] for name in names if self.fields.get(name) is not None)
        value = next(found, default)
        if not isinstance(value, str):
            raise self.wrong(f"has no text `{names[0]}`")
        return self.bounded(value, names[0], MAX_TEXT_BYTES)

    def bounded(self, value: str, field: str, limit: int) -> str:
        if "\0" in value or any("\ud800" <= character <= "\udfff" for character in value):
            raise self.wrong(f"has a `{field}` with characters that cannot be stored")
        if len(value.encode()) > limit:
            raise self.wrong(f"has a `{field}` longer than {limit:,} bytes")
        return value

    def tags(self) -> tuple[str, ...]:
        tags = self.fields.get("tags")
        if tags is None:
            return ()
        if not (isinstance(tags, list) and all(isinstance(tag, str) for tag in tags)):
            raise self.wrong("has `tags` that are not a list of texts")
        return tuple(self.bounded(tag, "tags", MAX_TEXT_BYTES) for tag in tags)

    def story(self, *, title: tuple[str, ...], name: tuple[str, ...]) -> Story:
        story_id = self.text("id", default=self.key)
        if story_id != self.key:
            raise self.wrong(f"says its id is {shown(story_id)}")
        if not story_id:
            raise self.wrong("has an empty id")
        return Story(
            story_id=StoryId(self.bounded(story_id, "id", MAX_ID_BYTES)),
            title=self.text(*title),
            name=self.text(*name),
            import_path=self.text("importPath", default=""),
            tags=self.tags(),
        )

    def wrong(self, problem: str) -> BadIndexError:
        return BadIndexError(f"has an entry that {problem}", f"{self.file_name}, {shown(self.key)}")


def _parse_v4(entry: _Entry) -> Story | None:
    if entry.text("type") != "story" or entry.fields.get("subtype") == "test":
        return None
    return entry.story(title=("title",), name=("name",))


def _docs(
    name: str, entries: Mapping[str, object], is_docs: Callable[[_Entry], bool]
) -> Iterator[Story]:
    """Yield the docs pages; what is wrong with one is no reason to refuse the stories."""
    for key, raw in entries.items():
        entry = _Entry(name, key, raw)
        if not is_docs(entry):
            continue
        with suppress(BadIndexError):
            yield entry.story(title=("title", "kind"), name=("name", "story"))


def _is_docs_v4(entry: _Entry) -> bool:
    return entry.fields.get("type") == "docs"


def _is_docs_v3(entry: _Entry) -> bool:
    parameters = entry.fields.get("parameters")
    return isinstance(parameters, Mapping) and parameters.get("docsOnly") is True


def _parse_v3(entry: _Entry) -> Story | None:
    if _is_docs_v3(entry):
        return None
    return entry.story(title=("title", "kind"), name=("name", "story"))


def _refuse_ids_equal_but_for_case(stories: tuple[Story, ...], name: str) -> None:
    seen: dict[str, str] = {}
    for story in stories:
        earlier = seen.setdefault(story.story_id.casefold(), story.story_id)
        if earlier != story.story_id:
            raise BadIndexError(
                f"has two ids that differ in case only: {shown(earlier)}, {shown(story.story_id)}",
                name,
                "Rename one of the two stories, or give it an id of its own.",
            )
