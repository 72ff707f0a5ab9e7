"""What a machine, a container or a slice of one lets this process use."""

from pathlib import Path

import pytest

from consumer.allowance import Groups, allowed_cpus, cpus, memory_bytes

GIB = 1 << 30
V2 = "0::/kube/pod/app\n"
V1 = "4:memory:/docker/abc\n3:cpu,cpuacct:/docker/abc\n0::/\n"


def a_tree(mounts: Path, **files: str) -> Path:
    for name, content in files.items():
        path = mounts / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return mounts


@pytest.mark.parametrize(("quota", "usable"), [(None, 8), (2.0, 2), (2.9, 2), (0.5, 1), (64.0, 8)])
def test_part_of_a_cpu_is_none_but_one_is_always_taken(quota: float | None, usable: int) -> None:
    assert allowed_cpus(quota, affine=8) == usable


def test_the_tightest_quota_of_all_groups_above_counts(tmp_path: Path) -> None:
    files = {
        "kube/cpu.max": "400000 100000\n",
        "kube/pod/cpu.max": "150000 100000\n",
        "kube/pod/app/cpu.max": "max 100000\n",
    }
    assert Groups(V2, a_tree(tmp_path, **files)).cpu_quota() == 1.5


def test_the_tightest_memory_limit_of_all_groups_above_counts(tmp_path: Path) -> None:
    files = {"kube/memory.max": f"{2 * GIB}\n", "kube/pod/app/memory.max": f"{4 * GIB}\n"}
    assert Groups(V2, a_tree(tmp_path, **files)).memory_limit_bytes() == 2 * GIB


def test_version_1_counts_too(tmp_path: Path) -> None:
    files = {
        "cpu,cpuacct/docker/abc/cpu.cfs_quota_us": "250000\n",
        "cpu,cpuacct/docker/abc/cpu.cfs_period_us": "100000\n",
        "memory/docker/abc/memory.limit_in_bytes": f"{3 * GIB}\n",
        "memory/memory.limit_in_bytes": "9223372036854771712\n",
    }
    groups = Groups(V1, a_tree(tmp_path, **files))
    assert (groups.cpu_quota(), groups.memory_limit_bytes()) == (2.5, 3 * GIB)


def test_a_container_that_sees_itself_as_the_root_is_limited_by_what_stands_there(
    tmp_path: Path,
) -> None:
    files = {
        "cpu/cpu.cfs_quota_us": "100000",
        "cpu/cpu.cfs_period_us": "50000",
        "memory/memory.limit_in_bytes": f"{4 * GIB}",
        "memory/memory.stat": f"cache 1\nhierarchical_memory_limit {GIB}\n",
    }
    groups = Groups(V1, a_tree(tmp_path, **files))
    assert (groups.cpu_quota(), groups.memory_limit_bytes()) == (2.0, GIB)


def test_a_group_outside_of_our_namespace_cannot_be_seen(tmp_path: Path) -> None:
    groups = Groups("0::/../../other\n", a_tree(tmp_path, **{"cpu.max": "300000 100000"}))
    assert groups.cpu_quota() == 3.0


@pytest.mark.parametrize("own", ["", "0::/\n", V1])
def test_where_nothing_is_said_nothing_limits(tmp_path: Path, own: str) -> None:
    groups = Groups(own, a_tree(tmp_path, **{"cpu.cfs_quota_us": "-1", "memory.max": "max"}))
    assert (groups.cpu_quota(), groups.memory_limit_bytes()) == (None, None)


def test_this_machine_has_some_of_both() -> None:
    assert cpus() >= 1
    assert memory_bytes() > 64 << 20
