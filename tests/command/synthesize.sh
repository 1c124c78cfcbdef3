#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A synthetic series and its true motions are written, are reproducible, and invalid options leave
# no output.
. "$(dirname "$0")/start.sh"
before_exit() { rm -rf "$folder.tif"; }
cd "$folder"
make() {
    "$SEXTANT" synthesize -o "$1" --frames 3 --width 60 --height 44 --jumps 1,10,-20 --blanks 2 --warp 2
}
make one.tif
make two.tif
cmp one.tif two.tif || fail "the same plan gave two series"
cmp one.tif.json two.tif.json || fail "the same plan gave two truths"
grep -q '"blank": true' one.tif.json || fail "the truth has no blank frame"
[ "$(grep -c '"to_first"' one.tif.json)" = 4 ] || fail "the truth has not three frames"
"$SEXTANT" synthesize -o shown.tif --image one.tif --frames 2 --width 40 --height 40
image=$folder.tif
mv one.tif "$image"
rm -f ./*
refused() {
    message=$1
    shift
    "$SEXTANT" synthesize -o bad.tif --width 40 --height 40 "$@" 2>error && fail "$* was accepted"
    grep -q -- "$message" error || { cat error; fail "$* is refused without '$message'"; }
    rm error
    [ -z "$(ls)" ] || fail "$* left something behind"
}
refused 'blank at frame 99: expected a frame from 0 to 3' --frames 4 --blanks 99
refused 'dose 0: expected a number from 1e-06 to 1000000' --dose 0
refused 'a number from 0 to 1048576' --random-step -1
refused '--jumps has 2 numbers' --jumps 1,2
refused 'missing.png' --image missing.png
refused 'drift-x 1e30: expected a number from -1048576 to 1048576' --drift-x 1e30
refused 'frame 10.. is 1.07e+09 pixels from the first, expected less than' --drift-x 1048576 --frames 2000
refused 'frame 10.. is 1.07e+09 pixels from the first' --drift-x 1048576 --frames 2000 --image "$image"
refused 'warp 1e30: expected a number from' --warp 1e30
refused 'period 0: expected a number from 2 to 1048576' --period 0
refused 'amorphous 2: expected a number from 0 to 1' --amorphous 2
refused 'detail 0: expected a number from 1.5 to 1000' --detail 0
refused '--period has no effect here: only the lattice uses this option' --specimen carbon --period 30
refused '--contrast has no effect here: the image is used unchanged' --image "$image" --contrast 1
refused 'these frames drift over .* pixels, which need' --frames 30000
"$SEXTANT" synthesize -o bad.xyz 2>error && fail "an unknown format was accepted"
grep -q bad.xyz error || fail "the unknown format is not named"
