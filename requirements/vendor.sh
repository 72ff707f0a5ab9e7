#!/bin/sh
# Copies the libraries that pages are served with to where the server reads them, and the one that
# looks for accessibility faults in stories to where a capture does:
#   requirements/vendor.sh node_modules storyshelf/ui/static/vendor consumer/capture/vendor
# `make setup` calls it, and so does whoever builds an image; `storyshelf.ui.assets` and
# `consumer.capture.examine` name them.
set -eu
from="$1" pages="$2" captures="$3"
mkdir -p "$pages" "$captures"
copy() { # by way of a new name: a server that starts meanwhile reads no half file
  cp "$from/$1" "$2/.$3.new"
  mv "$2/.$3.new" "$2/$3"
}
copy htmx.org/dist/htmx.min.js "$pages" htmx.js
copy idiomorph/dist/idiomorph-ext.min.js "$pages" idiomorph.js
copy axe-core/axe.min.js "$captures" axe.js
