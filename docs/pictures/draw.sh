#!/usr/bin/env bash
# Draws each docs/pictures/*.dot as an SVG file with the digest of its source (Debian: package graphviz).
# tests/docs/test_pages.py fails if a source changed after it was drawn.
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
