"""What a build takes over from the machine it runs on, and the base image that is made here."""

from pathlib import Path

from docker.base import make_slim
from docker.trust import ASSETS, IN_THE_BUILD, certificates_of, pip_conf

DOCKERFILE = Path(__file__).parents[2] / "docker" / "Dockerfile"


def test_a_base_is_emptied_of_what_no_image_needs(tmp_path: Path) -> None:
    lists = tmp_path / "var/lib/apt/lists"
    (lists / "partial").mkdir(parents=True)
    (lists / "packages").write_text("thousands of lines")
    (tmp_path / "usr/bin").mkdir(parents=True)
    (tmp_path / "usr/bin/program").touch()
    make_slim(tmp_path)
    assert list(lists.iterdir()) == []
    assert (tmp_path / "usr/bin/program").exists()
    assert "bookworm-security" in (tmp_path / "etc/apt/sources.list").read_text()


def test_the_first_file_of_certificates_that_exists_is_trusted(tmp_path: Path) -> None:
    file = tmp_path / "ca.crt"
    file.touch()
    gone = str(tmp_path / "gone")
    assert certificates_of({"PIP_CERT": gone, "SSL_CERT_FILE": str(file)}) == file
    assert certificates_of({"PIP_CERT": gone, "SSL_CERT_FILE": ""}) is None


def test_a_build_asks_the_indexes_of_this_machine_but_not_its_folders() -> None:
    told = {"index-url": "https://pypi.example.com/simple", "extra-index-url": "file:///wheels"}
    assert pip_conf(told, Path("ca.crt")).splitlines() == [
        "[global]",
        f"cert = {IN_THE_BUILD}",
        "index-url = https://pypi.example.com/simple",
    ]


def test_npm_finds_its_settings_where_the_images_recipe_runs_it() -> None:
    assert f"\nWORKDIR {ASSETS}\n" in DOCKERFILE.read_text()
