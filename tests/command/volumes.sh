#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Components of volumes: the same files on all ranks and for all memory limits; measures; errors.
. "$(dirname "$0")/start.sh"
work=$folder

# Writes standard input as a NumPy file of bytes: npy FILE SHAPE
npy() {
    printf '\223NUMPY\001\000\166\000%-117s\n' "{'descr': '|u1', 'fortran_order': False, 'shape': ($2), }" >"$1"
    cat >>"$1"
}
refuse() {
    text=$1
    shift
    "$SEXTANT" "$@" >"$work/out" 2>&1 && fail "accepted: $*"
    grep -q -- "$text" "$work/out" || { cat "$work/out"; fail "another error for $*"; }
}

# Two planes of 3 rows: a shell around a hole, and a voxel that touches it at a corner only.
printf '###...###...###..#  #.#...#.#....##..##' | tr -d ' ' | LC_ALL=C tr '.#' '\000\001' | head -c 36 |
    npy "$work/small.npy" '2, 3, 6'
"$SEXTANT" label "$work/small.npy" -o "$work/one.npy" --table "$work/one.csv" >"$work/text"
grep -q '2 components of 2x3x6 voxels' "$work/text" || { cat "$work/text"; fail "not 2 components"; }
head -n 1 "$work/one.csv" | grep -q '^label,voxels,z,y,x,depth,height,width,centroid_z' || fail "the table's columns"
[ "$(wc -l <"$work/one.csv")" -eq 3 ] || { cat "$work/one.csv"; fail "not two rows"; }
"$SEXTANT" label "$work/small.npy" -o "$work/labels.tif" --neighbours 6 --json - >"$work/json"
grep -q '"neighbours": "\{0,1\}6' "$work/json" || { cat "$work/json"; fail "6 neighbours"; }
"$SEXTANT" info "$work/labels.tif" | grep -q 'samples *u32' || fail "labels in TIFF have not 32 bits"
"$SEXTANT" label "$work/small.npy" -o "$work/plane.npy" --frame 0 >"$work/text"
grep -q 'of 6x3' "$work/text" || { cat "$work/text"; fail "a plane by --frame"; }

# A volume that exceeds the memory limit, on ranks and without them: the same files.
yes 'ab.ba..ab.a.....b...' | tr -d '\n' | head -c 2000000 | LC_ALL=C tr 'ab.' '\001\002\000' |
    npy "$work/large.npy" '100, 125, 160'
for rule in '' '--neighbours 6 --fill-holes' '--by-value --neighbours 18' '--min-size 3 --keep-largest 7'; do
    "$SEXTANT" label "$work/large.npy" -o "$work/one.npy" --table "$work/one.csv" --intensity "$work/large.npy" \
        --json="$work/whole.json" $rule >/dev/null
    grep -q '"slabs": 1,' "$work/whole.json" || fail "$rule: in slabs"
    "$SEXTANT" label "$work/large.npy" -o "$work/many.npy" --table "$work/many.csv" --intensity "$work/large.npy" \
        --memory 1 --json="$work/json" $rule >/dev/null
    grep -q '"slabs": 1,' "$work/json" && fail "$rule: not in slabs"
    cmp "$work/one.npy" "$work/many.npy" || fail "$rule: other labels in slabs"
    cmp "$work/one.csv" "$work/many.csv" || fail "$rule: another table in slabs"
    "$SEXTANT" label "$work/large.npy" -o "$work/many.npy" --table "$work/many.csv" --intensity "$work/large.npy" \
        --ranks 3 $rule >/dev/null
    cmp "$work/one.npy" "$work/many.npy" || fail "$rule: other labels on ranks"
    cmp "$work/one.csv" "$work/many.csv" || fail "$rule: another table on ranks"
done

if [ -n "${MPIRUN:-}" ]; then
    $MPIRUN -n 3 "$SEXTANT" label "$work/large.npy" -o "$work/many.npy" --table "$work/many.csv" \
        --intensity "$work/large.npy" --min-size 3 --keep-largest 7 >/dev/null
    cmp "$work/one.npy" "$work/many.npy" || fail "other labels over MPI"
    cmp "$work/one.csv" "$work/many.csv" || fail "another table over MPI"
