#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What `sextant register` writes: the aligned stack, nothing of an earlier run, and closing lines.
. "$(dirname "$0")/start.sh"
cd "$folder"
says() {
    grep -q -- "$1" "$2" || { cat "$2"; fail "'$1' is not printed"; }
}
register() {
    "$SEXTANT" register "$@" --stages 1 >text 2>errors || { cat errors; fail "register $*"; }
}
refused() {
    words=$1
    shift
    "$SEXTANT" register "$@" >text 2>errors && fail "$* was accepted"
    says "$words" errors
}
here() {
    (cd "$1" && ls | tr '\n' ' ')
}

"$SEXTANT" synthesize -o movie.npy --frames 8 --width 96 --height 80 --specimen carbon

# The default: the stack has the type of the series, every frame, and gaps of NaN.
register movie.npy -o out
[ "$(here out)" = 'aligned.tif average.tif count.tif median.tif transforms.csv transforms.json ' ] || fail "files: $(here out)"
"$SEXTANT" info out/aligned.tif | grep -q 'samples *f32$' || fail "the stack is not f32"
says 'aligned: 8 frames of 96x80 f32, NaN without data' text
says '^8 frames used, 0 left out, 0 flagged; standard deviation of a position 0\.[0-9]* px (median)$' text
says 'relative to frame 0' text
tr -d '\000' <out/aligned.tif | LC_ALL=C grep -q 'frame 6frame 7' || fail "the stack has no labels"

# All images have the area that all frames cover, as a named file: no pixel is a gap, and the offset is printed.
register movie.npy -o out --aligned stack.npy --canvas common --gap -1 --json=run.json
says '^canvas: [0-9]*x[0-9]* pixels; the first pixel of all images is (' text
size=$(sed -n 's/^canvas: \([0-9]*\)x\([0-9]*\) pixels.*/\1×\2/p' text)
for image in stack.npy out/average.tif out/median.tif out/count.tif; do
    "$SEXTANT" info $image | grep -q "$size" || fail "$image has not $size pixels"
done
grep -q '"canvas": {' out/transforms.json || fail "the canvas is not in transforms.json"
says '"file": "stack.npy"' run.json
"$SEXTANT" info stack.npy | grep -q 'frames *8$' || fail "the named stack has not eight frames"
"$SEXTANT" info stack.npy --check >checked || true
[ ! -e out/aligned.tif ] || fail "the stack of the earlier run remains"
grep -q '"file": "stack.npy"' out/transforms.json || fail "the stack is not in transforms.json"
"$SEXTANT" apply out/transforms.json movie.npy -o shown.npy >/dev/null || fail "the transforms cannot be applied"
"$SEXTANT" info shown.npy | grep -q "$size" || fail "apply does not use the canvas"

# All frames: the canvas is larger than a frame.
register movie.npy -o out --canvas union
size=$(sed -n 's/^canvas: \([0-9]*\)x\([0-9]*\) pixels.*/\1×\2/p' text)
[ "${size%×*}" -gt 96 ] && [ "${size#*×}" -gt 80 ] || fail "the canvas of all frames has $size pixels"
"$SEXTANT" info out/average.tif | grep -q "$size" || fail "the average has not the area of all frames"
refused 'canvas union: displacement fields are defined only in the area of the reference' movie.npy -o no \
    --canvas union --model nonrigid

# Integers: the same type, gaps of 0.
"$SEXTANT" synthesize -o bytes.npy --frames 1 --width 64 --height 64
awk 'BEGIN {
    srand(3)
    for (f = 0; f < 4; f++) for (y = 0; y < 64; y++) for (x = 0; x < 64; x++) {
        v = 60 + 50 * sin((x - f) * .61 + y * .23) * sin(y * .37 - (x - f) * .11) + 25 * sin((x - f) * y * .013) + 6 * rand()
        printf "%c", 33 + int(v / 2)
    } }' >samples
[ "$(wc -c <samples)" = 16384 ] || fail "the samples are not those that this test expects"
{ printf '\223NUMPY\001\000v\000%-117s\n' "{'descr': '|u1', 'fortran_order': False, 'shape': (4, 64, 64), }"; cat samples; } >bytes.npy
register bytes.npy -o bytes
says 'aligned: 4 frames of 64x64 u8, 0 without data' text
"$SEXTANT" info bytes/aligned.tif | grep -q 'samples *u8$' || fail "the stack is not u8"
refused 'gap 300: expected a whole number from 0 to 255' bytes.npy -o no --gap 300
refused '--gap has no effect here: --aligned=off writes no frames' bytes.npy -o no --aligned off --gap 1
refused 'expected auto, on, off or a file' bytes.npy -o no --aligned maybe
refused 'is an input' movie.npy -o no --aligned movie.npy
refused 'nowhere/a.tif' movie.npy -o no --aligned nowhere/a.tif
refused 'given for two outputs' movie.npy -o out --aligned out/average.tif
[ ! -e no ] || fail "a refused run left a folder"

