"""Whether a PNG file is whole: Pillow skips checksums, and fills up a picture that is short."""

import zlib
from collections.abc import Iterator

from storyshelf.diff.png_header import SIGNATURE, BadPngError, PngHeader

_OVERHEAD_BYTES = 12  # of a chunk: length, type, checksum
_CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}  # by colour type
_INFLATE_BYTES = 1 << 20  # at a time: what is inflated here is only counted
_ADAM7 = (  # first column, first row, and the steps between columns and rows, of each pass
    (0, 0, 8, 8),
    (4, 0, 8, 8),
    (0, 4, 4, 8),
    (2, 0, 4, 4),
    (0, 2, 2, 4),
    (1, 0, 2, 2),
    (0, 1, 1, 2),
)


def require_whole_chunks(content: bytes) -> None:
    """Check the length and the checksum of every chunk up to IEND, which must be there.

    A second header is refused: it would give the picture another size than was looked at.
    """
    for place, (kind, _) in enumerate(_chunks(content)):
        if kind == b"IHDR" and place:
            raise BadPngError("it has more than one header")
        if kind == b"IEND":
            return
    raise BadPngError(f"it ends after {len(content)} bytes, before its last chunk")


def require_enough_data(content: bytes, header: PngHeader) -> None:
    """Inflate the picture's data, keeping none of it, until there is enough of it."""
    missing = _data_bytes(header)
    inflater = zlib.decompressobj()
    for kind, data in _chunks(content):
        if kind == b"IDAT":
            missing -= _inflated_bytes(inflater, data, missing)
    if missing > 0:
        raise BadPngError("it has less data than its size needs")


def _inflated_bytes(inflater: "zlib._Decompress", data: bytes | memoryview, enough: int) -> int:
    """Count what a piece of the stream inflates to, a little past `enough` at most."""
    count = 0
    rest: bytes | memoryview = data
    while rest and count < enough and not inflater.eof:
        count += len(inflater.decompress(rest, _INFLATE_BYTES))
        rest = inflater.unconsumed_tail
    return count


def _chunks(content: bytes) -> Iterator[tuple[bytes, bytes | memoryview]]:
    view = memoryview(content)
    start = len(SIGNATURE)
    while start + _OVERHEAD_BYTES <= len(content):
        end = start + _OVERHEAD_BYTES + int.from_bytes(view[start : start + 4], "big")
        if end > len(content):
            return
        if zlib.crc32(view[start + 4 : end - 4]) != int.from_bytes(view[end - 4 : end], "big"):
            raise BadPngError(f"the checksum of the chunk at byte {start} is wrong")
        yield content[start + 4 : start + 8], view[start + 8 : end - 4]
        start = end


def _data_bytes(header: PngHeader) -> int:
    """How much the data inflates to: each row has a byte for its filter, each pass its rows."""
    bits = header.bit_depth * _CHANNELS[header.color_type]
    total = 0
    for x, y, step_x, step_y in _ADAM7 if header.interlaced else ((0, 0, 1, 1),):
        columns = -(-(header.width_px - x) // step_x)
        rows = -(-(header.height_px - y) // step_y)
        if columns > 0 and rows > 0:
            total += rows * (1 + -(-columns * bits // 8))
    return total
