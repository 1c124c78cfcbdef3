#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The example writes the planes of the command, on threads and processes; it names what is wrong.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() { echo "FAILED: $*"; exit 1; }
{
    printf '\223NUMPY\001\000v\000%-117s\n' "{'descr': '|u1', 'fortran_order': False, 'shape': (60, 70), }"
    awk 'BEGIN { for (i = 0; i < 4200; i++) printf "%s", (i * 7 % 13 < 6 || i % 70 < 9) ? "a" : "." }'
} >"$folder/image.npy"
"$SEXTANT" filter "$folder/image.npy" -o "$folder/expected.npy" --sigma 2 \
    --derivatives gradient-magnitude,laplacian >/dev/null
for launcher in "" ${MPIRUN:+"$MPIRUN -n 2" "$MPIRUN -n 3"}; do
    $launcher "$EXAMPLE" "$folder/image.npy" "$folder/planes.npy" >"$folder/said"
    cmp "$folder/expected.npy" "$folder/planes.npy" || fail "other planes: $launcher"
    grep -q "tiles\|rank 0" "$folder/said" || fail "$(cat "$folder/said")"
    rm "$folder/planes.npy"
    status=0
    $launcher "$EXAMPLE" "$folder/none.npy" "$folder/planes.npy" >"$folder/wrong" 2>&1 || status=$?
    grep -q "none.npy" "$folder/wrong" && [ $status = 1 ] || fail "a missing file: $status $(cat "$folder/wrong")"
    [ ! -e "$folder/planes.npy" ] || fail "planes of a missing file"
done
