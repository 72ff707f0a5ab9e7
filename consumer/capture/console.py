"""What a story writes to its page's console: bounded, and what went wrong first."""

from playwright.async_api import ConsoleMessage, Error, Page

from consumer.capture.verdict import plain
from consumer.messages import MAX_CONSOLE_LINES, MAX_SHORT_TEXT, ConsoleLevel, ConsoleLine

MAX_HEARD = 200  # of a story; one that writes for ever is not listened to any longer
LEVELS = {
    "error": ConsoleLevel.ERROR,
    "assert": ConsoleLevel.ERROR,
    "warning": ConsoleLevel.WARNING,
    "info": ConsoleLevel.INFO,
    "debug": ConsoleLevel.DEBUG,
}
FIRST = (ConsoleLevel.ERROR, ConsoleLevel.WARNING)


class PageConsole:
    """Listens to one page; `begin` starts a new story."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._heard: list[ConsoleLine] = []
        self._is_listening = False

    def begin(self) -> None:
        """Forget the story before."""
        self._heard.clear()
        if not self._is_listening:
            self._page.on("console", self._on_message)
            self._page.on("pageerror", self._on_uncaught)
            self._is_listening = True

    def lines(self) -> tuple[ConsoleLine, ...]:
        """Return errors, then warnings, then the rest, each as they came; not all, if many."""
        ordered = sorted(self._heard, key=lambda line: _place(line.level))
        return tuple(ordered[:MAX_CONSOLE_LINES])

    def _on_message(self, message: ConsoleMessage) -> None:
        if not message.args:
            return  # the browser's own line, of a failed or refused request: told as a warning
        self._hear(LEVELS.get(message.type, ConsoleLevel.LOG), message.text)

    def _on_uncaught(self, error: Error) -> None:
        """Hear of what nobody caught, as a reader of the browser's console would."""
        self._hear(ConsoleLevel.ERROR, f"uncaught: {error.message}")

    def _hear(self, level: ConsoleLevel, text: str) -> None:
        self._heard.append(ConsoleLine(level, plain(text, MAX_SHORT_TEXT)))
        if len(self._heard) >= MAX_HEARD:
            self._page.remove_listener("console", self._on_message)
            self._page.remove_listener("pageerror", self._on_uncaught)
            self._is_listening = False


def _place(level: ConsoleLevel) -> int:
    return FIRST.index(level) if level in FIRST else len(FIRST)
