"""The first bytes of a PNG: what it is, and whether it may be decoded at all."""

import struct
import zlib
from dataclasses import dataclass

from storyshelf.errors import BadInputError

MAX_PIXELS = 80_000_000  # 320 MB as RGBA: what one picture may take of a consumer's memory

# What Pillow raises for a file that is damaged, or was made to look so.
REFUSALS = (OSError, SyntaxError, ValueError, EOFError, LookupError, struct.error, zlib.error)

SIGNATURE = b"\x89PNG\r\n\x1a\n"
_IHDR = struct.Struct(">IIBBBBB")
_HEADER_BYTES = len(SIGNATURE) + 8 + _IHDR.size + 4  # the chunk's length and type, then its CRC
GREY, _RGB, _PALETTE, _GREY_ALPHA, _RGBA = 0, 2, 3, 4, 6
_BIT_DEPTHS = {
    GREY: (1, 2, 4, 8, 16),
    _RGB: (8, 16),
    _PALETTE: (1, 2, 4, 8),
    _GREY_ALPHA: (8, 16),
    _RGBA: (8, 16),
}


class BadPngError(BadInputError):
    """The bytes are not a PNG that can be compared."""

    def __init__(self, problem: str) -> None:
        super().__init__(
            f"The picture cannot be read: {problem}",
            next_step="Capture the story again; if it stays, the file was damaged on its way.",
        )
        self.problem = problem


@dataclass(frozen=True, slots=True)
class PngHeader:
    """The fields of IHDR; `color_type` is PNG's own number."""

    width_px: int
    height_px: int
    bit_depth: int
    color_type: int
    interlaced: bool


def read_header(content: bytes) -> PngHeader:
    """Parse and check the IHDR chunk; looks at 33 bytes and inflates nothing.

    Raises BadPngError for what is not a PNG, is cut inside the header, has no area or more than
    MAX_PIXELS, or names a kind of PNG that does not exist.
    """
    _require_start_of_png(content)
    fields = content[16 : 16 + _IHDR.size]
    width, height, depth, color, compression, filtering, interlace = _IHDR.unpack(fields)
    if depth not in _BIT_DEPTHS.get(color, ()):
        raise BadPngError(f"colour type {color} with {depth} bits does not exist")
    if compression or filtering or interlace > 1:
        raise BadPngError("its header names a compression, filter or interlacing unknown to PNG")
    if not (width and height):
        raise BadPngError(f"it has no area ({width} x {height})")
    if width * height > MAX_PIXELS:
        raise BadPngError(f"{width} x {height} is more than {MAX_PIXELS:,} pixels")
    return PngHeader(width, height, depth, color, interlaced=interlace == 1)


def _require_start_of_png(content: bytes) -> None:
    if not content:
        raise BadPngError("the file is empty")
    if not content.startswith(SIGNATURE[: len(content)]):
        raise BadPngError("it is not a PNG")
    if len(content) < _HEADER_BYTES:
        raise BadPngError(f"it ends after {len(content)} bytes, inside the header")
    if content[8:16] != b"\x00\x00\x00\rIHDR":
        raise BadPngError("it does not begin with a header chunk")
    if zlib.crc32(content[12:29]) != int.from_bytes(content[29:33], "big"):
        raise BadPngError("the header's checksum is wrong")
