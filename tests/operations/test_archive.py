"""Archives that nobody honest made: refused in words, and nothing gets out of the folder."""

import io
import json
import tarfile
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from storyshelf.db.migrate import head
from storyshelf.operations.archive import (
    DUMP,
    HEADER,
    MAX_SMALL_BYTES,
    SUMS,
    BadArchiveError,
    Header,
    unpack,
)

Part = tuple[str, bytes]
BLOB = f"blobs/{sha256(b'x').hexdigest()}"
DEEP = b"[" * (MAX_SMALL_BYTES - 1)
KEY = "files/secret.key"


def header(**other: Any) -> Part:
    return HEADER, json.dumps({**asdict(Header(head(), 16, "1", "today")), **other}).encode()


def whole(*parts: Part) -> bytes:
    sums = {name: sha256(content).hexdigest() for name, content in parts}
    document = {"sums": sums, "blobs": 0, "blob_bytes": 0}
    return archive(*parts, (SUMS, json.dumps(document).encode()))


def archive(*parts: Part) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for name, content in parts:
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return out.getvalue()


def linking(kind: bytes) -> bytes:
    """Return an archive in which a part is a link, a pipe or a device."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        name, content = header()
        member = tarfile.TarInfo(name)
        member.size = len(content)
        tar.addfile(member, io.BytesIO(content))
        link = tarfile.TarInfo(KEY)
        link.type, link.linkname = kind, "/etc/passwd"
        tar.addfile(link)
    return out.getvalue()


def refused(content: bytes, folder: Path) -> str:
    """Return why the archive was refused; nothing was made beside its folder."""
    aside = folder / "aside"
    aside.mkdir()
    with pytest.raises(BadArchiveError) as raised:
        unpack(io.BytesIO(content), aside)
    assert [path.name for path in folder.iterdir()] == ["aside"]
    return str(raised.value)


def test_one_that_is_whole_is_unpacked(tmp_path: Path) -> None:
    found, sums = unpack(io.BytesIO(whole(header(), (DUMP, b"d"), (KEY, b"k"))), tmp_path)
    assert found.postgres_major == 16
    assert set(sums.sums) == {HEADER, DUMP, KEY}
    assert (tmp_path / "secret.key").read_bytes() == b"k"


@pytest.mark.parametrize("parts", [(KEY, KEY), (DUMP, DUMP), (BLOB, BLOB)])
def test_a_part_that_comes_twice(tmp_path: Path, parts: tuple[str, str]) -> None:
    content = archive(header(), *((name, b"x") for name in parts))
    assert "twice" in refused(content, tmp_path)


@pytest.mark.parametrize(
    "name",
    ["files/blobs", "files/pg", f"files/{DUMP}", f"files/{'a' * 300}", "files/../x", "/x", "x"],
)
def test_a_file_that_no_backup_has(tmp_path: Path, name: str) -> None:
    assert "no part of a backup" in refused(archive(header(), (name, b"x")), tmp_path)


@pytest.mark.parametrize(
    "kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE, tarfile.DIRTYPE]
)
def test_what_is_no_plain_file(tmp_path: Path, kind: bytes) -> None:
    assert "no plain file" in refused(linking(kind), tmp_path)


@pytest.mark.parametrize("document", [DEEP, b"null", b"[]", b"\xff", b'{"x": 1}'])
@pytest.mark.parametrize("name", [HEADER, SUMS])
def test_a_document_of_another_shape(tmp_path: Path, name: str, document: bytes) -> None:
    before = [] if name == HEADER else [header()]
    assert "cannot be read" in refused(archive(*before, (name, document)), tmp_path)


@pytest.mark.parametrize("major", ["16", 1.5, [16]])
def test_a_version_that_is_no_number(tmp_path: Path, major: object) -> None:
    assert "which PostgreSQL" in refused(whole(header(postgres_major=major)), tmp_path)


def test_a_part_that_is_larger_than_the_disk(tmp_path: Path) -> None:
    """What was packed small would be written until nothing is left for anybody."""
    member = tarfile.TarInfo(DUMP)
    member.size = 1 << 55
    start = archive(header())[: 2 * tarfile.BLOCKSIZE]
    content = start + member.tobuf(tarfile.GNU_FORMAT) + bytes(tarfile.RECORDSIZE)
    assert "more than are free" in refused(content, tmp_path)
