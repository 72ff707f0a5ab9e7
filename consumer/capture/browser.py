"""Starts the one browser of a child, inside the fence, and says what its pictures depend on."""

import asyncio
import hashlib
import os
import platform
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from urllib.parse import urlsplit

from playwright.async_api import Browser, Error, Playwright, ProxySettings, async_playwright

from consumer import processes
from consumer.browsers import Sandbox
from storyshelf.errors import StoryshelfError

CAPTURE_PROTOCOL = "2"  # rises when the same story could get another picture from the same browser
START_WITHIN_S = 30  # 0.3 s calm; a machine under full load took 4
CLOSE_WITHIN_S = 3  # 0.1 s calm; then the driver is stopped, which kills what it started
DEAD_PROXY = "127.0.0.1:9"  # nothing may pass but what the bypass list names

# The same pixels whatever the machine; nothing of the browser's own that would want the network.
DETERMINISM = (
    "--font-render-hinting=none",
    "--disable-lcd-text",
    "--force-color-profile=srgb",
    # A tile is drawn anew as a whole: drawn in part, the edges of round corners keep a trace of
    # what was there before, which depends on when the page was first painted.
    "--disable-partial-raster",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    # A page that hoards dies before its machine does; and a page that was left is not kept for
    # speed's sake: half the memory of a renderer, and no more CPU over whole Storybooks.
    "--js-flags=--max-old-space-size=1024,--optimize-for-size",
    # Playwright's own four settings, and animated images at their first frame (2 = no animation);
    # of two such switches the browser would read only the last.
    "--blink-settings=primaryHoverType=2,availableHoverTypes=2,primaryPointerType=4,"
    "availablePointerTypes=4,imageAnimationPolicy=2",
)


class BrowserFailedError(StoryshelfError):
    """The browser does not start, or does not answer any more."""

    def __init__(self, what: str, detail: str) -> None:
        super().__init__(
            what,
            where=detail.strip()[-1_000:],
            next_step="Run `storyshelf doctor`; it starts the browser alone and shows its words.",
        )


@dataclass(frozen=True, slots=True)
class BrowserChoice:
    """What to start; `executable` may be a script that starts the real one."""

    executable: Path
    kind: str
    sandbox: Sandbox


def fence_flags(port: int) -> tuple[str, ...]:
    """Return what keeps the browser at home: it reaches `*.localhost` on that port, nothing else.

    The proxy holds requests, sockets, workers and popups; the policy holds WebRTC, which asks no
    proxy; the resolver rules hold the names a page may have looked up, and hit our address family.
    """
    return (
        f"--proxy-server={DEAD_PROXY}",
        f"--proxy-bypass-list=<-loopback>;*.localhost:{port}",
        "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
        "--host-resolver-rules=MAP *.localhost 127.0.0.1, MAP * ~NOTFOUND",
    )


def proxy_of(outlet_port: int, origin: str) -> ProxySettings:
    """Return what sends all but the bundle's own requests to an outlet of this machine.

    By a name below `localhost`: the resolver rules take every other name and address for missing.
    """
    own = f"*.localhost:{urlsplit(origin).port}"
    return {"server": f"http://outlet.localhost:{outlet_port}", "bypass": f"<-loopback>,{own}"}


def browser_flags(port: int) -> tuple[str, ...]:
    """Return all that the browser is started with, for a bundle served on that port."""
    return (*DETERMINISM, *fence_flags(port))


class LaunchedBrowser:
    """The browser and the driver that holds it; can be replaced when it is beyond help."""

    def __init__(self, choice: BrowserChoice, flags: Sequence[str]) -> None:
        self._choice = choice
        self._flags = flags
        self._driver: Playwright | None = None
        self._browser: Browser | None = None
        self._started: frozenset[int] = frozenset()  # driver and browser, as processes

    async def start(self) -> Browser:
        """Return the running browser, started now if there is none."""
        if self._browser is not None and self._browser.is_connected():
            return self._browser
        await self.stop()
        before = await asyncio.to_thread(_below)
        try:
            async with asyncio.timeout(START_WITHIN_S):
                self._driver = await async_playwright().start()
                self._browser = await self._driver.chromium.launch(
                    executable_path=self._choice.executable,
                    args=self._flags,
                    ignore_default_args=["--hide-scrollbars"],  # each page says it for itself
                    chromium_sandbox=self._choice.sandbox is Sandbox.ON,
                    handle_sigint=False,
                    handle_sigterm=False,
                    handle_sighup=False,
                )
        except (Error, TimeoutError) as error:
            await self.stop()
            raise BrowserFailedError("the browser did not start", str(error)) from None
        self._started = await asyncio.to_thread(_below) - before
        return self._browser

    async def stop(self) -> None:
        """End the browser; one that does not close is killed with its driver, however stuck."""
        browser, driver = self._browser, self._driver
        self._browser = self._driver = None
        if browser is not None:
            with suppress(Error, TimeoutError):
                async with asyncio.timeout(CLOSE_WITHIN_S):
                    await browser.close()
        if driver is not None:
            with suppress(Error):
                await self._stop_driver(driver)

    async def _stop_driver(self, driver: Playwright) -> None:
        """Stop it; where it does not hear any more, kill it and the browser."""
        try:
            async with asyncio.timeout(CLOSE_WITHIN_S):
                await driver.stop()
        except TimeoutError:
            processes.kill_all(self._started & await asyncio.to_thread(_below))


def _below() -> frozenset[int]:
    return processes.descendants(os.getpid())


def environment_facts(kind: str, browser_version: str, fonts: Sequence[str]) -> dict[str, str]:
    """Return what pictures depend on; two children with equal facts make equal pictures.

    The port differs from child to child and is no part of it.
    """
    return {
        "browser": kind,
        "version": browser_version,
        "playwright": version("playwright"),  # its own flags and emulation
        "flags": _fingerprint(browser_flags(port=0)),
        "fonts": _fingerprint(sorted(fonts)),
        "architecture": platform.machine(),
        "capture": CAPTURE_PROTOCOL,
    }


async def installed_fonts() -> tuple[str, ...]:
    """List family, style and version of each font, if fontconfig is there to be asked."""
    pattern = "%{family}|%{style}|%{fontversion}\n"
    try:
        process = await asyncio.create_subprocess_exec(
            "fc-list", "--format", pattern, stdout=asyncio.subprocess.PIPE
        )
    except FileNotFoundError:
        return ()
    out, _ = await process.communicate()
    return tuple(set(out.decode(errors="replace").splitlines()))


def _fingerprint(parts: Sequence[str]) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
