"""What is said of a dead child."""

import signal

import pytest

from consumer.death import Cause, ChildDiedError, Death, Remains, autopsy
from storyshelf.ids import StoryId


@pytest.mark.parametrize(
    ("returncode", "oom_kills", "how", "detail"),
    [
        (0, 0, Death.EXIT, "exit code 0"),
        (3, 1, Death.EXIT, "exit code 3"),
        (-signal.SIGKILL, 0, Death.SIGNAL, "signal SIGKILL"),
        (-signal.SIGKILL, 1, Death.OUT_OF_MEMORY, "killed by the kernel for want of memory"),
        (-signal.SIGSEGV, 1, Death.SIGNAL, "signal SIGSEGV"),
        (-62, 0, Death.SIGNAL, "signal 62"),
    ],
)
def test_the_remains_tell_the_cause(
    returncode: int, oom_kills: int, how: Death, detail: str
) -> None:
    assert autopsy(Remains(returncode, oom_kills, "")) == Cause(how, detail)


def test_the_last_words_are_repeated() -> None:
    assert autopsy(Remains(1, 0, "'no driver'")).detail.endswith("it last said: 'no driver'")


def test_the_message_names_the_story_and_what_happens_next() -> None:
    died = str(ChildDiedError(Cause(Death.EXIT, "exit code 1"), StoryId("button--primary")))
    assert "exit code 1" in died
    assert "story button--primary" in died
    assert "dies twice" in died


def test_a_death_without_a_story_says_so() -> None:
    assert "no story in flight" in str(ChildDiedError(Cause(Death.EXIT, "exit code 1"), None))
