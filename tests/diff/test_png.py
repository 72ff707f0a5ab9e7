"""Files of every kind become 8-bit RGBA; everything else is refused with a reason."""

import struct
import zlib
from collections.abc import Callable
from contextlib import suppress
from io import BytesIO

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from storyshelf.diff.png import MAX_PIXELS, BadPngError, decode, read_header
from storyshelf.diff.thumbnail import shrink
from tests.diff.pictures import a_picture, chunk, interlaced_rows, paint, png, png_by_hand, saved

A_FILE = png(paint(a_picture(9, 7), (2, 1, 4, 3), (200, 30, 40)))
RGB, PALETTE, GREY, GREY_ALPHA, RGBA = 2, 3, 0, 4, 6
HEADERS = [(5, 5, 8, kind, 0) for kind in (RGB, PALETTE, GREY, GREY_ALPHA, RGBA)]
HEADERS += [(5, 5, 16, kind, 0) for kind in (RGB, GREY, GREY_ALPHA, RGBA)]


def test_the_header_tells_size_and_kind() -> None:
    header = read_header(png_by_hand((3, 2, 16, RGB, 1), b""))
    assert (header.width_px, header.height_px) == (3, 2)
    assert (header.bit_depth, header.color_type, header.interlaced) == (16, RGB, True)


def test_the_header_is_enough_to_read_the_header() -> None:
    assert read_header(A_FILE[:33]) == read_header(A_FILE)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "the file is empty"),
        (A_FILE[:5], "it ends after 5 bytes, inside the header"),
        (A_FILE[:32], "it ends after 32 bytes, inside the header"),
        (saved(Image.new("P", (4, 4))).replace(b"\x89PNG", b"GIF8"), "it is not a PNG"),
        (b"<html>Bad gateway</html>", "it is not a PNG"),
        (A_FILE[:8] + chunk(b"IDAT", bytes(30)), "it does not begin with a header chunk"),
        (A_FILE[:20] + b"\x01" + A_FILE[21:], "the header's checksum is wrong"),
        (png_by_hand((0, 5, 8, RGB, 0), b""), "it has no area (0 x 5)"),
        (png_by_hand((5, 0, 8, RGB, 0), b""), "it has no area (5 x 0)"),
        (png_by_hand((1, 1, 4, RGB, 0), b""), "colour type 2 with 4 bits does not exist"),
        (png_by_hand((1, 1, 8, 5, 0), b""), "colour type 5 with 8 bits does not exist"),
        (
            png_by_hand((1, 1, 8, RGB, 2), b""),
            "its header names a compression, filter or interlacing unknown to PNG",
        ),
    ],
)
def test_what_is_no_png_is_refused_by_its_header(content: bytes, problem: str) -> None:
    with pytest.raises(BadPngError) as refusal:
        read_header(content)
    assert refusal.value.problem == problem


def test_a_gif_with_the_name_of_a_png_is_refused() -> None:
    with pytest.raises(BadPngError, match="it is not a PNG"):
        decode(b"GIF89a" + bytes(40))


@pytest.mark.parametrize("size", [(MAX_PIXELS + 1, 1), (2**31 - 1, 2**31 - 1)])
def test_a_bomb_is_refused_before_anything_is_inflated(size: tuple[int, int]) -> None:
    with pytest.raises(BadPngError, match="more than 80,000,000 pixels"):
        decode(png_by_hand((*size, 8, RGBA, 0), bytes(100)))


@pytest.mark.parametrize("read", [decode, shrink])
@pytest.mark.parametrize("side_px", [1, 3, 10_000, 100_000])
def test_a_second_header_gives_no_other_size(read: Callable[[bytes], object], side_px: int) -> None:
    """Pillow believes the last one, and would inflate a picture that nobody looked at."""
    second = chunk(b"IHDR", struct.pack(">IIBBBBB", side_px, side_px, 8, RGBA, 0, 0, 0))
    with pytest.raises(BadPngError, match="more than one header"):
        read(png_by_hand((1, 1, 8, RGBA, 0), bytes(5), second))


