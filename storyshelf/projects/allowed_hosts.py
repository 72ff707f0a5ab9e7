"""A host beyond the Storybook that stories may ask: `fonts.example.com`, `*.example.com:8443`.

Without a port it is the usual ones, 80 without encryption and 443 with it; with one, it is that one
for both. A star stands for one or more names before the rest, and not for none.
"""

import re
from dataclasses import dataclass

from storyshelf.errors import BadInputError

LABEL = r"(?!-)[a-z0-9-]{1,63}(?<!-)"
WRITTEN = re.compile(rf"(\*\.)?((?:{LABEL}\.)+(?!\d+(?::|$)){LABEL})(?::([0-9]{{1,5}}))?")
MAX_HOST = 253  # of a name, by DNS
MAX_PORT = 65_535
LONGEST_SHOWN = 60
OWN = "localhost"  # names below it are this machine's, and the builds' own
PLAIN_PORT, ENCRYPTED_PORT = 80, 443


class BadHostError(BadInputError):
    """A text that names no host, or one that may not be asked."""

    def __init__(self, text: str) -> None:
        self.problem = (
            f"{text[:LONGEST_SHOWN]!r} is not a host such as fonts.example.com, *.example.com or"
            " img.example.com:8443; addresses, paths and names of this machine cannot be allowed"
        )
        super().__init__(self.problem, next_step="Write the host's name alone.")


@dataclass(frozen=True, slots=True)
class AllowedHost:
    """One host, or all below a name."""

    name: str
    is_below: bool = False
    port: int | None = None

    @property
    def written(self) -> str:
        """Return it as it is parsed."""
        return ("*." if self.is_below else "") + self.authority

    @property
    def authority(self) -> str:
        """Return the name with the port, if there is one."""
        return self.name if self.port is None else f"{self.name}:{self.port}"

    def allows(self, host: str, port: int, usual_port: int) -> bool:
        """Tell whether a host may be asked at a port; `usual_port` is its scheme's own."""
        name = host.lower().removesuffix(".")
        is_named = name.endswith(f".{self.name}") if self.is_below else name == self.name
        return is_named and port == (usual_port if self.port is None else self.port)


def parse_allowed_host(text: str) -> AllowedHost:
    """Read a host as people write it, in any alphabet; raises BadHostError."""
    try:
        plain = text.lower() if text.isascii() else text.lower().encode("idna").decode("ascii")
    except UnicodeError:
        raise BadHostError(text) from None
    written = WRITTEN.fullmatch(plain)
    if written is None or len(written[2]) > MAX_HOST or written[2].endswith(f".{OWN}"):
        raise BadHostError(text)
    port = int(written[3]) if written[3] else None
    if port is not None and not 1 <= port <= MAX_PORT:
        raise BadHostError(text)
    return AllowedHost(written[2], bool(written[1]), port)
