"""The API's page: its OpenAPI description in words, without a script or a byte from elsewhere."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Schema = Mapping[str, Any]
BOUNDS = {
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minimum": "from {}",
    "maximum": "up to {}",
    "maxItems": "at most {} items",
    "default": "{} if left out",
}


@dataclass(frozen=True, slots=True)
class Value:
    """A parameter or a field."""

    name: str
    kind: str
    is_required: bool
    notes: str


@dataclass(frozen=True, slots=True)
class Call:
    """A method of a path."""

    method: str
    path: str
    words: str
    parameters: Sequence[Value]
    takes: str
    gives: str


@dataclass(frozen=True, slots=True)
class Form:
    """A JSON object that calls take or give."""

    name: str
    words: str
    fields: Sequence[Value]


@dataclass(frozen=True, slots=True)
class ApiPage:
    """Everything that can be called, in the order of the server's routes."""

    title: str
    link: str  # of the description that machines read
    groups: Mapping[str, Sequence[Call]]
    forms: Sequence[Form]


def api_page(description: Schema, link: str) -> ApiPage:
    """Return the page of an OpenAPI description."""
    groups: dict[str, list[Call]] = {}
    for path, methods in description["paths"].items():
        for method, operation in methods.items():
            call = _call(method, path, operation)
            groups.setdefault(operation.get("tags", ["other"])[0], []).append(call)
    schemas = description.get("components", {}).get("schemas", {})
    forms = [_form(name, schema) for name, schema in schemas.items() if "properties" in schema]
    return ApiPage("API", link, groups, [form for form in forms if "Validation" not in form.name])


def _call(method: str, path: str, operation: Schema) -> Call:
    parameters = [
        _value(each["name"], each["schema"], is_required=each.get("required", False))
        for each in operation.get("parameters", ())
    ]
    answers = (operation["responses"][code] for code in sorted(operation["responses"]))
    return Call(
        method.upper(),
        path,
        operation.get("description", ""),
        parameters,
        _content(operation.get("requestBody", {})),
        next((_content(answer) for answer in answers), ""),
    )


def _content(holder: Schema) -> str:
    for media_type, content in holder.get("content", {}).items():
        return kind_of(content["schema"]) if "schema" in content else media_type
    return ""


def _form(name: str, schema: Schema) -> Form:
    required = schema.get("required", ())
    fields = [
        _value(each, field, is_required=each in required)
        for each, field in schema["properties"].items()
    ]
    return Form(name, schema.get("description", "").partition("\n")[0], fields)


def _value(name: str, schema: Schema, *, is_required: bool) -> Value:
    return Value(name, kind_of(schema), is_required, ", ".join(_notes(schema)))


def kind_of(schema: Schema) -> str:
    """Return a schema's type in a few words: `integer`, `list of BuildOut`, `string or null`."""
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "anyOf" in schema:
        return " or ".join(kind_of(each) for each in schema["anyOf"])
    if "enum" in schema:
        return " | ".join(map(str, schema["enum"]))
    if schema.get("type") == "array":
        return f"list of {kind_of(schema.get('items', {}))}"
    return str(schema.get("format") or schema.get("type") or "anything")


def _notes(schema: Schema) -> Iterator[str]:
    if "description" in schema:
        yield str(schema["description"])
    for each in (schema, *schema.get("anyOf", ())):
        for bound, words in BOUNDS.items():
            if each.get(bound) is not None:
                yield words.format(each[bound])
