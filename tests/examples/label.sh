#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The example writes the labels of the command, on threads and processes; it names what is wrong.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() { echo "FAILED: $*"; exit 1; }
{
    printf '\223NUMPY\001\000v\000%-117s\n' "{'descr': '|u1', 'fortran_order': False, 'shape': (30, 40), }"
    awk 'BEGIN { for (i = 0; i < 1200; i++) printf "%s", (i * 7 % 13 < 6 || i % 40 < 3) ? "a" : "." }' | tr . '\000'
} >"$folder/cells.npy"
"$SEXTANT" label "$folder/cells.npy" -o "$folder/expected.npy" >"$folder/said"
for launcher in "" ${MPIRUN:+"$MPIRUN -n 2" "$MPIRUN -n 3"}; do
    $launcher "$EXAMPLE" "$folder/cells.npy" "$folder/labels.npy" >"$folder/count"
    cmp "$folder/expected.npy" "$folder/labels.npy" || fail "other labels: $launcher"
    grep -q ": $(cat "$folder/count") of 40x30 pixels" "$folder/said" || fail "$(cat "$folder/count" "$folder/said")"
    rm "$folder/labels.npy"
    status=0
    $launcher "$EXAMPLE" "$folder/none.npy" "$folder/labels.npy" >"$folder/wrong" 2>&1 || status=$?
    grep -q "none.npy" "$folder/wrong" && [ $status = 1 ] || fail "a missing file: $status $(cat "$folder/wrong")"
    [ ! -e "$folder/labels.npy" ] || fail "labels of a missing file"
done
