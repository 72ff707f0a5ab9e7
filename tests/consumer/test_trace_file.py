"""A trace that is handed on is a zip of ours, whatever a child sent."""

import struct
from io import BytesIO
from zipfile import ZIP_BZIP2, ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

import pytest

from consumer import trace_file
from consumer.trace_file import BadTraceError, rewritten

STEPS = b'{"type":"context-options"}\n' * 50


def packed(files: dict[str, bytes], compression: int = ZIP_DEFLATED) -> bytes:
    out = BytesIO()
    with ZipFile(out, "w", compression) as made:
        for name, content in files.items():
            made.writestr(name, content)
    return out.getvalue()


def unpacked(content: bytes) -> dict[str, bytes]:
    with ZipFile(BytesIO(content)) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def test_what_a_trace_is_made_of_is_kept_as_it_is() -> None:
    files = {
        "trace.trace": STEPS,
        "trace.network": b"{}\n",
        "resources/2df84f1490550e26ca00b270bd92cd39f2e4cc19.html": b"<p>",
        "screencast/page@7ab82b2007bc-1796043223474.jpeg": b"\xff\xd8" * 500,
    }
    assert unpacked(rewritten(packed(files))) == files
    assert rewritten(packed(files, ZIP_STORED)) == rewritten(packed(files, ZIP_STORED))


@pytest.mark.parametrize(
    "name",
    [
        *("trace.stacks", "../../etc/cron.d/x", "/etc/passwd", "resources/../../x", "..\\x"),
        *("resources/..", "resources/a/b", "resources/", "resources/a\nb", "index.html", "a" * 999),
        "resources/" + "a" * 300,
    ],
)
def test_no_other_name_comes_through(name: str) -> None:
    rebuilt = unpacked(rewritten(packed({name: b"hostile", "trace.trace": STEPS})))
    assert list(rebuilt) == ["trace.trace"]


def test_files_that_are_one_and_the_same_do_not_make_a_larger_trace(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The list of a zip may name the same bytes again and again."""
    monkeypatch.setattr(trace_file, "MAX_PACKED_BYTES", 20_000)
    many = {f"resources/{number}": b"x" * 1_000 for number in range(30)}
    with pytest.raises(BadTraceError, match="it has more than 0 MiB"):
        rewritten(packed({"trace.trace": STEPS, **many}, ZIP_STORED))


def test_a_name_that_comes_twice_is_there_once() -> None:
    with pytest.warns(UserWarning, match="Duplicate"):
        content = _twice()
    assert unpacked(rewritten(content)) == {"trace.trace": b"second"}


def _twice() -> bytes:
    out = BytesIO()
    with ZipFile(out, "w") as made:
        made.writestr("trace.trace", b"first")
        made.writestr("trace.trace", b"second")
    return out.getvalue()


def test_a_bomb_is_refused_before_it_is_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace_file, "MAX_UNPACKED_BYTES", 1 << 20)
    bomb = packed({"trace.trace": STEPS, "resources/a": bytes(2 << 20)})
    with pytest.raises(BadTraceError, match="unpacks to more than 1 MiB"):
        rewritten(bomb)
    # A bomb that calls itself small: its size is said once before it and once in the list.
    size = struct.pack("<I", 2 << 20)
    with pytest.raises(BadTraceError):
        rewritten(bomb.replace(size, struct.pack("<I", 10)))


def test_a_list_without_end_is_refused_before_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    many = packed({"trace.trace": STEPS} | {f"resources/{each}": b"" for each in range(50)})
    monkeypatch.setattr(trace_file, "MAX_FILES", 20)
    with pytest.raises(BadTraceError, match="more than 20 files"):
        rewritten(many)
    monkeypatch.setattr(trace_file, "MAX_LIST_BYTES", 1_000)
    with pytest.raises(BadTraceError, match="its list of files is too long"):
        rewritten(many)


@pytest.mark.parametrize(
    "content",
    [
        *(b"", b"PK", b"no zip" * 100, packed({"trace.network": b"{}"})),
        packed({"trace.trace": STEPS}) + b"behind it",
        packed({"trace.trace": STEPS}, ZIP_BZIP2),
        packed({"trace.trace": STEPS})[:-22] + b"PK\x06\x07" + bytes(16)
        + packed({"trace.trace": STEPS})[-22:],
        packed({"trace.trace": STEPS}, ZIP_STORED).replace(STEPS[:5], b"xxxxx", 1),
    ],
)  # fmt: skip
def test_what_is_no_trace_is_refused(content: bytes) -> None:
    with pytest.raises(BadTraceError):
        rewritten(content)


def test_an_encrypted_file_is_refused() -> None:
    out = BytesIO()
    with ZipFile(out, "w") as made:
        made.writestr(ZipInfo("trace.trace"), STEPS)
    content = bytearray(out.getvalue())
    for mark, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(mark) + flags] |= 1
    with pytest.raises(BadTraceError, match="no zip that can be read"):
        rewritten(bytes(content))
