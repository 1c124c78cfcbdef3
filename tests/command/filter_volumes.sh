#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Filters of volumes: formats, the same bits for every grid, distribution and memory, and errors.
. "$(dirname "$0")/start.sh"
work=$folder
filter() { "$SEXTANT" filter "$@" >"$work/said" 2>&1 || fail "filter $*: $(cat "$work/said")"; }
refuse() {
    expected=$1
    shift
    ! "$SEXTANT" filter "$@" >"$work/said" 2>&1 || fail "accepted: $*"
    grep -q -e "$expected" "$work/said" || fail "filter $*: $(cat "$work/said"), expected $expected"
}

# A volume of 12 x 25 x 22 samples, as a series in several formats.
"$SEXTANT" synthesize -o "$work/series.tif" --frames 12 --width 22 --height 25 --period 8 --seed 3 >/dev/null
filter "$work/series.tif" -o "$work/volume.npy" --derivatives smooth --sigma .5 --truncate 0
for format in zarr tif mrc; do
    filter "$work/volume.npy" -o "$work/volume.$format" --derivatives smooth --sigma .5 --truncate 0
    filter "$work/volume.$format" -o "$work/again.npy" --derivatives smooth --sigma .5 --truncate 0
    cmp "$work/volume.npy" "$work/again.npy" || fail "$format changes a volume"
done
mkdir "$work/frames"
for frame in 0 1 2 3 4 5 6 7 8 9 10 11; do
    filter "$work/volume.npy" --frame $frame -o "$work/frames/$frame.tif" --derivatives smooth --sigma .5 --truncate 0
done

# The same bits for all of them, and for every grid, distribution and memory.
what="--sigma 1.2,.8,1 --derivatives z,hessian-1,structure-2@1.5,xy --before smooth@.7 --border mirror"
filter "$work/volume.npy" -o "$work/one.npy" $what --ranks 1
for name in z hessian-1 structure-2@1.5 xy; do
    [ -f "$work/one_$name.npy" ] || fail "no file for $name"
