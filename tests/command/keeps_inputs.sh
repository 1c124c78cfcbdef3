#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A command does not overwrite its inputs, under whatever name, nor write two outputs to one file.
set -u
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export SEXTANT_PROBE=off XDG_CONFIG_HOME="$folder/config" XDG_CACHE_HOME="$folder/cache" # as in start.sh
unset SEXTANT_MACHINE
cd "$folder" || exit 1
failed=0

# keeps PATTERN FILE COMMAND...: the command must end with 2 and one line that matches PATTERN, and
# leave FILE as it is.
keeps() {
    pattern=$1 file=$2
    shift 2
    before=$(cksum <"$file")
    said=$(timeout 250 "$@" 2>&1 >/dev/null)
    got=$?
    if [ $got != 2 ] || ! printf '%s\n' "$said" | grep -q "^sextant: \(rank 0: \)*$pattern"; then
        echo "FAILED: $*: exit code $got, expected 2 and a line with: $pattern"
        printf '%s\n' "$said" | sed 's/^/  | /' | head -n 6
        failed=1
    fi
    [ "$before" = "$(cksum <"$file")" ] || { echo "FAILED: $*: $file has changed"; failed=1; }
}

cp -r "$(dirname "$SAMPLE")" scene
cp "$MACHINES/das.json" das.json
"$SEXTANT" composite scene/manifest.json -o front.png >/dev/null || exit 1
cp front.png back.png
ln -s front.png link.png
mkdir frames deeper
"$SEXTANT" synthesize -o movie.tif --frames 4 --width 64 --height 64 || exit 1
"$SEXTANT" synthesize -o scan.npy --frames 1 --width 32 --height 32 || exit 1
for i in 1 2 3; do cp scan.npy frames/a_$i.npy; done
"$SEXTANT" register movie.tif -o series --aligned off >/dev/null || exit 1
printf 'frame,x,y\n1,2,3\n' >points.csv
"$SEXTANT" composite scene/manifest.json -o out.png --trace trace.json --plan plan.json >/dev/null || exit 1
read="is an input: expected another name"

keeps "front.png $read" front.png "$SEXTANT" composite ./*.png -o front.png
keeps "link.png $read" front.png "$SEXTANT" composite front.png back.png -o link.png
keeps "deeper/../back.png $read" back.png "$SEXTANT" composite front.png back.png -o deeper/../back.png
keeps "scene/manifest.json $read" scene/manifest.json "$SEXTANT" composite scene/manifest.json -o x.png --json=scene/manifest.json
keeps "scene/partial_3.*zst $read" scene/partial_3.rgba32f.zst "$SEXTANT" composite scene/manifest.json -o scene/partial_3.rgba32f.zst
keeps "scene/manifest.json $read" scene/manifest.json "$SEXTANT" composite scene/partial_*.zst -o x.png --report scene/manifest.json
keeps "plan.json $read" plan.json "$SEXTANT" composite scene/manifest.json -o x.png --plan plan.json --json=plan.json
keeps "scan.npy $read" scan.npy "$SEXTANT" filter scan.npy -o scan.npy
keeps "frames/a_2.npy $read" frames/a_2.npy "$SEXTANT" filter frames --frame 0 -o frames/a_2.npy
keeps "scan.npy $read" scan.npy "$SEXTANT" label scan.npy -o x.npy --table scan.npy
keeps "scan.npy $read" scan.npy "$SEXTANT" contours scan.npy -o scan.npy
keeps "--json movie.tif: expected the name of a new file" movie.tif "$SEXTANT" register movie.tif -o other --json movie.tif
keeps "series/average.tif $read" series/average.tif "$SEXTANT" register 'series/*.tif' -o series
keeps "series/transforms.json is given for two outputs" series/transforms.json "$SEXTANT" register movie.tif -o series --json=series/transforms.json
keeps "movie.tif $read" movie.tif "$SEXTANT" apply series/transforms.json movie.tif -o movie.tif
keeps "points.csv $read" points.csv "$SEXTANT" apply series/transforms.json points.csv -o points.csv
keeps "out.tif: coordinates are written as .csv" points.csv "$SEXTANT" apply series/transforms.json points.csv -o out.tif
keeps "scan.npy $read" scan.npy "$SEXTANT" synthesize --image scan.npy -o scan.npy
keeps "das.json $read" das.json "$SEXTANT" machine show das.json --json=das.json
keeps "--json movie.tif: expected the name of a new file" movie.tif "$SEXTANT" info movie.tif --json movie.tif
keeps "--json movie.tif: expected the name of a new file" movie.tif "$SEXTANT" info movie.tif --json=movie.tif
keeps "das.json $read" das.json "$SEXTANT" predict --machine das.json --model p3pc --trace das.json
keeps "trace.json $read" trace.json "$SEXTANT" report trace.json -o trace.json
"$SEXTANT" synthesize -o stack.zarr --frames 2 --width 32 --height 32 >/dev/null || exit 1
ln -s stack.zarr link.zarr
keeps "stack.zarr $read" stack.zarr/0/zarr.json "$SEXTANT" filter stack.zarr --frame 0 -o stack.zarr
keeps "link.zarr $read" stack.zarr/0/zarr.json "$SEXTANT" filter stack.zarr::0 --frame 0 -o link.zarr
keeps "stack.zarr/ $read" stack.zarr/0/zarr.json "$SEXTANT" filter stack.zarr/ --frame 0 -o stack.zarr/
[ -z "$(ls | grep -x 'x\..*\|other\|out.tif')" ] || { echo "FAILED: left behind: $(ls)"; failed=1; }
if [ -n "${MPIRUN:-}" ]; then
    keeps "back.png $read" back.png $MPIRUN -n 2 "$SEXTANT" composite front.png back.png -o back.png
fi

exit $failed