KINDS = b"IHDR PLTE tRNS IDAT IEND iCCP gAMA cHRM sRGB pHYs tEXt zTXt iTXt eXIf acTL fcTL fdAT abCd"
CHUNKS = st.builds(chunk, st.sampled_from(KINDS.split()), st.binary(max_size=40))


@pytest.mark.filterwarnings("ignore:Invalid APNG")
@given(extra=st.lists(CHUNKS, min_size=1, max_size=4), header=st.sampled_from(HEADERS))
def test_whatever_chunks_there_are_it_is_read_in_its_size_or_refused(
    extra: list[bytes], header: tuple[int, ...]
) -> None:
    content = png_by_hand(header, bytes(200), *extra)
    with suppress(BadPngError):
        assert decode(content).shape == (5, 5, 4)
    with suppress(BadPngError):
        assert Image.open(BytesIO(shrink(content))).size == (5, 5)


def test_the_largest_allowed_picture_passes_the_header() -> None:
    assert read_header(png_by_hand((8000, 10_000, 8, RGB, 0), b"")).height_px == 10_000


@pytest.mark.parametrize("length", range(1, len(A_FILE)))
def test_a_file_cut_anywhere_is_refused(length: int) -> None:
    with pytest.raises(BadPngError):
        decode(A_FILE[:length])


@given(place=st.integers(0, len(A_FILE) - 1), flip=st.integers(1, 255))
def test_a_file_with_one_damaged_byte_is_refused(place: int, flip: int) -> None:
    damaged = bytearray(A_FILE)
    damaged[place] ^= flip
    with pytest.raises(BadPngError):
        decode(bytes(damaged))


@given(st.binary(max_size=200))
def test_bytes_after_a_good_header_decode_or_are_refused(tail: bytes) -> None:
    with pytest.raises(BadPngError):
        decode(A_FILE[:33] + tail)


@pytest.mark.parametrize(
    ("color", "row_bytes"), [(RGB, 301), (RGBA, 401), (GREY, 101), (GREY_ALPHA, 201)]
)
def test_data_for_too_few_rows_is_refused(color: int, row_bytes: int) -> None:
    rows = (b"\0" + b"\xff" * (row_bytes - 1)) * 99
    with pytest.raises(BadPngError, match="it has less data than its size needs"):
        decode(png_by_hand((100, 100, 8, color, 0), rows))


def test_a_picture_that_ends_in_black_is_whole() -> None:
    black = a_picture(50, 40, (0, 0, 0))
    assert np.array_equal(decode(png(black)), black)


def test_a_picture_whose_data_is_no_zlib_stream_is_refused() -> None:
    broken = A_FILE[:33] + chunk(b"IDAT", b"not deflate") + chunk(b"IEND", b"")
    with pytest.raises(BadPngError, match="its data is damaged"):
        decode(broken)


def test_a_comment_that_inflates_without_end_is_refused() -> None:
    bomb = chunk(b"zTXt", b"Comment\0\0" + zlib.compress(bytes(50_000_000)))
    with pytest.raises(BadPngError):
        decode(png_by_hand((1, 1, 8, GREY, 0), b"\0\0", bomb))


def test_rgb_comes_out_opaque() -> None:
    assert decode(png_by_hand((1, 1, 8, RGB, 0), b"\0\x01\x02\x03")).tolist() == [[[1, 2, 3, 255]]]


def test_rgba_comes_out_as_it_is() -> None:
    pixels = paint(a_picture(3, 2), (0, 0, 2, 1), (1, 2, 3, 77))
    assert np.array_equal(decode(png(pixels)), pixels)


def test_a_fully_transparent_pixel_has_no_colour() -> None:
    file = png_by_hand((1, 1, 8, RGBA, 0), b"\0\x64\x65\x66\x00")
    assert decode(file).tolist() == [[[0, 0, 0, 0]]]


