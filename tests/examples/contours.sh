#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The example writes the contours of the command, on threads and processes; it names what is wrong.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() { echo "FAILED: $*"; exit 1; }
{
    printf '\223NUMPY\001\000v\000%-117s\n' "{'descr': '|u1', 'fortran_order': False, 'shape': (90, 120), }"
    awk 'BEGIN { for (i = 0; i < 10800; i++) printf "%s", (int(i / 1300) + int(i % 120 / 17)) % 2 ? "a" : "." }'
} >"$folder/board.npy"
"$SEXTANT" contours "$folder/board.npy" -o "$folder/expected.csv" --sigma 2 >"$folder/said"
for launcher in "" ${MPIRUN:+"$MPIRUN -n 2" "$MPIRUN -n 3"}; do
    $launcher "$EXAMPLE" "$folder/board.npy" "$folder/lines.csv" >"$folder/count"
    cmp "$folder/expected.csv" "$folder/lines.csv" || fail "other contours: $launcher"
    grep -q ": $(cat "$folder/count")," "$folder/said" || fail "$(cat "$folder/count" "$folder/said")"
    rm "$folder/lines.csv"
    status=0
    $launcher "$EXAMPLE" "$folder/none.npy" "$folder/lines.csv" >"$folder/wrong" 2>&1 || status=$?
    grep -q "none.npy" "$folder/wrong" && [ $status = 1 ] || fail "a missing file: $status $(cat "$folder/wrong")"
    [ ! -e "$folder/lines.csv" ] || fail "contours of a missing file"
done
