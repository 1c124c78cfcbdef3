#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The description of a file or series, as text and as JSON, and its unreadable frames.
. "$(dirname "$0")/start.sh"

head -c 24000 /dev/zero >"$folder/a.raw"
raw="$folder/a.raw::100x60,u16"
"$SEXTANT" info "$raw" | grep -q '^  frames      2$' || fail "two frames of 12,000 bytes"
"$SEXTANT" info "$raw" | grep -q '^  size        100×60$' || fail "the size"
"$SEXTANT" info "$raw" --json | grep -q '"samples": "u16"' || fail "samples in JSON"
"$SEXTANT" info "$raw" --json | grep -q '"pixel_size": null' || fail "an unknown pixel size in JSON"
"$SEXTANT" info "$raw" --json="$folder/info.json" | grep -q '^  frames      2$' || fail "text in addition to a JSON file"
"$SEXTANT" info "$raw" --json | cmp -s - "$folder/info.json" || fail "JSON in a file"
"$SEXTANT" info "$raw,frames=3" --check | grep -q 'truncated: 2 of 3 frames are complete' || fail "unreadable frames"

"$SEXTANT" composite "$SAMPLE" -o "$folder/f1.png" >/dev/null
"$SEXTANT" info "$folder/f1.png" --check | grep -q 'u8, 4 channels' || fail "a PNG"
"$SEXTANT" composite "$SAMPLE" -o "$folder/f.exr" >/dev/null
"$SEXTANT" info "$folder/f.exr" --check | grep -q 'OpenEXR' || fail "an image to blend"
head -c 1000 "$folder/f1.png" >"$folder/f2.png"
"$SEXTANT" info "$folder/f%d.png" >"$folder/out" || fail "headers alone are well"
grep -q 'files of PNG' "$folder/out" || fail "a file a frame"
status=0
"$SEXTANT" info "$folder/f%d.png" --check >"$folder/out" || status=$?
[ "$status" = 1 ] || fail "exit code $status for an unreadable frame, expected 1"
grep -q 'frame 1 cannot be read: .*f2.png' "$folder/out" || fail "the unreadable frame"

# A stack whose axes are named z, y and x, by the file or by the user, has a frame per slice, as for register.
mkdir "$folder/stack.zarr"
echo '{"zarr_format": 2, "shape": [5, 20, 30], "chunks": [5, 20, 30], "dtype": "<u2", "compressor": null, "fill_value": 0,
    "order": "C", "filters": null}' >"$folder/stack.zarr/.zarray"
head -c 6000 /dev/zero >"$folder/stack.zarr/0.0.0"
for axes in z,y,x c,y,x t,y,x; do
    echo "{\"_ARRAY_DIMENSIONS\": [\"$(echo $axes | sed 's/,/", "/g')\"]}" >"$folder/stack.zarr/.zattrs"
    "$SEXTANT" info "$folder/stack.zarr" >"$folder/out"
    grep -q '^  frames      5$' "$folder/out" || fail "the axes $axes of a store have no five frames"
    grep -q '^  size        30×20$' "$folder/out" || fail "the axes $axes of a store have another size"
    "$SEXTANT" info "$folder/stack.zarr" --json | grep -q '"frames": 5' || fail "the axes $axes have no five frames in JSON"
done
# Frames are those that other commands read: axes of which neither or both of the last two are y and x, in this order.
# Arrays in other orders are described, but no command reads frames of them.
named() { # AXES
    echo "{\"_ARRAY_DIMENSIONS\": [\"$(echo "$1" | sed 's/,/", "/g')\"]}" >"$folder/stack.zarr/.zattrs"
}
for axes in y,x,wavelength t,x,y y,x,Time row,column,e x,y,z; do
    named "$axes"
    "$SEXTANT" info "$folder/stack.zarr" --check >"$folder/out" || fail "the axes $axes are not described"
    grep -q '^  axes .* 5 × .* 20 × .* 30$' "$folder/out" || fail "the axes $axes are not shown"
    grep -q '^  remark .*has the axes .* (5×20×30), of which .* are no frames' "$folder/out" ||
        fail "the axes $axes have frames"
    for command in label filter register; do
        status=0
        "$SEXTANT" $command "$folder/stack.zarr" -o "$folder/none" >"$folder/out" 2>&1 || status=$?
        [ "$status" = 1 ] && grep -q 'has the axes .* are no frames, expected y (rows) and x (columns) as the last' \
            "$folder/out" || fail "$command reads frames of the axes $axes"
    done
done
for axes in y,ky,kx t,y,x e,row,column; do
    named "$axes"
    "$SEXTANT" filter "$folder/stack.zarr" --derivatives smooth -o "$folder/filtered.mrc" >/dev/null 2>"$folder/out" ||
        fail "the axes $axes cannot be filtered: $(cat "$folder/out")"
    "$SEXTANT" info "$folder/filtered.mrc" | grep '^  frames\|^  size' >"$folder/wanted"
    "$SEXTANT" info "$folder/stack.zarr" | grep '^  frames\|^  size' | cmp -s - "$folder/wanted" ||
        fail "info and filter read other frames of the axes $axes"
done
rm "$folder/stack.zarr/.zattrs"
for axes in z,y,x t,y,x zyx; do
    "$SEXTANT" info "$folder/stack.zarr" --axes $axes | grep -q '^  frames      5$' || fail "--axes $axes has no five frames"
done
"$SEXTANT" info "$folder/stack.zarr" --axes c,y,x | grep -q '^  channels    5, reading 0$' || fail "--axes c,y,x"
for axes in CYQ c,y,q; do
    status=0
    "$SEXTANT" info "$folder/stack.zarr" --axes $axes 2>"$folder/out" || status=$?
    [ "$status" = 2 ] && grep -q 'were stated, expected y (rows) and x (columns) among them' "$folder/out" ||
        fail "--axes $axes is accepted"
done

# Names of axes are understood in both forms.
echo '{"zarr_format": 2, "shape": [2, 3, 4, 8, 9], "chunks": [2, 3, 4, 8, 9], "dtype": "|u1", "compressor": null,
    "fill_value": 0, "order": "C", "filters": null}' >"$folder/stack.zarr/.zarray"
for axes in TCZYX T,C,Z,Y,X; do
    "$SEXTANT" info "$folder/stack.zarr" --axes $axes >"$folder/out"
    grep -q '^  channels    3,' "$folder/out" && grep -q '^  slices      4,' "$folder/out" || fail "--axes $axes has no channels"
done

status=0
"$SEXTANT" info "$folder/none.mrc" 2>"$folder/out" || status=$?
[ "$status" = 1 ] && grep -q 'none.mrc: no such file' "$folder/out" || fail "a missing file"
"$SEXTANT" list formats | grep -q 'BigTIFF' || fail "list formats has no TIFF"
"$SEXTANT" list formats | grep -q 'kogge-stone' && fail "list formats has scans" || true
