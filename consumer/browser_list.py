"""Lists the browsers of this machine, the one that a consumer would use first."""

import argparse
import asyncio
import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from consumer.browsers import Browser, all_browsers, system_search
from consumer.commands import run
from storyshelf.errors import StoryshelfError

VERSION_S = 15.0  # of a browser that has never been started on this machine


async def listed(named: Path | None, environ: Mapping[str, str]) -> Sequence[Mapping[str, object]]:
    """Return each browser with its version; raises UnusableBrowserError for a wrong named one."""
    found = all_browsers(named, system_search(environ))
    versions = await asyncio.gather(*(version_of(one, environ) for one in found))
    return [
        {
            "path": str(one.path),
            "kind": one.kind,
            "source": one.source,
            "version": version,
            "is_used": one is found[0],
        }
        for one, version in zip(found, versions, strict=True)
    ]


async def version_of(browser: Browser, environ: Mapping[str, str]) -> str:
    """Return what the browser says of itself, or why it does not."""
    said = await run([str(browser.path), "--version"], environ, VERSION_S)
    return said.output.strip() or f"does not start: {said.last_line}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the list as JSON, or why there is none."""
    parser = argparse.ArgumentParser(prog="python -m consumer.browser_list", description=__doc__)
    parser.add_argument("--browser", type=Path, help="the one that was named by the setting")
    asked = parser.parse_args(arguments)
    try:
        found: object = {"browsers": asyncio.run(listed(asked.browser, os.environ))}
    except StoryshelfError as error:
        found = {"what": error.what, "where": error.where, "next_step": error.next_step}
    sys.stdout.write(f"{json.dumps(found)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
