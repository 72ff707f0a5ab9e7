"""What the sign-in pages say."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SignInPage:
    """The form, with what was typed and what is wrong with it."""

    next: str
    email: str = ""
    problem: str = ""
    next_step: str = ""
    title: str = "Sign in"


@dataclass(frozen=True, slots=True)
class LinkPage:
    """Whom a link signs in."""

    name: str
    email: str
    title: str = "Sign in"
