"""What is known of the commit that a build belongs to, by one source or by all together."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CommitFacts:
    """What one source knows of the commit; None where it does not."""

    commit: str | None = None
    branch: str | None = None
    message: str | None = None
    author: str | None = None

    def cleaned(self) -> "CommitFacts":
        """Take what is empty, as a variable can be, for what is not known."""
        return CommitFacts(
            self.commit or None, self.branch or None, self.message or None, self.author or None
        )

    def or_else(self, other: "CommitFacts") -> "CommitFacts":
        """Fill what is unknown here from another source.

        Message and author belong to a commit: they are taken only from a source that speaks of
        the same one.
        """
        same = None in {self.commit, other.commit} or self.commit == other.commit
        return CommitFacts(
            commit=self.commit or other.commit,
            branch=self.branch or other.branch,
            message=self.message or (other.message if same else None),
            author=self.author or (other.author if same else None),
        )


@dataclass(frozen=True, slots=True)
class Commit:
    """The commit a build belongs to."""

    commit: str
    branch: str
    message: str | None = None
    author: str | None = None
