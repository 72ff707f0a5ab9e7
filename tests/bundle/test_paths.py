import pytest
from hypothesis import given
from hypothesis import strategies as st

from storyshelf.bundle.paths import (
    AbsolutePathError,
    BackslashPathError,
    BadPathError,
    ControlCharacterPathError,
    DrivePathError,
    EmptySegmentError,
    EncodedPathError,
    PathTooLongError,
    TraversalPathError,
    parse_path,
    shown,
)


@pytest.mark.parametrize(
    "path",
    [
        "iframe.html",
        "assets/Button-a1b2.js",
        "a b/c+d@2x.png",
        "100%.txt",
        "50%25off.png",
        "...",
        "..a/b..",
        ".well-known/x",
        "~/x",
        "ab:c/d",
        "日本語/🎉.svg",
        "שלום/\N{WOMAN}\N{ZERO WIDTH JOINER}\N{PERSONAL COMPUTER}.svg",
    ],
)
def test_ordinary_names_pass_unchanged(path: str) -> None:
    assert parse_path(path) == path


@pytest.mark.parametrize(
    ("path", "error"),
    [
        ("/etc/passwd", AbsolutePathError),
        ("//host/share", AbsolutePathError),
        ("../x", TraversalPathError),
        ("a/../../x", TraversalPathError),
        ("a/..", TraversalPathError),
        ("..", TraversalPathError),
        (".", TraversalPathError),
        ("./a", TraversalPathError),
        ("..\\x", BackslashPathError),
        ("a\\b", BackslashPathError),
        ("C:/x", DrivePathError),
        ("c:x", DrivePathError),
        ("", EmptySegmentError),
        ("a//b", EmptySegmentError),
        ("a/", EmptySegmentError),
        ("\u202egpj.exe", ControlCharacterPathError),
        ("a\u2066b", ControlCharacterPathError),
        ("a\u2028b", ControlCharacterPathError),
        ("a\0b", ControlCharacterPathError),
        ("a\nb", ControlCharacterPathError),
        ("a\x1b[2J", ControlCharacterPathError),
        ("a\x85", ControlCharacterPathError),
        ("a\udcff", ControlCharacterPathError),
        ("%2e%2e/x", EncodedPathError),
        ("%2E%2E%2Fx", EncodedPathError),
        ("a/%2e%2e/%2e%2e/x", EncodedPathError),
        (".%2e/x", EncodedPathError),
        ("%252e%252e%252fx", EncodedPathError),
        ("%2fetc/passwd", EncodedPathError),
        ("a%5c..%5cb", EncodedPathError),
        ("a%00b", EncodedPathError),
        ("%25252525252e", EncodedPathError),
        ("a" * 1025, PathTooLongError),
        ("é" * 513, PathTooLongError),
    ],
)
def test_a_dangerous_name_has_an_error_of_its_own(path: str, error: type[BadPathError]) -> None:
    with pytest.raises(error) as refused:
        parse_path(path)
    assert type(refused.value) is error
    assert refused.value.next_step
    assert str(refused.value).isprintable()


def test_the_message_names_the_path() -> None:
    with pytest.raises(TraversalPathError, match=r"'a/\.\./b' has a '\.' or '\.\.' segment"):
        parse_path("a/../b")


def test_decomposed_names_are_composed() -> None:
    assert parse_path("e\u0301.js") == "\u00e9.js"


def test_the_longest_path_passes() -> None:
    assert parse_path("a" * 1024) == "a" * 1024


def test_a_long_name_is_cut_in_messages() -> None:
    assert len(shown("x" * 5000)) < 150


@given(st.text(max_size=30) | st.lists(st.sampled_from(["..", "a", "%2e", "/", "\\"])).map("".join))
def test_whatever_passes_stays_inside_and_parses_to_itself(text: str) -> None:
    try:
        path = parse_path(text)
    except BadPathError:
        return
    assert parse_path(path) == path
    assert not path.startswith("/")
    assert not {"", ".", ".."} & set(path.split("/"))
