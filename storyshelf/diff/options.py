"""How strict a comparison is: the options a project, a story or a mode may set."""

from dataclasses import dataclass, field
from decimal import Decimal

from storyshelf.diff.faint import FaintRule
from storyshelf.diff.shapes import Size
from storyshelf.errors import BadInputError


class BadOptionsError(BadInputError):
    """A comparison option is outside its range."""

    def __init__(self, option: str, value: float, allowed: str) -> None:
        super().__init__(
            f"{option} is {value:g}",
            where="options of the comparison",
            next_step=f"Set it to {allowed}.",
        )
        self.option = option


@dataclass(frozen=True, slots=True)
class Options:
    """Of the two maxima the smaller one given holds; with neither, no pixel may change."""

    threshold: float = 0.1  # 0 to 1, for each pixel, as in pixelmatch
    include_aa: bool = False  # count the edges that are otherwise forgiven as anti-aliasing
    max_diff_pixels: int | None = None
    max_diff_ratio: float | None = None  # of the picture's area
    faint: FaintRule | None = field(default_factory=FaintRule)  # none: only the threshold counts
    min_region_px: int = 1  # places with fewer changed pixels are dropped

    def __post_init__(self) -> None:
        _require_share("threshold", self.threshold)
        _require_share("max_diff_ratio", self.max_diff_ratio or 0.0)
        _require_at_least("max_diff_pixels", self.max_diff_pixels or 0, least=0)
        _require_at_least("min_region_px", self.min_region_px, least=1)
        if self.faint is not None:
            _require_share("faint.share_of_threshold", self.faint.share_of_threshold)
            _require_share("faint.area_ratio", self.faint.area_ratio)
            _require_at_least("faint.line_px", self.faint.line_px, least=1)

    def allowed_px(self, size: Size) -> int:
        """How many pixels of a picture of that size may change."""
        given = [] if self.max_diff_pixels is None else [self.max_diff_pixels]
        if self.max_diff_ratio is not None:
            # in exact decimals: 0.29 of 100 pixels is 29, which floats make 28.999...
            given.append(int(Decimal(str(self.max_diff_ratio)) * size.area))
        return min(given, default=0)


def _require_share(option: str, value: float) -> None:
    if not 0 <= value <= 1:  # also refuses NaN
        raise BadOptionsError(option, value, "a number from 0 to 1")


def _require_at_least(option: str, value: int, *, least: int) -> None:
    if value < least:
        raise BadOptionsError(option, value, f"{least} or more")
