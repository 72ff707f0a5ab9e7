"""A picture made small for a list of many: as wide as a card, and of a tall one its top."""

from io import BytesIO

from PIL import Image

from storyshelf.diff.png_chunks import require_whole_chunks
from storyshelf.diff.png_header import REFUSALS, BadPngError, read_header

WIDTH_PX = 400  # a card, on a screen with two dots a pixel
HEIGHT_PX = 800
MAX_PIXELS = 40_000_000  # decoded at most 160 MB, for some 0.7 s
WEBP_QUALITY = 80
WEBP_EFFORT = 2  # of 0 to 6: as small as with 4, in a tenth of the time


def size_of(width_px: int, height_px: int) -> tuple[int, int]:
    """Return the size that a picture's thumbnail has."""
    scale = min(1.0, WIDTH_PX / max(width_px, 1))
    return max(1, round(width_px * scale)), max(1, min(HEIGHT_PX, round(height_px * scale)))


def shrink(png: bytes) -> bytes:
    """Return the thumbnail as WebP; raises BadPngError for no PNG, or one of too many pixels."""
    header = read_header(png)
    if header.width_px * header.height_px > MAX_PIXELS:
        raise BadPngError(f"it has more than {MAX_PIXELS:,} pixels")
    require_whole_chunks(png)
    size = size_of(header.width_px, header.height_px)
    content = BytesIO()
    try:
        with Image.open(BytesIO(png), formats=["PNG"]) as image:
            shown_px = round(size[1] * header.width_px / size[0])
            top = image.crop((0, 0, header.width_px, min(header.height_px, max(1, shown_px))))
            small = top.convert("RGBA").resize(size, Image.Resampling.BOX, reducing_gap=2.0)
            small.save(content, "WEBP", quality=WEBP_QUALITY, method=WEBP_EFFORT)
    except REFUSALS as error:
        raise BadPngError(f"its data is damaged ({error})") from error
    return content.getvalue()