fi

# Pages have the same slices on ranks of a launcher.
"$SEXTANT" label "$work/large.npy" -o "$work/one.npy" --report "$work/one.html" >/dev/null
grep -o '<image class="[^>]*>' "$work/one.html" >"$work/one.slices"
[ "$(wc -l <"$work/one.slices")" -eq 6 ] || fail "not 6 slices"
${MPIRUN:+$MPIRUN -n 3} "$SEXTANT" label "$work/large.npy" -o "$work/one.npy" --report "$work/many.html" >/dev/null
grep -o '<image class="[^>]*>' "$work/many.html" | cmp - "$work/one.slices" || fail "other slices over MPI"

# The regions of labels have the measures of the components.
"$SEXTANT" label "$work/large.npy" -o "$work/one.npy" --table "$work/one.csv" --intensity "$work/large.npy" >/dev/null
"$SEXTANT" measure "$work/one.npy" --intensity "$work/large.npy" -o "$work/regions.csv" --ranks 2 >/dev/null
cmp "$work/one.csv" "$work/regions.csv" || fail "other measures of regions"

# A slash after the name of a folder, and folders that are not replaced or removed, with what is in them.
"$SEXTANT" label "$work/small.npy" -o "$work/slash.zarr/" >/dev/null
"$SEXTANT" label "$work/small.npy" -o "$work/slash.zarr/" >/dev/null || fail "a store is not replaced"
[ -e "$work/slash.zarr/0/zarr.json" ] && [ ! -e "$work/slash.zarr.partial" ] || fail "a slash after the output"
"$SEXTANT" label "$work/small.npy" -o "$work/slash.zarr" --zarr 2 >/dev/null
[ -e "$work/slash.zarr/0/.zarray" ] && [ ! -e "$work/slash.zarr/zarr.json" ] || fail "no store of version 2"
"$SEXTANT" label "$work/small.npy" -o "$work/slash.zarr" >/dev/null
refuse '--zarr has no effect here' label "$work/small.npy" -o "$work/one.npy" --zarr 2
for part in 0/2024 labels; do
    mkdir -p "$work/own.zarr/$part"
    cp "$work/slash.zarr/zarr.json" "$work/own.zarr"
    cp "$work/slash.zarr/zarr.json" "$work/own.zarr/$part"
    echo own >"$work/own.zarr/$part/notes.txt"
    refuse "holds '${part%%/*}', which would be lost" label "$work/small.npy" -o "$work/own.zarr"
    [ -e "$work/own.zarr/$part/notes.txt" ] || fail "$part/notes.txt is lost"
    rm -rf "$work/own.zarr"
done
for output in x.zarr x.npy; do
    mkdir "$work/$output.partial"
    echo own >"$work/$output.partial/notes.txt"
    refuse "holds 'notes.txt'" label "$work/small.npy" -o "$work/$output"
    [ -e "$work/$output.partial/notes.txt" ] || fail "$output.partial/notes.txt is lost"
    rm -r "$work/$output.partial"
    echo own >"$work/$output.partial"
    refuse "$output.partial: is not a folder" label "$work/small.npy" -o "$work/$output"
    [ -f "$work/$output.partial" ] || fail "$output.partial is lost"
    rm "$work/$output.partial"
done

# One process at a time writes an output.
mkdir "$work/x.zarr.partial"
flock "$work/x.zarr.partial" "$SEXTANT" label "$work/small.npy" -o "$work/x.zarr" >"$work/out" 2>&1 &&
    fail "two processes write the same output"
grep -q 'x.zarr.partial: is in use' "$work/out" || { cat "$work/out"; fail "another error in use"; }
rmdir "$work/x.zarr.partial"

# Components whose intensities are all NaN have no extremes.
{
    printf '\223NUMPY\001\000\166\000%-117s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3, 6), }"
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36; do
        printf '\000\000\300\177'
    done
} >"$work/nan.npy"
"$SEXTANT" measure "$work/small.npy" --intensity "$work/nan.npy" -o "$work/nan.csv" >/dev/null
tail -n 1 "$work/nan.csv" | grep -q ',nan,nan,nan,nan$' || { cat "$work/nan.csv"; fail "extremes of NaN"; }

