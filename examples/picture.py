"""Takes the README's picture of a review: `python -m examples.picture SIGN_IN_LINK`.

The link is one that `make up` prints: it leads to the second build, whose changes are reviewed.
"""

import io
import shutil
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import ViewportSize, sync_playwright

WHERE = Path(__file__).with_name("review.png")
STORY = "All Tones"
SIZE = ViewportSize(width=1280, height=700)
COLOURS = 128  # a third of the bytes, and nobody sees it
BROWSERS = ("chromium-headless-shell", "chrome-headless-shell", "chromium", "google-chrome")


def main(link: str) -> None:
    """Sign in, open the first change and write the picture."""
    path = next(found for name in BROWSERS if (found := shutil.which(name)))
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        page = browser.new_page(viewport=SIZE)
        page.goto(link)
        page.click("main button")
        page.click(f"#group-changed a >> text={STORY}")
        page.wait_for_load_state("networkidle")
        shot = page.screenshot()
        browser.close()
    picture = Image.open(io.BytesIO(shot)).convert("RGB").quantize(COLOURS)
    picture.save(WHERE, optimize=True)


if __name__ == "__main__":
    main(sys.argv[1])
