"""Durations in buckets: added up anywhere, and read as quantiles."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from storyshelf.operations.histogram import (
    BOUNDS_MS,
    BUCKETS,
    bucket_of,
    empty,
    merge,
    quantile,
)

DURATIONS = st.lists(st.integers(0, BOUNDS_MS[-1]), min_size=1, max_size=200)


def counts_of(durations_ms: Sequence[float]) -> list[int]:
    counts = empty()
    for took_ms in durations_ms:
        counts[bucket_of(took_ms)] += 1
    return counts


def test_there_are_24_buckets_each_longer_than_the_last() -> None:
    assert len(empty()) == BUCKETS == 24
    assert list(BOUNDS_MS) == sorted(set(BOUNDS_MS))


@pytest.mark.parametrize(
    ("took_ms", "bucket"),
    [(0, 0), (1, 0), (1.01, 1), (2, 1), (3, 2), (20_000_000, 22), (20_000_001, 23), (1e12, 23)],
)
def test_a_bound_belongs_to_the_bucket_below(took_ms: float, bucket: int) -> None:
    assert bucket_of(took_ms) == bucket


@given(DURATIONS, DURATIONS)
def test_counts_of_two_processes_add_up_to_those_of_one(one: list[int], other: list[int]) -> None:
    assert merge(counts_of(one), counts_of(other)) == counts_of([*one, *other])


def test_of_nothing_no_quantile_is_known() -> None:
    assert quantile(empty(), 0.5) is None


@given(DURATIONS, st.sampled_from([0.01, 0.5, 0.95, 0.99, 1.0]))
def test_a_quantile_is_right_within_its_bucket(durations_ms: list[int], share: float) -> None:
    exact = float(np.quantile(durations_ms, share, method="inverted_cdf"))
    told = quantile(counts_of(durations_ms), share)
    assert told is not None
    upper = BOUNDS_MS[bucket_of(exact)]
    lower = ([0, *BOUNDS_MS])[bucket_of(exact)]
    assert lower <= told <= upper


@given(DURATIONS)
def test_a_larger_share_is_never_faster(durations_ms: list[int]) -> None:
    counts = counts_of(durations_ms)
    told = [quantile(counts, share / 20) or 0 for share in range(1, 21)]
    assert told == sorted(told)


def test_inside_a_bucket_the_quantile_is_even() -> None:
    assert quantile(counts_of([150] * 10), 0.5) == 150
    assert quantile(counts_of([150] * 10), 1.0) == 200


def test_beyond_the_last_bound_that_bound_is_all_that_is_known() -> None:
    assert quantile(counts_of([10**9]), 0.5) == BOUNDS_MS[-1]
