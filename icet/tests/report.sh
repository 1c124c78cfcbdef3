#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# report.sh PROGRAM: the page that SEXTANT_REPORT names appears whole when the program ends, in place of an earlier one,
# and an error says why it cannot be written.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() { echo "FAILED: $*"; exit 1; }
export SEXTANT_PROBE=off

run() { SEXTANT_REPORT=$1 "$2" --gtest_filter=IcetFrames.nearest_pixels_are_kept >"$folder/out" 2>"$folder/errors" || fail "$(cat "$folder/out")"; }
echo earlier >"$folder/page.html"
ln "$folder/page.html" "$folder/kept" # keeps its content if the page is replaced, not overwritten
run "$folder/page.html" "$1"
grep -q '^</html>\|</body></html>$' "$folder/page.html" || fail "no page: $(cat "$folder/errors")"
grep -q earlier "$folder/kept" || fail "the earlier page was overwritten, which is not atomic"
[ "$(ls -A "$folder" | wc -l)" = 4 ] || fail "files are left: $(ls -A "$folder")"
run "$folder/none/page.html" "$1"
grep -q "none/page.html: cannot be written: the folder .*none does not exist" "$folder/errors" || fail "$(cat "$folder/errors")"
