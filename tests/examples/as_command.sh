#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# as_command.sh NAME: the example of this name writes the same bytes as the command, on threads and
# processes; errors are reported and leave no file.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() { echo "FAILED: $*"; exit 1; }
{
    printf '\223NUMPY\001\000v\000%-117s\n' "{'descr': '|u1', 'fortran_order': False, 'shape': (90, 120), }"
    awk 'BEGIN { for (i = 0; i < 10800; i++) printf "%s", i % 120 % 17 < 9 && int(i / 120) % 11 < 6 ? "a" : "." }' | tr . '\000'
} >"$folder/image.npy"
case $1 in
label) output=labels.npy options= ;;
filter) output=planes.npy options='--sigma 2 --derivatives gradient-magnitude,laplacian' ;;
contours) output=lines.csv options='--sigma 2' ;;
esac
"$SEXTANT" "$1" "$folder/image.npy" -o "$folder/expected_$output" $options |
    sed 's/\([0-9]\),\([0-9]\)/\1\2/g' >"$folder/command" # without separators of thousands
for launcher in "" ${MPIRUN:+"$MPIRUN -n 2" "$MPIRUN -n 3"}; do
    $launcher "$EXAMPLE" "$folder/image.npy" "$folder/$output" >"$folder/printed"
    cmp "$folder/expected_$output" "$folder/$output" || fail "other bytes: $launcher"
    case $1 in # the number of components or contours; the plan
    filter) grep -q "tiles\|rank 0" "$folder/printed" ;;
    *) grep -q ": $(cat "$folder/printed")\( of\|,\)" "$folder/command" ;;
    esac || fail "$(cat "$folder/printed" "$folder/command")"
    rm "$folder/$output"
    status=0
    $launcher "$EXAMPLE" "$folder/none.npy" "$folder/$output" >"$folder/wrong" 2>&1 || status=$?
    grep -q "none.npy" "$folder/wrong" && [ $status = 1 ] || fail "a missing file: $status $(cat "$folder/wrong")"
    [ ! -e "$folder/$output" ] || fail "an output of a missing file"
done
