#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Volumes in several formats, and arrays with named axes: the same labels from and to each of them.
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

yes 'ab.ba..ab.a.....b...' | tr -d '\n' | head -c 60000 | LC_ALL=C tr 'ab.' '\001\002\000' >"$work/planes"
npy "$work/volume.npy" '20, 50, 60' <"$work/planes"
"$SEXTANT" label "$work/volume.npy" -o "$work/labels.npy" >/dev/null

# Labels are u32 in every format; labelled again by value, they are the same.
for format in nii nii.gz h5 hdf5 tif zarr; do
    "$SEXTANT" label "$work/volume.npy" -o "$work/labels.$format" --ranks 2 >/dev/null
    "$SEXTANT" info "$work/labels.$format" --check >"$work/out"
    grep -q 'samples *u32' "$work/out" && grep -q 'frames *20$' "$work/out" || { cat "$work/out"; fail "$format"; }
    "$SEXTANT" label "$work/labels.$format" --by-value -o "$work/again.npy" --memory 1 --ranks 3 >/dev/null
    cmp "$work/labels.npy" "$work/again.npy" || fail "other labels in $format"
    "$SEXTANT" measure "$work/labels.$format" -o "$work/$format.csv" >/dev/null
    cmp "$work/nii.csv" "$work/$format.csv" || fail "other measures from $format"
done
gzip -t "$work/labels.nii.gz" && gzip -dc "$work/labels.nii.gz" | cmp - "$work/labels.nii" || fail "compressed NIfTI"
"$SEXTANT" info "$work/labels.nii" | grep -q 'axes *ZYX, 20×50×60' || fail "the axes of a NIfTI file"
for name in labels.mrc labels.png labels.hspy labels.hdr; do
    refuse 'frames of u32 can be written as .*\.npy .nii .nii.gz .h5 .hdf5 .zarr' label "$work/volume.npy" -o "$work/$name"
done
refuse 'labels.nii is an input' label "$work/labels.nii" -o "$work/labels.nii"
[ "$(find "$work" -name '.sextant*' | wc -l)" -eq 0 ] || fail "a scratch file is left"

# A compressed volume that ends too early: no output.
head -c "$(($(wc -c <"$work/labels.nii.gz") / 2))" "$work/labels.nii.gz" >"$work/short.nii.gz"
refuse 'short.nii.gz: truncated: its compressed data end after' label "$work/short.nii.gz" -o "$work/x.npy" --ranks 2
[ ! -e "$work/x.npy" ] || fail "an output of a failed run"

# A volume of a series, with and without channels.
{ head -c 60000 /dev/zero; cat "$work/planes"; } >"$work/times"
npy "$work/times.npy" '2, 20, 50, 60' <"$work/times"
{ cat "$work/times" "$work/times"; } | npy "$work/channels.npy" '2, 2, 20, 50, 60'
for options in "times.npy --axes TZYX --time 1" "channels.npy --axes TCZYX --time 1 --channel 1" \
    "channels.npy --axes ctzyx --time 1"; do
    "$SEXTANT" label "$work/"$options -o "$work/again.npy" >/dev/null
    cmp "$work/labels.npy" "$work/again.npy" || fail "other labels of $options"
done
"$SEXTANT" label "$work/volume.npy" -o "$work/again.npy" --table "$work/one.csv" --intensity "$work/volume.npy" >/dev/null
"$SEXTANT" label "$work/times.npy" --axes TZYX --time 1 -o "$work/again.npy" --table "$work/same.csv" \
    --intensity "$work/times.npy" >/dev/null
cmp "$work/one.csv" "$work/same.csv" || fail "other intensities of a volume of a series"
"$SEXTANT" label "$work/times.npy" --axes TZYX --slice 3 -o "$work/out.npy" 2>/dev/null | grep -q 'of 2x50x60 voxels' ||
    fail "a slice at all times"
"$SEXTANT" info "$work/times.npy" | grep -q 'axes *2×20×50×60' || fail "axes without names"
"$SEXTANT" info "$work/times.npy" | grep -q 'name the axes, for example --axes TZYX' || fail "no advice on axes"
"$SEXTANT" info "$work/times.npy" --axes tzyx --time 1 --json >"$work/json"
grep -q '"axes": "TZYX"' "$work/json" && grep -q '"times": 2' "$work/json" || { cat "$work/json"; fail "axes in JSON"; }
refuse 'axes "ZYX" were stated, expected a letter for each of 4 axes (2×20×50×60)' info "$work/times.npy" --axes ZYX
refuse 'expected Y as axis 2 and X as axis 3' info "$work/times.npy" --axes XYZT
refuse 'has no time 2, expected 0 to 1' label "$work/times.npy" --axes TZYX --time 2 -o "$work/x.npy"
refuse 'expected one of them' label "$work/times.npy" --axes TZYX --time 1 --slice 0 -o "$work/x.npy"
refuse 'is not an array of NPY, HDF5 or Zarr' info "$work/labels.tif" --axes ZYX
refuse 'the file names them ZYX' info "$work/labels.nii" --axes TYX
