"""The page script and the code around it use the same words, which nothing else holds together."""

import json
import re

from consumer.capture.page import page_script
from consumer.capture.readiness import LATE
from consumer.messages import ErrorCode
from storyshelf.bundle.parameters import KEYS

SCRIPT = page_script()


def test_the_page_hands_out_the_parameters_that_are_parsed() -> None:
    listed = re.search(r"const KEYS = (\[[^\]]*\]);", SCRIPT)
    assert listed is not None
    assert json.loads(listed[1]) == list(KEYS)


def test_what_was_late_is_told_in_the_words_of_its_warnings() -> None:
    told = re.findall(r'late\.push\("(\w+)"\)', SCRIPT)
    assert sorted(told) == sorted(code.value for code in LATE)


def test_an_error_that_the_page_names_is_one_of_ours() -> None:
    named = set(re.findall(r'fail(?:ed)?\("(\w+)"', SCRIPT))
    assert len(named) >= 4
    assert named <= {code.value for code in ErrorCode}
