"""The stored picture of a difference: one bit a pixel, cut to what is set."""

import struct
import zlib
from dataclasses import dataclass

import numpy as np

from storyshelf.diff.png_header import SIGNATURE, read_header
from storyshelf.diff.shapes import Box, PixelMask, bounding_box, cut

COLOUR = (255, 0, 110)  # of a set pixel; a page lays the mask over either picture, or recolours it

_ZLIB_LEVEL = 4  # level 6 takes twice the time to save a tenth
_ONE_BIT_PALETTE = (1, 3, 0, 0, 0)  # depth, colour type, compression, filter, interlace
_NO_FILTER = 0  # of a PNG row


@dataclass(frozen=True, slots=True)
class Mask:
    """A 1-bit PNG, transparent where nothing changed, and where its top left corner belongs."""

    x_px: int
    y_px: int
    png: bytes

    @property
    def box(self) -> Box:
        """The part of the picture that the mask covers."""
        header = read_header(self.png)
        return Box(self.x_px, self.y_px, header.width_px, header.height_px)


def draw_mask(mask: PixelMask) -> Mask | None:
    """Write what is set as a PNG of its bounding box; none if nothing is set."""
    box = bounding_box(mask)
    if box is None:
        return None
    return Mask(x_px=box.x, y_px=box.y, png=_one_bit_png(cut(mask, box)))


def _one_bit_png(mask: PixelMask) -> bytes:
    height, width = mask.shape
    bits = np.packbits(mask, axis=1)
    rows = np.pad(bits, ((0, 0), (1, 0)), constant_values=_NO_FILTER)
    chunks = (
        _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, *_ONE_BIT_PALETTE)),
        _chunk(b"PLTE", bytes((0, 0, 0, *COLOUR))),
        _chunk(b"tRNS", bytes((0, 255))),
        _chunk(b"IDAT", zlib.compress(rows.tobytes(), _ZLIB_LEVEL)),
        _chunk(b"IEND", b""),
    )
    return SIGNATURE + b"".join(chunks)


def _chunk(kind: bytes, data: bytes) -> bytes:
    checksum = zlib.crc32(kind + data)
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", checksum)
