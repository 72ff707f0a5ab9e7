"""PNG files in: what a header promises, and the pixels as 8-bit RGBA whatever the file's kind."""

import struct
import zlib
from dataclasses import dataclass
from io import BytesIO

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from storyshelf.diff.shapes import Pixels
from storyshelf.errors import BadInputError

MAX_PIXELS = 80_000_000  # 320 MB as RGBA: what one picture may take of a consumer's memory

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_IHDR = struct.Struct(">IIBBBBB")
_HEADER_BYTES = len(_SIGNATURE) + 8 + _IHDR.size + 4  # the chunk's length and type, then its CRC
_CHUNK_OVERHEAD_BYTES = 12
_GREY, _RGB, _PALETTE, _GREY_ALPHA, _RGBA = 0, 2, 3, 4, 6
_BIT_DEPTHS = {
    _GREY: (1, 2, 4, 8, 16),
    _RGB: (8, 16),
    _PALETTE: (1, 2, 4, 8),
    _GREY_ALPHA: (8, 16),
    _RGBA: (8, 16),
}
_DEEP = 16


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


def decode(content: bytes) -> Pixels:
    """Decode into RGBA of 8 bits a channel; 16-bit channels keep their high byte.

    A fully transparent pixel has no colour: it comes out as four zeroes, so that two pictures
    that look alike on any background are alike. Raises BadPngError, as `read_header` does, and
    for any file that is cut, damaged (every checksum is checked) or has too little data.
    """
    header = read_header(content)
    _require_whole_chunks(content)
    try:
        with Image.open(BytesIO(content), formats=["PNG"]) as image:
            pixels = _rgba(image, header)
    except (OSError, SyntaxError, ValueError, EOFError, LookupError, struct.error) as error:
        raise BadPngError(f"its data is damaged ({error})") from error  # the ways Pillow refuses
    pixels[pixels[..., 3] == 0] = 0
    return pixels


def _require_start_of_png(content: bytes) -> None:
    if not content:
        raise BadPngError("the file is empty")
    if not content.startswith(_SIGNATURE[: len(content)]):
        raise BadPngError("it is not a PNG")
    if len(content) < _HEADER_BYTES:
        raise BadPngError(f"it ends after {len(content)} bytes, inside the header")
    if content[8:16] != b"\x00\x00\x00\rIHDR":
        raise BadPngError("it does not begin with a header chunk")
    if zlib.crc32(content[12:29]) != int.from_bytes(content[29:33], "big"):
        raise BadPngError("the header's checksum is wrong")


def _require_whole_chunks(content: bytes) -> None:
    """Check every chunk up to IEND: Pillow itself skips the checksums of the picture's data."""
    view = memoryview(content)
    start = len(_SIGNATURE)
    while start + _CHUNK_OVERHEAD_BYTES <= len(content):
        end = start + _CHUNK_OVERHEAD_BYTES + int.from_bytes(view[start : start + 4], "big")
        if end > len(content):
            break
        if zlib.crc32(view[start + 4 : end - 4]) != int.from_bytes(view[end - 4 : end], "big"):
            raise BadPngError(f"the checksum of the chunk at byte {start} is wrong")
        if content[start + 4 : start + 8] == b"IEND":
            return
        start = end
    raise BadPngError(f"it ends after {len(content)} bytes, before its last chunk")


def _rgba(image: Image.Image, header: PngHeader) -> Pixels:
    if header.bit_depth == _DEEP and header.color_type == _GREY:
        return _from_deep_grey(image)
    transparent = image.info.get("transparency")
    if header.bit_depth == _DEEP and isinstance(transparent, tuple):
        # Pillow keeps the high bytes of the pixels, but all 16 bits of the transparent colour
        image.info["transparency"] = tuple(channel >> 8 for channel in transparent)
    return np.array(image.convert("RGBA"))


def _from_deep_grey(image: Image.Image) -> Pixels:
    """Pillow's own conversion clips 16-bit grey at 255 instead of scaling it."""
    deep: NDArray[np.uint16] = np.asarray(image).astype(np.uint16)
    pixels = np.empty((*deep.shape, 4), np.uint8)
    pixels[..., :3] = (deep >> 8).astype(np.uint8)[..., None]
    pixels[..., 3] = np.where(deep == image.info.get("transparency", -1), 0, 255)
    return pixels
