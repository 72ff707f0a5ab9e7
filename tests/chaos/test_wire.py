"""The proxy sees the end of a settling transaction in what passes, and nothing else as one."""

from bench.chaos.wire import Said, Talk

SSL = (8).to_bytes(4, "big") + (80877103).to_bytes(4, "big")
START = (30).to_bytes(4, "big") + (196608).to_bytes(4, "big") + b"user\0storyshelf\0\0"
SETTLE = b"WITH held AS (... CAST($2 AS uuid[]) ...) INSERT INTO jobs_done ..."


def message(letter: bytes, body: bytes) -> bytes:
    return letter + (4 + len(body)).to_bytes(4, "big") + body


def parse(name: bytes, statement: bytes) -> bytes:
    return message(b"P", name + b"\0" + statement + b"\0\0\0")


def bind(name: bytes) -> bytes:
    return message(b"B", b"\0" + name + b"\0\0\0")


def ready(state: bytes) -> bytes:
    return message(b"Z", state)


def a_talk() -> Talk:
    talk = Talk()
    talk.asked(SSL)
    talk.answered(b"N")
    talk.asked(START)
    talk.answered(ready(b"I"))
    talk.asked(parse(b"s1", SETTLE) + parse(b"s2", b"SELECT 1"))
    return talk


def test_a_settle_is_over_when_its_transaction_is() -> None:
    talk = a_talk()
    talk.asked(bind(b"s1"))
    assert talk.answered(ready(b"T")) is Said.SOMETHING
    assert talk.answered(message(b"C", b"COMMIT\0") + ready(b"I")) is Said.SETTLED
    assert talk.answered(ready(b"I")) is Said.SOMETHING


def test_other_statements_are_no_settles() -> None:
    talk = a_talk()
    talk.asked(bind(b"s2"))
    assert talk.answered(ready(b"I")) is Said.SOMETHING


def test_messages_may_come_in_pieces() -> None:
    talk = a_talk()
    whole = bind(b"s1")
    talk.asked(whole[:3])
    talk.asked(whole[3:])
    answer = ready(b"I")
    assert talk.answered(answer[:2]) is Said.SOMETHING
    assert talk.answered(answer[2:]) is Said.SETTLED


def test_a_line_is_known_by_what_it_said_first() -> None:
    assert b"storyshelf" in a_talk().startup
