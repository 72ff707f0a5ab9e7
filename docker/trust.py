"""Certificates and indexes that this machine was told to use, for builds that run on it.

They are mounted while an image is built and are no part of it.
"""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

CERTIFICATES = ("PIP_CERT", "SSL_CERT_FILE")  # the first that names a file
IN_THE_BUILD = "/etc/storyshelf-build-ca.crt"
ASSETS = "/assets"  # where the Dockerfile runs npm, which reads the settings beside a package.json
PIP_OPTIONS = ("index-url", "extra-index-url", "trusted-host", "timeout", "retries")


def mounted_in_builds(folder: Path) -> Mapping[Path, str]:
    """Write what pip and npm need to know into the folder; return what to mount where."""
    certificates = certificates_of(os.environ)
    pip, npm = folder / "pip.conf", folder / "npmrc"
    pip.write_text(pip_conf(_pip_options(), certificates))
    npm.write_text(f"cafile={IN_THE_BUILD}\n" if certificates else "")
    mounts = {pip: "/etc/pip.conf", npm: f"{ASSETS}/.npmrc"}
    return mounts | ({certificates: IN_THE_BUILD} if certificates else {})


def certificates_of(environ: Mapping[str, str]) -> Path | None:
    """Return the file of certificates that this machine's programs are told to trust."""
    named = (Path(environ[name]) for name in CERTIFICATES if environ.get(name))
    return next((path for path in named if path.is_file()), None)


def pip_conf(options: Mapping[str, str], certificates: Path | None) -> str:
    """Return pip's file; an index that is a folder of this machine is out of a build's reach."""
    kept = {name: value for name, value in options.items() if "file:" not in value}
    if certificates:
        kept["cert"] = IN_THE_BUILD
    return "\n".join(["[global]", *(f"{name} = {value}" for name, value in sorted(kept.items()))])


def _pip_options() -> dict[str, str]:
    """Return what pip is told here, by whichever file or variable."""
    asked = [sys.executable, "-m", "pip", "config", "list"]
    said = subprocess.run(asked, capture_output=True, text=True, check=False).stdout
    pairs = (line.partition("=") for line in said.splitlines())
    told = {name.rpartition(".")[2].strip("'"): value.strip("'") for name, _, value in pairs}
    return {name: value for name, value in told.items() if name in PIP_OPTIONS}
