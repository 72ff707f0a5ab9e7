"""Pictures made small: their size, their look, and what is refused."""

from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from storyshelf.diff.png_header import BadPngError
from storyshelf.diff.thumbnail import MAX_PIXELS, shrink, size_of


def png_of(image: Image.Image) -> bytes:
    content = BytesIO()
    image.save(content, "PNG")
    return content.getvalue()


def shown(png: bytes) -> Image.Image:
    image = Image.open(BytesIO(shrink(png)))
    assert image.format == "WEBP"
    return image


@pytest.mark.parametrize(
    ("size", "small"),
    [
        ((1280, 800), (400, 250)),
        ((200, 60), (200, 60)),
        ((1280, 30_000), (400, 800)),
        ((100, 5_000), (100, 800)),
        ((5_000, 1), (400, 1)),
    ],
)
def test_a_thumbnail_is_as_wide_as_a_card_and_never_larger(
    size: tuple[int, int], small: tuple[int, int]
) -> None:
    assert size_of(*size) == small
    assert shown(png_of(Image.new("RGB", size, "teal"))).size == small


def test_of_a_tall_picture_the_top_is_shown_unsquashed() -> None:
    tall = Image.new("RGB", (800, 6_000), "white")
    tall.paste("red", (0, 0, 800, 800))
    green = np.asarray(shown(png_of(tall)).convert("RGB"))[:, 200, 1]
    assert green[390] < 60
    assert green[410] > 200


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "I;16"])
def test_every_kind_of_png_is_made_small_or_refused(mode: str) -> None:
    png = png_of(Image.new(mode, (500, 20)))
    try:
        assert shown(png).size == (400, 16)
    except BadPngError:
        assert mode == "I;16"


def test_what_is_clear_stays_clear() -> None:
    assert shown(png_of(Image.new("RGBA", (8, 8), (0, 0, 0, 0)))).getchannel("A").getextrema() == (
        0,
        0,
    )


def test_a_picture_of_too_many_pixels_is_not_decoded() -> None:
    png = png_of(Image.new("1", (8_000, MAX_PIXELS // 8_000 + 1)))
    with pytest.raises(BadPngError, match="more than 40,000,000 pixels"):
        shrink(png)


@pytest.mark.parametrize("cut", [0, 20, 60, -200])
def test_what_is_no_whole_picture_is_refused(cut: int) -> None:
    png = png_of(Image.effect_noise((64, 64), 50))
    with pytest.raises(BadPngError):
        shrink(png[:cut])
