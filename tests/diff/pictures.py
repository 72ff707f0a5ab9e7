"""Small pictures made by code, and PNG files of every kind."""

import struct
import zlib
from io import BytesIO

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from storyshelf.diff.shapes import Pixels

Colour = tuple[int, int, int]
WHITE = (255, 255, 255)
BLACK = (0, 0, 0)


def a_picture(width: int = 20, height: int = 20, colour: Colour = WHITE) -> Pixels:
    pixels = np.empty((height, width, 4), np.uint8)
    pixels[...] = (*colour, 255)
    return pixels


def paint(pixels: Pixels, box: tuple[int, int, int, int], colour: tuple[int, ...]) -> Pixels:
    """A copy with `x, y, width, height` filled; a colour without alpha is opaque."""
    x, y, width, height = box
    painted = pixels.copy()
    painted[y : y + height, x : x + width] = (*colour, 255)[:4]
    return painted


def outline(pixels: Pixels, box: tuple[int, int, int, int], colour: Colour) -> Pixels:
    """A copy with a border of one pixel, whose outside is the box."""
    x, y, width, height = box
    inside = pixels[y + 1 : y + height - 1, x + 1 : x + width - 1]
    framed = paint(pixels, box, colour)
    framed[y + 1 : y + height - 1, x + 1 : x + width - 1] = inside
    return framed


def discs(width: int, height: int, moved_px: float = 0.0) -> Pixels:
    """Smooth discs and rings on white, moved to the right by a part of a pixel."""
    y, x = np.mgrid[0:height, 0:width].astype(np.float64)
    pixels = a_picture(width, height)
    for n, colour in enumerate([(200, 40, 60), (30, 90, 200), (0, 0, 0), (240, 240, 244)]):
        centre_x, centre_y = width * (n + 1) / 5 + moved_px, height * (1 + n % 3) / 4
        distance = np.sqrt((x - centre_x) ** 2 + (y - centre_y) ** 2)
        ring = np.abs(distance - 5 - 3 * n) - (1 + n % 2)
        shade = np.clip(0.5 - ring, 0, 1)[..., None]
        pixels[..., :3] = np.floor(pixels[..., :3] * (1 - shade) + np.array(colour) * shade)
    return pixels


def png(pixels: Pixels, **options: object) -> bytes:
    return saved(Image.fromarray(pixels), **options)


def saved(image: Image.Image, **options: object) -> bytes:
    file = BytesIO()
    image.save(file, "PNG", **options)
    return file.getvalue()


def chunk(kind: bytes, data: bytes) -> bytes:
    checksum = zlib.crc32(kind + data)
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", checksum)


# the pass in which each pixel of an 8 x 8 block is sent, as the PNG specification draws it
_ADAM7 = np.array(
    [
        [1, 6, 4, 6, 2, 6, 4, 6],
        [7, 7, 7, 7, 7, 7, 7, 7],
        [5, 6, 5, 6, 5, 6, 5, 6],
        [7, 7, 7, 7, 7, 7, 7, 7],
        [3, 6, 4, 6, 3, 6, 4, 6],
        [7, 7, 7, 7, 7, 7, 7, 7],
        [5, 6, 5, 6, 5, 6, 5, 6],
        [7, 7, 7, 7, 7, 7, 7, 7],
    ]
)


def interlaced_rows(greys: NDArray[np.int_]) -> list[bytes]:
    """The rows of an interlaced grey picture of 8 bits in the order of the file, unfiltered."""
    height, width = greys.shape
    passes = np.tile(_ADAM7, (height // 8 + 1, width // 8 + 1))[:height, :width]
    rows = [
        greys[y][passes[y] == number]
        for number in range(1, 8)
        for y in range(height)
        if (passes[y] == number).any()
    ]
    return [b"\0" + row.astype(np.uint8).tobytes() for row in rows]


def png_by_hand(header: tuple[int, ...], rows: bytes, *extra: bytes) -> bytes:
    """A PNG from IHDR's fields (width, height, depth, colour type, interlace) and filtered rows."""
    width, height, depth, color, interlace = header
    ihdr = struct.pack(">IIBBBBB", width, height, depth, color, 0, 0, interlace)
    body = chunk(b"IHDR", ihdr) + b"".join(extra) + chunk(b"IDAT", zlib.compress(rows))
    return b"\x89PNG\r\n\x1a\n" + body + chunk(b"IEND", b"")
