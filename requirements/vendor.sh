#!/bin/sh
# Copies the two libraries that pages are served with to where the server reads them:
#   requirements/vendor.sh node_modules storyshelf/ui/static/vendor
# `make setup` calls it, and so does whoever builds an image; `storyshelf.ui.assets` names them.
set -eu
from="$1" to="$2"
mkdir -p "$to"
copy() { # by way of a new name: a server that starts meanwhile reads no half file
  cp "$from/$1" "$to/.$2.new"
  mv "$to/.$2.new" "$to/$2"
}
copy htmx.org/dist/htmx.min.js htmx.js
copy idiomorph/dist/idiomorph-ext.min.js idiomorph.js
