"""The page script and the code around it use the same words, which nothing else holds together."""

import json
import re

from consumer.capture.page import page_script
from consumer.capture.readiness import LATE
from consumer.messages import ErrorCode
from consumer.refusals import REPORT_PATH
from storyshelf.bundle.known_keys import KEYS

SCRIPT = page_script()


def test_the_page_hands_out_the_parameters_that_are_parsed() -> None:
    listed = re.search(r"const KNOWN = (\[.*\]);", SCRIPT)
    assert listed is not None
    assert [key["name"] for key in json.loads(listed[1])] == list(KEYS)
    assert "KNOWN_KEYS" not in SCRIPT


def test_what_was_late_is_told_in_the_words_of_its_warnings() -> None:
    told = re.findall(r'late\.push\("(\w+)"\)', SCRIPT)
    assert sorted(told) == sorted(code.value for code in LATE)


def test_the_page_tells_of_calls_where_reports_are_heard() -> None:
    assert f'ask("{REPORT_PATH}"' in SCRIPT


def test_an_error_that_the_page_names_is_one_of_ours() -> None:
    named = set(re.findall(r'fail(?:ed)?\("(\w+)"', SCRIPT))
    assert len(named) >= 4
    assert named <= {code.value for code in ErrorCode}