# NaN is background, and counted, in images as in volumes.
for rule in '' '--by-value' '--frame 0' '--frame 0 --by-value --ranks 2'; do
    "$SEXTANT" label "$work/nan.npy" -o "$work/one.npy" $rule --json "$work/json" >/dev/null 2>"$work/out"
    case $rule in *frame*) count=18 what=pixels ;; *) count=36 what=voxels ;; esac
    grep -q "$count $what are NaN: background" "$work/out" || { cat "$work/out"; fail "$rule: NaN is not told"; }
    grep -q "\"nan\": $count" "$work/json" && grep -q '"components": 0' "$work/json" ||
        { cat "$work/json"; fail "$rule: NaN is not counted"; }
done

# Rows are in the order of labels, also negative ones.
printf '\002\007\373\377\000\002' >"$work/signed"
{
    printf '\223NUMPY\001\000\166\000%-117s\n' "{'descr': '|i1', 'fortran_order': False, 'shape': (1, 2, 3), }"
    cat "$work/signed"
} >"$work/signed.npy"
"$SEXTANT" measure "$work/signed.npy" -o "$work/signed.csv" >/dev/null
labels=$(sed 1d "$work/signed.csv" | cut -d , -f 1 | tr '\n' ' ')
[ "$labels" = '-5 -1 2 7 ' ] || fail "rows in the order $labels"

# --- Errors.
refuse "is a volume, expected 6, 18 or 26" label "$work/small.npy" -o "$work/x.npy" --neighbours 8
refuse "is an image, expected 4 or 8" label "$work/plane.npy" -o "$work/x.npy" --neighbours 26
refuse "has 100x125x160 voxels\|100 frames, expected one" label "$work/plane.npy" -o "$work/x.npy" --table "$work/x.csv" \
    --intensity "$work/large.npy"
refuse "has 100x125x160 voxels, expected 2x3x6" label "$work/small.npy" -o "$work/x.npy" --table "$work/x.csv" \
    --intensity "$work/large.npy"
refuse "--fill-holes: .* connected --by-value" label "$work/small.npy" -o "$work/x.npy" --fill-holes --by-value
refuse "x.zarr/table.csv is in the output .*x.zarr" label "$work/small.npy" -o "$work/x.zarr" --table "$work/x.zarr/table.csv"
refuse "x.zarr/0/x.json is in the output" label "$work/small.npy" -o "$work/x.zarr" --json="$work/x.zarr/0/x.json"
(ulimit -f 200; trap '' XFSZ; refuse "labels.0: cannot be written: .*; results so far are kept in .*full.npy.partial: the same" \
    label "$work/large.npy" -o "$work/full.npy" --memory 1M) || exit 1
"$SEXTANT" label "$work/large.npy" -o "$work/full.npy" --memory 1M >"$work/out" 2>&1 || fail "not continued"
grep -q 'continued an earlier run' "$work/out" || { cat "$work/out"; fail "from scratch"; }
refuse "small.npy" label "$work/small.npy" -o "$work/small.npy"
refuse "--grid has no effect here: $work/small.npy is a volume, whose planes" label "$work/small.npy" -o "$work/x.npy" --grid 2x2
refuse "expected --table" label "$work/small.npy" -o "$work/x.npy" --intensity "$work/small.npy"
for rule in '--ranks 1' '--ranks 3 --fill-holes'; do
    # shellcheck disable=SC2086
    refuse "--memory 1K is too small" label "$work/large.npy" -o "$work/x.npy" --memory 1K $rule
    least=$(grep -o 'takes [0-9]*' "$work/out" | grep -o '[0-9]*')
    # shellcheck disable=SC2086
    refuse "too small" label "$work/large.npy" -o "$work/x.npy" --memory "$((least - 1))K" $rule
    # shellcheck disable=SC2086
    "$SEXTANT" label "$work/large.npy" -o "$work/least.npy" --memory "${least}K" $rule >/dev/null ||
        fail "$rule: ${least}K do not suffice"
done
[ ! -e "$work/x.npy" ] && [ ! -e "$work/x.csv" ] || fail "an output of a failed run"