# A run removes what an earlier one left in the folder, and nothing else.
register movie.npy -o again --model nonrigid --report again/page.html --json=again/run.json
[ -s again/fields.npy ] && [ -s again/page.html ] || fail "no fields or no page"
echo mine >again/notes.html
echo mine >again/average.mrc
register movie.npy -o again --format npy --aligned off
[ "$(here again)" = 'average.mrc average.npy count.npy median.npy notes.html transforms.csv transforms.json ' ] ||
    fail "after another run: $(here again)"
"$SEXTANT" register movie.npy -o again --reference 99 2>/dev/null && fail "there is no frame 99"
[ -s again/average.npy ] || fail "a failed run removed results"

# At most five warnings of a kind; what was left out is in the last lines.
"$SEXTANT" synthesize -o blank.npy --frames 16 --width 64 --height 64 --specimen carbon --blanks 2,4,6,8,9,10,12
"$SEXTANT" register blank.npy -o blank --stages 2 >text 2>errors || { cat errors; fail "the blank frames are not left out"; }
[ "$(grep -c 'is left out: the mean' errors)" = 5 ] || { cat errors; fail "not five warnings"; }
says '… and 2 more left out for the same reason' errors
says '^9 frames used, 7 left out' text
says 'relative to the average of stage 1' text
says '"relative_to": "the average of stage 1"' blank/transforms.json

# A hot pixel: the median is offered.
"$SEXTANT" synthesize -o hot.npy --frames 10 --width 64 --height 64 --specimen carbon --drift-x 0 --drift-y 0 --random-step 0
{
    head -c $((128 + 5 * 16384 + 4 * 2080)) hot.npy
    printf '\000\000\310\103' # 400, as a float
    tail -c +$((128 + 5 * 16384 + 4 * 2080 + 5)) hot.npy
} >spoilt.npy
[ "$(wc -c <hot.npy)" = "$(wc -c <spoilt.npy)" ] || fail "the spoilt series has another size"
register hot.npy -o hot
grep -q 'mean and median differ' text && fail "streaks without a hot pixel"
register spoilt.npy -o spoilt --despike off
says 'mean and median differ by more than noise' text

# Motions that the model leaves are stated, with the model to try.
grep -q 'parts of frames still move' text && fail "a misfit without a distortion"
"$SEXTANT" synthesize -o warped.npy --frames 8 --width 128 --height 128 --specimen carbon --warp 6
register warped.npy -o warped
says 'parts of frames still move relative to one another, by 0.* px (RMS, .*: try --model auto, or --scan-rows if rows are scanned slowly$' text
register warped.npy -o warped --model nonrigid
grep -q 'parts of frames' text && fail "a misfit of displacement fields"

# Rows of scanned frames: their file, the facts, the page, and the same frames from apply.
register movie.npy -o scanned --scan-rows --format npy --json=rows.json --report rows.html
says '^rows jitter by 0.*px and drift by (.*) px within a frame (RMS); standard deviation of a row 0' text
says '"rows": {' rows.json
says 'Motion within frames' rows.html
[ "$(here scanned)" = 'aligned.npy average.npy count.npy median.npy rows.npy transforms.csv transforms.json ' ] ||
    fail "files: $(here scanned)"
"$SEXTANT" apply scanned/transforms.json movie.npy -o shown.npy >/dev/null || fail "rows cannot be applied"
cmp shown.npy scanned/aligned.npy || fail "apply differs from the aligned stack"
refused '--scan-rows: the rows of frames are registered with the model rigid or translation, but the model is affine' \
    movie.npy -o no --scan-rows --model affine
register movie.npy -o scanned
[ ! -e scanned/rows.npy ] || fail "rows of the earlier run remain"

# The examples of the help run as printed.
"$SEXTANT" register --help | grep '^  sextant' | sed "s,^  sextant,\"$SEXTANT\"," >examples
[ "$(wc -l <examples)" = 2 ] || fail "the help has not two examples for one process"
sh -e examples >text 2>errors || { cat errors; fail "an example of the help fails"; }
[ -s out.html ] || fail "the example wrote no page"
