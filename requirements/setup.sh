#!/bin/sh
# Makes a clone ready to work in: `make setup`. Safe to run again, and after being interrupted.
#
# Every step leaves a stamp in .setup/ that holds what the step was made from; a step whose stamp
# still matches is not run again. A stamp is removed before its step starts and written after it
# ended well, so a step that was cut off is repeated.
set -eu
cd "$(dirname "$0")/.."

PYTHON_ATLEAST="3.11"
NODE_ATLEAST="20.19"  # what the example's Storybook 10 and Vite ask for
BROWSER_DOWNLOAD_S=60 # a mirror that does not answer must not hold the set-up for ever

say() { printf 'setup: %s\n' "$*" >&2; }
die() { say "$@"; exit 1; }

main() {
  need_tools
  mkdir -p .setup
  wait_for_another_setup
  step venv "$(pwd)" make_venv
  step packages "$(fingerprint requirements/dev.txt)" install_packages
  step project "$(pwd) $(fingerprint pyproject.toml)" install_project
  if [ -f package.json ]; then
    step npm "$node $(fingerprint package.json package-lock.json)" install_npm
    step vendor "$(fingerprint package-lock.json requirements/vendor.sh)" copy_vendor
  fi
  need_browser
  say "ready"
}

# ---- what the machine must have ------------------------------------------------------------

need_tools() {
  missing="" # for people
  packages="" # for the package manager
  python="$(find_python)" || {
    lack "Python >= $PYTHON_ATLEAST with venv and ensurepip" "python3 python3-venv"
  }
  node="$(node --version 2>/dev/null || true)"
  if ! at_least "$NODE_ATLEAST" "${node#v}"; then
    lack "Node.js >= $NODE_ATLEAST (found: ${node:-none})" "nodejs npm"
  elif ! command -v npm >/dev/null 2>&1; then
    lack "npm" "npm"
  fi
  command -v git >/dev/null 2>&1 || lack "git" "git"
  [ -z "$missing" ] || die "missing: $missing. This mends it:
  $(mending_line)"
}

lack() {
  missing="${missing:+$missing, }$1"
  packages="${packages:+$packages }$2"
}

# The first interpreter that is new enough and can make a venv; being on PATH is not enough, as
# a version manager's stand-in may refuse to run and Debian ships ensurepip apart.
find_python() {
  for candidate in python3 python3.13 python3.12 python3.11 python3.14; do
    found="$(base_of "$candidate" 2>/dev/null)" && printf '%s\n' "$found" && return 0
  done
  return 1
}

base_of() {
  "$1" - "$PYTHON_ATLEAST" <<'PY'
import ensurepip, sys, venv
if sys.version_info[:2] < tuple(int(part) for part in sys.argv[1].split(".")):
    sys.exit(1)
print(getattr(sys, "_base_executable", sys.executable))  # never the .venv that may be active
PY
}

at_least() { # at_least 20.19 20.20.2; what is no version is not
  case "$2" in [0-9]*.[0-9]*) ;; *) return 1 ;; esac
  want_major="${1%%.*}" want_minor="${1#*.}"
  have_major="${2%%.*}" have_minor="${2#*.}" have_minor="${have_minor%%[!0-9]*}"
  [ "$have_major" -gt "$want_major" ] ||
    { [ "$have_major" -eq "$want_major" ] && [ "$have_minor" -ge "$want_minor" ]; }
}

mending_line() {
  sudo=""
  [ "$(id -u)" -eq 0 ] || sudo="sudo "
  if command -v apt-get >/dev/null 2>&1; then
    echo "${sudo}apt-get update && ${sudo}apt-get install -y $packages$(newer_node_than_apt_has)"
  elif command -v dnf >/dev/null 2>&1; then
    echo "${sudo}dnf install -y $packages" | sed 's/ python3-venv//'
  elif command -v brew >/dev/null 2>&1; then
    echo "brew install $packages" | sed 's/python3 python3-venv/python/; s/nodejs npm/node/'
  else
    echo "install with your package manager: $packages"
  fi
}

newer_node_than_apt_has() {
  case " $packages " in *" nodejs "*) ;; *) return 0 ;; esac
  offered="$(apt-cache policy nodejs 2>/dev/null | sed -n 's/^ *Candidate: *//p' | sed 's/^[0-9]*://')"
  [ -z "$offered" ] || at_least "$NODE_ATLEAST" "$offered" ||
    printf ' && %snpm install --global n && %sn 22' "$sudo" "$sudo"
}

# Every process started from here inherits the lock: an npm that outlived an interrupted set-up is
# waited for too, instead of being run against.
wait_for_another_setup() {
  command -v flock >/dev/null 2>&1 || return 0
  exec 9>.setup/lock
  flock --nonblock 9 || {
    say "waiting for another set-up of this folder to end"
    flock 9
  }
}

# ---- steps ---------------------------------------------------------------------------------

fingerprint() { cat "$@" 2>/dev/null | git hash-object --stdin; }

step() { # step NAME WHAT-IT-IS-MADE-FROM FUNCTION
  if [ "$(cat ".setup/$1" 2>/dev/null)" = "$2" ] && "${3}_is_there"; then
    return 0
  fi
  rm -f ".setup/$1"
  "$3"
  printf '%s\n' "$2" >".setup/$1.new"
  mv ".setup/$1.new" ".setup/$1"
}

