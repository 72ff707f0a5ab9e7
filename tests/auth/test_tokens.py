"""How a token looks, is recognised, and is kept."""

from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storyshelf.auth.tokens import UnknownTokenError, mint, parse_bearer

SECRET = bytes(range(32))
secrets = st.binary(min_size=32, max_size=32)


@given(secrets)
def test_a_token_is_recognised_as_what_was_stored_of_it(secret: bytes) -> None:
    token = mint(secret)
    assert parse_bearer(f"Bearer {token.text}") == token.secret_hash


@given(secrets, secrets)
def test_two_secrets_make_two_tokens(one: bytes, other: bytes) -> None:
    assert (mint(one).text == mint(other).text) == (one == other)


def test_only_a_hash_of_the_shown_text_is_stored() -> None:
    token = mint(SECRET)
    assert token.secret_hash == sha256(token.text.encode()).digest()


def test_a_token_says_what_it_is_so_that_a_scanner_finds_a_leaked_one() -> None:
    assert mint(SECRET).text.startswith("ssp_")


def test_the_hint_tells_tokens_apart_and_keeps_the_rest_secret() -> None:
    token = mint(SECRET)
    assert token.text.startswith(token.hint)
    assert len(token.text) - len(token.hint) == 43 - 8


def test_a_token_is_not_made_from_too_little_chance() -> None:
    with pytest.raises(AssertionError, match="256 bits"):
        mint(b"short")


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
def test_the_schemes_case_is_no_matter(scheme: str) -> None:
    token = mint(SECRET)
    assert parse_bearer(f"{scheme} {token.text}") == token.secret_hash


@pytest.mark.parametrize("header", [None, ""])
def test_no_header_is_no_token(header: str | None) -> None:
    with pytest.raises(UnknownTokenError, match="No project token was sent"):
        parse_bearer(header)


@pytest.mark.parametrize(
    "header",
    [
        "ssp_" + "a" * 43,
        "Basic " + "ssp_" + "a" * 43,
        "Bearer",
        "Bearer ssp_",
        "Bearer ssp_" + "a" * 42,
        "Bearer ssp_" + "a" * 44,
        "Bearer xyz_" + "a" * 43,
        "Bearer ssp_" + "a" * 42 + "é",
        "Bearer ssp_" + "a" * 42 + "=",
        "Bearer ssp_" + "a" * 43 + " ssp_" + "a" * 43,
    ],
)
def test_what_does_not_look_like_a_token_is_refused_before_it_is_looked_up(header: str) -> None:
    with pytest.raises(UnknownTokenError, match="is not a project token"):
        parse_bearer(header)


def test_the_refusal_does_not_repeat_what_was_sent() -> None:
    with pytest.raises(UnknownTokenError) as refused:
        parse_bearer("Bearer my-other-services-secret")
    assert "secret" not in str(refused.value)
