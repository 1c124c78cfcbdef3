#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The progress shown on a terminal: counts increase up to the total.
. "$(dirname "$0")/start.sh"
command -v script >/dev/null || { echo "no script(1), so no terminal"; exit 0; }
shown() { script -qec "$*" /dev/null </dev/null | tr '\r' '\n'; }

shown "$SEXTANT" prove compositing --ranks 1..24 >"$folder/prove.txt"
grep -q "numbers of ranks proved: 1 of 24" "$folder/prove.txt" || fail "prove does not begin at 1: $(cat "$folder/prove.txt")"
sed -n 's/.*numbers of ranks proved: \([0-9]*\) of 24.*/\1/p' "$folder/prove.txt" |
    awk '$1 <= last || $1 > 24 { exit 1 } { last = $1 }' || fail "prove does not count up: $(cat "$folder/prove.txt")"

shown "$SEXTANT" bench --size 64 --ranks 2 --rounds 5 >"$folder/bench.txt"
grep -q "case 1 of 1: warming up" "$folder/bench.txt" || fail "rounds that warm up: $(cat "$folder/bench.txt")"
grep -q "case 1 of 1: round 5 of 5" "$folder/bench.txt" || fail "the last round: $(cat "$folder/bench.txt")"
! grep -q "round 0 of" "$folder/bench.txt" || fail "a round 0"

"$SEXTANT" synthesize -o "$folder/series.tif" --frames 12 --width 64 --height 64 >/dev/null
shown "$SEXTANT" register "$folder/series.tif" -o "$folder/out" --ranks 2 --threads 1 >"$folder/register.txt"
grep -q "inspect frames on rank 0 of 2 (12 frames in all): 0 of 6" "$folder/register.txt" ||
    fail "the counted frames: $(cat "$folder/register.txt")"