make_venv_is_there() { .venv/bin/python -c '' 2>/dev/null; }
make_venv() {
  say "making .venv with $python"
  rm -f .setup/packages .setup/project
  "$python" -m venv --clear .venv
}

install_packages_is_there() { [ -x .venv/bin/pytest ]; }
install_packages() {
  say "installing the Python packages of requirements/dev.txt (about a minute)"
  rm -f .setup/project
  mv .setup/venv .setup/venv.kept # cut off in here, .venv is made anew: half a package looks whole to pip
  pip install --require-hashes -r requirements/dev.txt
  mv .setup/venv.kept .setup/venv
}

# Without an index: the build backend is among the hashed packages, nothing else may come in.
install_project_is_there() { [ -x .venv/bin/storyshelf ]; }
install_project() { pip install --no-index --no-deps --no-build-isolation -e .; }

pip() { .venv/bin/python -m pip --disable-pip-version-check --quiet "$@"; }

install_npm_is_there() { [ -d node_modules ]; }
install_npm() {
  say "installing the npm packages of package-lock.json (under a minute)"
  npm ci --no-audit --no-fund --no-update-notifier --loglevel=error
}

# The wheel, the server and captures take them from here, not from node_modules.
VENDOR=storyshelf/ui/static/vendor
AXE=consumer/capture/vendor
copy_vendor_is_there() { [ -s "$VENDOR/htmx.js" ] && [ -s "$VENDOR/idiomorph.js" ] && [ -s "$AXE/axe.js" ]; }
copy_vendor() { sh requirements/vendor.sh node_modules "$VENDOR" "$AXE"; }

# ---- a browser -----------------------------------------------------------------------------

# In this order: the explicit setting, one that is here, Playwright's own, the system's package.
need_browser() {
  if [ -n "${STORYSHELF_BROWSER_PATH:-}" ]; then
    [ -x "$STORYSHELF_BROWSER_PATH" ] ||
      die "STORYSHELF_BROWSER_PATH names $STORYSHELF_BROWSER_PATH, which is no program. Correct or unset it."
    return 0
  fi
  remembered="$(cat .setup/browser 2>/dev/null || true)"
  [ -z "$remembered" ] || [ ! -x "$remembered" ] || return 0
  use_a_browser_that_is_here || use_playwrights_download || use_the_systems_package || die "no browser could be had. One of these mends it:
  - apt-get install -y chromium-headless-shell (as root), or Google Chrome or Chromium from your system
  - .venv/bin/playwright install --with-deps chromium-headless-shell
  - STORYSHELF_BROWSER_PATH=/path/to/chrome make setup"
}

use_a_browser_that_is_here() {
  for name in chromium-headless-shell chrome-headless-shell chromium chromium-browser \
    google-chrome google-chrome-stable \
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"; do
    path="$(command -v "$name" 2>/dev/null)" && browser_works "$path" && remember_browser "$path" && return 0
  done
  use_playwrights_folder
}

use_playwrights_folder() {
  folder="$(.venv/bin/playwright install --dry-run chromium-headless-shell 2>/dev/null |
    sed -n 's/^ *Install location: *//p' | head -n 1)"
  [ -n "$folder" ] && [ -f "$folder/INSTALLATION_COMPLETE" ] || return 1
  path="$(find "$folder" -type f \( -name headless_shell -o -name chrome-headless-shell \) | head -n 1)"
  [ -n "$path" ] && browser_works "$path" && remember_browser "$path"
}

use_playwrights_download() {
  say "no browser found; trying Playwright's download (at most $BROWSER_DOWNLOAD_S s)"
  limited "$BROWSER_DOWNLOAD_S" .venv/bin/playwright install chromium-headless-shell >.setup/browser.log 2>&1 ||
    { say "that failed, see .setup/browser.log"; return 1; }
  use_playwrights_folder
}

use_the_systems_package() {
  [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null 2>&1 || return 1
  say "installing chromium-headless-shell with apt-get"
  apt_install chromium-headless-shell || { apt-get update -qq && apt_install chromium-headless-shell; } || return 1
  use_a_browser_that_is_here
}

apt_install() { DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$@" </dev/null >>.setup/browser.log 2>&1; }

# Being on PATH proves little: a stand-in may only tell where to find the real one, and a
# download may lack the libraries of the system.
browser_works() {
  limited 20 "$1" --headless --no-sandbox --disable-gpu --dump-dom about:blank 2>/dev/null | grep -q '<html>'
}

remember_browser() {
  printf '%s\n' "$1" >.setup/browser
  say "browser: $1"
}

# `timeout` is not everywhere; the whole process group goes, since a browser has children.
limited() { # limited SECONDS COMMAND...
  .venv/bin/python - "$@" <<'PY'
import os, signal, subprocess, sys
seconds, *command = sys.argv[1:]
with subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True) as process:
    try:
        sys.exit(process.wait(float(seconds)) and 1)
    except subprocess.TimeoutExpired:
        print(f"no end after {seconds} s", file=sys.stderr)
        sys.exit(1)
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
PY
}

main
