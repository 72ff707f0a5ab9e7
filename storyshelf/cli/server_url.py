"""At which address the server of this machine is reached."""

from storyshelf.cli.up_note import is_alive, read_note
from storyshelf.settings import Settings


def server_url(settings: Settings) -> str:
    """Return what links begin with: as it is set, else where `up` runs, else where it would be."""
    if settings.public_url is not None:
        return settings.public_url
    note = read_note(settings.data_dir)
    if note is not None and note.url is not None and is_alive(note):
        return note.url
    return settings.served_url
