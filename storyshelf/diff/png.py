"""PNG files in: the pixels as 8-bit RGBA, whatever kind of PNG it is."""

from io import BytesIO

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from storyshelf.diff.png_chunks import require_enough_data, require_whole_chunks
from storyshelf.diff.png_header import (
    GREY,
    MAX_PIXELS,
    REFUSALS,
    BadPngError,
    PngHeader,
    read_header,
)
from storyshelf.diff.shapes import Pixels

__all__ = ["MAX_PIXELS", "BadPngError", "PngHeader", "decode", "read_header"]

_DEEP = 16  # bits a channel


def decode(content: bytes) -> Pixels:
    """Decode into RGBA of 8 bits a channel; 16-bit channels keep their high byte.

    A fully transparent pixel has no colour: it comes out as four zeroes, so that two pictures
    that look alike on any background are alike. Raises BadPngError, as `read_header` does, and
    for any file that is cut, damaged (every checksum is checked) or has too little data.
    """
    header = read_header(content)
    require_whole_chunks(content)
    try:
        with Image.open(BytesIO(content), formats=["PNG"]) as image:
            image.load()
            if header.interlaced or _ends_in_zeroes(image):
                require_enough_data(content, header)
            pixels = _rgba(image, header)
    except REFUSALS as error:
        raise BadPngError(f"its data is damaged ({error})") from error
    pixels[pixels[..., 3] == 0] = 0
    return pixels


def _ends_in_zeroes(image: Image.Image) -> bool:
    """Tell whether the last row looks like one that Pillow never got any data for."""
    last_row = image.crop((0, image.height - 1, image.width, image.height))
    return not last_row.tobytes().strip(b"\0")


def _rgba(image: Image.Image, header: PngHeader) -> Pixels:
    if header.bit_depth == _DEEP and header.color_type == GREY:
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
