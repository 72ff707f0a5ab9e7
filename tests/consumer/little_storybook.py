"""A built Storybook of one file: as much of a preview as a capture can tell from a real one."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from consumer.messages import BundledFile
from storyshelf.diff.shapes import Pixels
from storyshelf.ids import BlobKey

RED, BLUE, WHITE = (255, 0, 0), (0, 0, 255), (255, 255, 255)
BOX = "width: 100px; height: 40px; background: red;"
SQUARE = f"<div style='{BOX}'></div>"  # 132 x 72 px with its margins
PREVIEW = Path(__file__).with_name("little_preview.js")
IFRAME = """<!doctype html><html><head><meta charset="utf-8"><style>
body {{ margin: 0; padding: 16px; font: 16px "DejaVu Sans", sans-serif; }}
.sb-errordisplay {{ display: none; position: fixed; inset: 0; background: #fdd; }}
.sb-show-errordisplay > .sb-errordisplay {{ display: block; }}
</style></head><body class="sb-show-preparing-story">
<div class="sb-errordisplay sb-wrapper"></div>
<div id="storybook-root"></div>
<script type="module">{script}</script>
</body></html>"""


@dataclass(frozen=True, slots=True)
class LittleStory:
    """The bodies of a story's functions, in JavaScript; `root` is the element to draw into."""

    render: str
    play: str = ""
    parameters: str = "{}"
    broken: bool = False

    def script(self) -> str:
        play = f"play: async () => {{ {self.play} }}," if self.play else ""
        return (
            f"{{ broken: {json.dumps(self.broken)}, parameters: {self.parameters}, {play}"
            f" render: async (root, context) => {{ {self.render} }} }}"
        )


ENDLESS = LittleStory("await new Promise(() => {});")


@dataclass(frozen=True, slots=True)
class LittleStorybook:
    """Stories, and files that they may ask for."""

    stories: Mapping[str, LittleStory]
    files: Mapping[str, bytes] = field(default_factory=dict)

    def lay(self, root: Path) -> tuple[BundledFile, ...]:
        """Write every file under its hash, as a parent does; return the manifest."""
        return tuple(laid(root, path, content) for path, content in self.files_by_path().items())

    def files_by_path(self) -> dict[str, bytes]:
        """Return what a build of it would write."""
        entries = ",\n".join(f"{json.dumps(k)}: {v.script()}" for k, v in self.stories.items())
        script = PREVIEW.read_text().replace("= STORIES", f"= {{ {entries} }}")
        return {"iframe.html": IFRAME.format(script=script).encode(), **self.files}


def html(body: str) -> LittleStory:
    """Return a story that draws this."""
    return LittleStory(f"root.innerHTML = {json.dumps(body)};")


def laid(root: Path, path: str, content: bytes) -> BundledFile:
    """Write one file under its hash."""
    key = BlobKey(sha256(content).hexdigest())
    (root / key).write_bytes(content)
    return BundledFile(path, key)


def pixel(pixels: Pixels, x: int, y: int) -> tuple[int, ...]:
    """Return a pixel's red, green and blue."""
    return tuple(int(channel) for channel in pixels[y, x, :3])