done
[ ! -e "$work/one.npy" ] || fail "a file for all derivatives"
# The names of derivatives go before all of an extension.
for name in v.npy v.nii v.nii.gz V.NII.GZ v.mrc.gz v.zarr v.zarr/ v.h5; do
    filter "$work/volume.npy" -o "$work/$name" --derivatives smooth,x --sigma 1
    stem=${name%%.*} extension=${name#*.}
    for derivative in smooth x; do
        file=$work/${stem}_$derivative.${extension%/}
        "$SEXTANT" info "$file" >/dev/null || fail "-o $name does not write ${file##*/}"
    done
    [ ! -e "$work/$name" ] || fail "-o $name writes $name too"
done
refuse "v_smooth.mrc.bz2: cannot be written" "$work/volume.npy" -o "$work/v.mrc.bz2" --derivatives smooth,x
same() {
    for name in z hessian-1 structure-2@1.5 xy; do
        cmp "$work/one_$name.npy" "$work/other_$name.npy" || fail "$name differs: $*"
        rm "$work/other_$name.npy"
    done
}
for source in volume.zarr volume.tif volume.mrc frames; do
    filter "$work/$source" -o "$work/other.npy" $what --ranks 2
    same "$source"
done
for grid in 1x1x6 2x3x1 1x2x2 3x1x2 2x2x2; do
    for options in "" "--memory 60 --distribute scatter" "--distribute broadcast"; do
        filter "$work/volume.npy" -o "$work/other.npy" $what --grid $grid $options
        same "$grid $options"
    done
done
filter "$work/volume.npy" -o "$work/other.npy" $what --ranks 3 --memory 1780K --plan "$work/plan.json"
grep -q "windows of" "$work/said" || fail "one window: $(cat "$work/said")"
same "windows"
filter "$work/volume.npy" -o "$work/other.npy" $what --ranks 3 --plan "$work/plan.json"
same "a plan"
filter "$work/volume.npy" -o "$work/other.npy" $what --grid 1x1x3 --plan "$work/boxes.json"
grep -q '"layers": 3' "$work/boxes.json" || fail "a plan without layers"
same "layers"
filter "$work/volume.npy" -o "$work/other.npy" $what --ranks 3 --plan "$work/boxes.json" --json="$work/json"
same "a plan with layers"
grep -q '"depth": 12' "$work/json" && grep -q '"outputs": \[' "$work/json" || fail "no depth: $(cat "$work/json")"
if [ -n "${MPIRUN:-}" ]; then
    $MPIRUN -n 3 "$SEXTANT" filter "$work/volume.npy" -o "$work/other.npy" $what --grid 1x3 >/dev/null ||
        fail "MPI"
    same "MPI"
fi

# One derivative has the name of the output. One frame is an image.
filter "$work/volume.npy" -o "$work/other.zarr" --derivatives zz
[ -d "$work/other.zarr" ] || fail "no other.zarr"
filter "$work/volume.npy" --frame 3 -o "$work/image.npy"
filter "$work/frames/3.tif" -o "$work/image2.npy"
cmp "$work/image.npy" "$work/image2.npy" || fail "a frame is not the same image"

# Errors leave no output.
rm -rf "$work"/x*
refuse "unknown derivative 'hessian-larger'" "$work/volume.npy" -o "$work/x.npy" --derivatives hessian-larger
refuse "unknown derivative 'z'" "$work/frames/3.tif" -o "$work/x.npy" --derivatives z
refuse "after @, such as structure-1@3" "$work/volume.npy" -o "$work/x.npy" --derivatives structure-1
refuse "expected one number, or one each for y,x, for an image" "$work/frames/3.tif" -o "$work/x.npy" --sigma 2,1,1
refuse "expected one number, or one each for z,y,x, for a volume" "$work/volume.npy" -o "$work/x.npy" --sigma 2,1
refuse "from 0 to 1000" "$work/volume.npy" -o "$work/x.npy" --sigma 2,1,-.1
refuse "derivative x: the scale along x is 0.1 pixels, expected 0.5 to 1000" "$work/volume.npy" -o "$work/x.npy" \
    --sigma 2,1,.1
refuse "layers of tiles are for volumes" "$work/frames/3.tif" -o "$work/x.npy" --grid 1x1x2
refuse "--sigma in µm: .*volume.npy states no pixel size" "$work/volume.npy" -o "$work/x.npy" --sigma 2um
refuse '--sigma in "xx": expected pixels' "$work/volume.npy" -o "$work/x.npy" --sigma 2xx
refuse "or with a unit, such as 2um" "$work/volume.npy" -o "$work/x.npy" --sigma -2um
refuse "--derivatives structure-1@2: the scale along y is 0.25 pixels, expected 0.5 to 1000" "$work/volume.npy" \
    -o "$work/x.npy" --sigma 8,1,8 --derivatives structure-1@2
refuse "derivative z: the scale along z is 0.25 pixels, expected 0.5 to 1000" "$work/volume.npy" \
    -o "$work/x.npy" --sigma 1,8,8 --derivatives x --before z@2
refuse "--before smooth@2: scales after @ are relative to sigma along x, which is 0" "$work/volume.npy" \
    -o "$work/x.npy" --sigma 1,8,0 --derivatives y --before smooth@2
# The least memory is named, and is enough.
for ranks in 1 3; do
    refuse "--memory 20K is too small for one plane of 22x25 samples, the planes needed around it and 5 results on" \
        "$work/volume.npy" -o "$work/x.npy" --sigma 4 --memory 20K --ranks $ranks
    least=$(sed -n 's/.*expected \([0-9]*\)K or more.*/\1/p' "$work/said")
    refuse "too small" "$work/volume.npy" -o "$work/x.npy" --sigma 4 --memory $((least - 1))K --ranks $ranks
    filter "$work/volume.npy" -o "$work/x.npy" --sigma 4 --memory "${least}K" --ranks $ranks
    rm "$work"/x_*.npy
done
if [ -n "${MPIRUN:-}" ]; then
    for options in "--memory 20K --sigma 4" "--sigma 2um"; do
        ! $MPIRUN -n 2 "$SEXTANT" filter "$work/volume.npy" -o "$work/x.npy" $options >"$work/said" 2>&1 ||
            fail "MPI accepts $options"
        grep -q -e "^sextant: \(rank 0: \)\?${options%% *} " "$work/said" || fail "MPI: $options: $(cat "$work/said")"
    done
fi
refuse "volume.npy" "$work/volume.npy" -o "$work/volume.npy" --derivatives x
mkdir "$work/x_y.npy"
refuse "x_y.npy" "$work/volume.npy" -o "$work/x.npy" --derivatives x,y
rmdir "$work/x_y.npy"
# The last plane is missing: the header of the file promises one more.
head -c $((128 + 22 * 25 * 4 * 11)) "$work/volume.npy" >"$work/short.npy"
"$SEXTANT" filter "$work/short.npy" -o "$work/x.npy" --derivatives x,z >"$work/said" 2>&1 && {
    grep -q "11" "$work/said" || fail "a short volume without a remark: $(cat "$work/said")"
    rm "$work"/x_*
}
for left in "$work"/x*; do
    [ ! -e "$left" ] || fail "$left is left"
done
echo "volumes are filtered"
