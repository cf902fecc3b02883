#!/usr/bin/env bash
# Draws every docs/pictures/*.dot as an SVG beside it (Debian: package graphviz), with the digest of its source in it:
# tests/docs/test_pages.py fails where the source is no longer what was drawn.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
command -v dot >/dev/null || { echo "draw.sh: needs dot (Debian: package graphviz)" >&2; exit 2; }
for source in *.dot; do
  picture=${source%.dot}.svg
  digest=$(sha256sum <"$source" | cut -d ' ' -f 1)
  dot -Tsvg "$source" | sed "1a <!-- drawn by docs/pictures/draw.sh from $source, sha256 $digest -->" >"$picture.new"
  mv "$picture.new" "$picture"
  echo "$picture"
done
