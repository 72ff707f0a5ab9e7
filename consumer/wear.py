"""Whether a child keeps so much memory that the next story had better get another one; pure."""

from dataclasses import dataclass

LOOKS = 3  # in a row: the collector of a page that was just left needs a moment


@dataclass(slots=True)
class Wear:
    """What was seen of one child. A story that hoards is over soon; what stays is wear."""

    limit_bytes: int
    is_worn: bool = False
    _since: int | None = None  # the story in whose time it was over the limit first
    _looks: int = 0

    def note(self, used_bytes: int, stories: int) -> bool:
        """Note a look, with how many stories were begun so far; tell whether it is worn by this."""
        if used_bytes <= self.limit_bytes:
            self._since, self._looks = None, 0
            return False
        if self._since is None:
            self._since = stories
        self._looks += 1
        was_worn = self.is_worn
        self.is_worn = was_worn or (self._looks >= LOOKS and stories > self._since + 1)
        return self.is_worn and not was_worn
