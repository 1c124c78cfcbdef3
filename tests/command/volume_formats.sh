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

# A compressed volume is decompressed once for all ranks of a node; no scratch file stays.
mkdir "$work/spool"
cp "$work/labels.nii.gz" "$work/spool/labels.nii.gz"
"$SEXTANT" label "$work/labels.nii" --by-value -o "$work/expected.npy" >/dev/null
for rule in '--ranks 1' '--ranks 3'; do
    # shellcheck disable=SC2086
    "$SEXTANT" label "$work/spool/labels.nii.gz" --by-value -o "$work/again.npy" $rule >/dev/null
    cmp "$work/expected.npy" "$work/again.npy" || fail "other labels of a compressed volume with $rule"
done
if [ -n "${MPIRUN:-}" ]; then
    $MPIRUN -n 2 "$SEXTANT" label "$work/spool/labels.nii.gz" --by-value -o "$work/again.npy" >/dev/null
    cmp "$work/expected.npy" "$work/again.npy" || fail "other labels of a compressed volume over MPI"
fi
[ "$(ls -A "$work/spool")" = labels.nii.gz ] || { ls -A "$work/spool"; fail "a scratch file stays"; }

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
# Intensities of another channel of the same file, and of other files, with and without times.
LC_ALL=C tr '\001' '\007' <"$work/planes" >"$work/sevens"
npy "$work/sevens.npy" '20, 50, 60' <"$work/sevens"
{ cat "$work/times"; head -c 60000 /dev/zero; cat "$work/sevens"; } | npy "$work/two.npy" '2, 2, 20, 50, 60'
{ head -c 60000 /dev/zero; cat "$work/sevens"; } | npy "$work/times_of_sevens.npy" '2, 20, 50, 60'
{ cat "$work/planes" "$work/sevens"; } | npy "$work/one_time.npy" '2, 20, 50, 60'
"$SEXTANT" label "$work/one_time.npy" --axes CZYX -o "$work/again.npy" --table "$work/sevens.csv" \
    --intensity "$work/sevens.npy" >/dev/null
cmp "$work/one.csv" "$work/sevens.csv" && fail "intensities are not those of another file"
intensities() { # intensities ARGUMENTS...: the same table
    "$SEXTANT" label "$@" -o "$work/again.npy" --table "$work/same.csv" >/dev/null || fail "label $*"
    cmp "$work/sevens.csv" "$work/same.csv" || fail "other intensities: $*"
}
intensities "$work/two.npy" --axes CTZYX --time 1 --channel 0 --intensity "$work/two.npy" --intensity-channel 1
intensities "$work/two.npy" --axes CTZYX --time 1 --channel 0 --intensity "$work/sevens.npy"
intensities "$work/times.npy" --axes TZYX --time 1 --intensity "$work/times_of_sevens.npy"
intensities "$work/one_time.npy" --axes CZYX --channel 0 --intensity "$work/one_time.npy" --intensity-channel 1
cp "$work/one_time.npy" "$work/other.npy"
intensities "$work/one_time.npy" --axes CZYX --channel 0 --intensity "$work/other.npy" --intensity-channel 1 --ranks 2
"$SEXTANT" measure "$work/again.npy" --intensity "$work/sevens.npy" -o "$work/sevens.csv" >/dev/null
"$SEXTANT" measure "$work/again.npy" --intensity "$work/sevens.npy" --intensity-channel 0 -o "$work/same.csv" >/dev/null
cmp "$work/sevens.csv" "$work/same.csv" || fail "other intensities of measure"
"$SEXTANT" label "$work/one_time.npy" --axes CZYX --channel 1 -o "$work/again.npy" --table "$work/same.csv" \
    --intensity "$work/other.npy" 2>"$work/text" >/dev/null
grep -q 'intensity .*other.npy: has 2 channels .* --intensity-channel N selects' "$work/text" ||
    { cat "$work/text"; fail "no remark on the channel of intensities"; }
refuse 'two.npy: has no channel 2, expected 0 to 1' label "$work/two.npy" --axes CTZYX --time 1 -o "$work/x.npy" \
    --table "$work/x.csv" --intensity "$work/two.npy" --intensity-channel 2
refuse 'intensity-channel' label "$work/volume.npy" -o "$work/x.npy" --intensity-channel 0
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
