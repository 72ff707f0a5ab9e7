"""The base of every error a person may read: what went wrong, where, and what to do next."""


class StoryshelfError(Exception):
    """An expected failure with its own words.

    Subclasses are named after the condition, keep their data as attributes and pass three
    sentences up. `http_status` is what the API answers with when one reaches it.
    """

    http_status = 400

    def __init__(self, what: str, *, where: str = "", next_step: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.next_step = next_step

    def __str__(self) -> str:
        place = f" ({self.where})" if self.where else ""
        cure = f". {self.next_step}" if self.next_step else ""
        return f"{self.what}{place}{cure}"


class NotFoundError(StoryshelfError):
    """The thing named does not exist, or the caller may not know that it does."""

    http_status = 404


class ConflictError(StoryshelfError):
    """The request was right when it was made, but the thing has moved since."""

    http_status = 409


class BadInputError(StoryshelfError):
    """The caller sent something that can never be accepted as it is."""

    http_status = 422