SIDES = st.integers(1, 17)


@given(width=SIDES, height=SIDES)
def test_interlacing_changes_nothing(width: int, height: int) -> None:
    greys = np.arange(1, 1 + width * height).reshape(height, width) % 251
    file = png_by_hand((width, height, 8, GREY, 1), b"".join(interlaced_rows(greys)))
    assert np.array_equal(decode(file)[..., 0], greys)


@given(width=SIDES, height=SIDES)
def test_an_interlaced_picture_without_its_last_row_is_refused(width: int, height: int) -> None:
    rows = interlaced_rows(np.full((height, width), 9))
    with pytest.raises(BadPngError):
        decode(png_by_hand((width, height, 8, GREY, 1), b"".join(rows[:-1])))


@pytest.mark.parametrize(
    ("depth", "row", "greys"),
    [
        (1, b"\0\xa0", [255, 0, 255]),
        (2, b"\0\x1b", [0, 85, 170]),
        (4, b"\0\x0f\x50", [0, 255, 85]),
        (8, b"\0\x00\x7f\xff", [0, 127, 255]),
        (16, b"\0\x00\xff\x12\x34\xff\xff", [0, 0x12, 255]),
    ],
)
def test_grey_of_every_depth_is_scaled(depth: int, row: bytes, greys: list[int]) -> None:
    pixels = decode(png_by_hand((3, 1, depth, GREY, 0), row))
    assert pixels.tolist() == [[[grey, grey, grey, 255] for grey in greys]]


def test_grey_with_alpha_keeps_its_alpha() -> None:
    assert decode(png_by_hand((1, 1, 8, GREY_ALPHA, 0), b"\0\x50\x60")).tolist() == [
        [[0x50, 0x50, 0x50, 0x60]]
    ]


@pytest.mark.parametrize(
    ("color", "samples", "rgba"),
    [
        (RGB, (0x1234, 0x56FF, 0xFF00), [0x12, 0x56, 0xFF, 255]),
        (GREY_ALPHA, (0x1234, 0x80FF), [0x12, 0x12, 0x12, 0x80]),
        (RGBA, (0x1234, 0x5678, 0x9ABC, 0xDEF0), [0x12, 0x56, 0x9A, 0xDE]),
    ],
)
def test_sixteen_bits_keep_their_high_byte(
    color: int, samples: tuple[int, ...], rgba: list[int]
) -> None:
    row = b"\0" + struct.pack(f">{len(samples)}H", *samples)
    assert decode(png_by_hand((1, 1, 16, color, 0), row)).tolist() == [[rgba]]


def test_a_palette_gives_its_colours_and_their_alpha() -> None:
    palette = chunk(b"PLTE", bytes((10, 20, 30, 40, 50, 60))) + chunk(b"tRNS", b"\x80")
    pixels = decode(png_by_hand((2, 1, 1, PALETTE, 0), b"\0\x40", palette))
    assert pixels.tolist() == [[[10, 20, 30, 0x80], [40, 50, 60, 255]]]


@pytest.mark.parametrize(
    ("header", "transparent", "row"),
    [
        ((2, 1, 8, GREY, 0), b"\x00\x09", b"\0\x09\x0a"),
        ((2, 1, 16, GREY, 0), b"\x09\x08", b"\0\x09\x08\x09\x07"),
        ((2, 1, 8, RGB, 0), b"\0\x01\0\x02\0\x03", b"\0\x01\x02\x03\x01\x02\x04"),
        ((2, 1, 16, RGB, 0), b"\1\0\2\0\3\0", b"\0\1\0\2\0\3\0\1\0\2\0\4\0"),
    ],
)
def test_a_transparent_colour_is_transparent(
    header: tuple[int, ...], transparent: bytes, row: bytes
) -> None:
    pixels = decode(png_by_hand(header, row, chunk(b"tRNS", transparent)))
    assert pixels[0, :, 3].tolist() == [0, 255]
