#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# `sextant register` with outliers, and with dark, gain and defect images.
. "$(dirname "$0")/start.sh"
cd "$folder"
width=96 height=80
register() {
    "$SEXTANT" register "$@" >text 2>errors || { cat errors; fail "register $*"; }
}
# refused WORDS ARGUMENTS... : the command fails with these words and leaves no folder.
refused() {
    words=$1
    shift
    "$SEXTANT" register "$@" -o refused >text 2>errors && fail "$* was accepted"
    grep -qF -- "$words" errors || { cat errors; fail "$* is refused without '$words'"; }
    [ ! -e refused ] || fail "$* left a folder"
}
# set_sample FILE FRAME X Y OCTAL : sets the float of a pixel in an MRC file.
set_sample() {
    printf "$5" | dd of="$1" bs=1 conv=notrunc status=none \
        seek=$((1024 + 4 * (($2 * height + $4) * width + $3)))
}
three_thousand='\000\200\073\105'
four_hundred='\000\000\310\103'

"$SEXTANT" synthesize -o clean.mrc --frames 6 --width $width --height $height --specimen carbon
cp clean.mrc faulty.mrc
for frame in 0 1 2 3 4 5; do
    set_sample faulty.mrc $frame 20 30 "$four_hundred"
    set_sample faulty.mrc $frame 70 11 "$four_hundred"
done
set_sample faulty.mrc 2 51 40 "$three_thousand"

register clean.mrc -o clean --json=clean.json --reproducible
grep -q '"defects": 0' clean.json || fail "defects of a clean series"
grep -q 'ignored' errors && fail "samples of a clean series are ignored"
register clean.mrc -o raw --despike off --reproducible
cmp clean/average.tif raw/average.tif || fail "a clean series is changed"

register faulty.mrc -o faulty --json=faulty.json --reproducible --ranks 2
grep -q 'ignored: 2 defective pixels of the detector, and 1 outlier in 1 frame' errors ||
    { cat errors; fail "ignored samples are not printed"; }
grep -q '"defects": 2' faulty.json || fail "the number of defects is not in the results"
grep -A 4 '"outliers"' faulty/transforms.json | tr -d ' \n' |
    grep -qF '"outliers":{"count":1,"largest":3000.0,"x":51,"y":40' ||
    { cat faulty/transforms.json; fail "the outlier is not described"; }
grep -q '"gaps"' faulty/transforms.json && fail "an outlier counts as a gap"
"$SEXTANT" apply faulty/transforms.json clean.mrc -o applied.mrc 2>errors || { cat errors; fail "apply"; }

# Defective pixels in a list give the same result as those that are found.
printf 'x,y\n20,30\n\n# the other\n70, 11\r\n' >defects.txt
register faulty.mrc -o listed --defects defects.txt --reproducible --ranks 2
cmp faulty/average.tif listed/average.tif || fail "listed defects differ from those found"

# A gain image of 1 changes nothing; its pixels of 0 are defects.
"$SEXTANT" synthesize -o gain.mrc --frames 1 --width $width --height $height
for y in $(seq 0 $((height - 1))); do
    for x in $(seq 0 $((width - 1))); do printf '\000\000\200\077'; done
done >ones
dd if=ones of=gain.mrc bs=1024 seek=1 conv=notrunc status=none
set_sample gain.mrc 0 20 30 '\000\000\000\000'
set_sample gain.mrc 0 70 11 '\000\000\300\177' # NaN
register faulty.mrc -o divided --gain gain.mrc --reproducible --ranks 2
cmp faulty/average.tif divided/average.tif || fail "a gain of 1 changes the result"
cp gain.mrc dark.mrc
register faulty.mrc -o darker --dark dark.mrc --reproducible --ranks 2
cmp -s faulty/average.tif darker/average.tif && fail "the dark image is not subtracted"

"$SEXTANT" synthesize -o other.mrc --frames 1 --width 64 --height 80
refused 'other.mrc has 64x80 pixels, expected 96x80, as the frames of faulty.mrc' faulty.mrc --gain other.mrc
refused 'other.mrc has 64x80 pixels, expected 96x80, as the frames of faulty.mrc' faulty.mrc --dark other.mrc
refused 'clean.mrc has 6 frames, expected one image of 96x80 pixels' faulty.mrc --dark clean.mrc
refused 'missing.mrc: no such file' faulty.mrc --defects missing.mrc
printf '1,2\none\n' >wrong.txt
refused 'wrong.txt: line 2: "one", expected the column and the row of a pixel, x,y' faulty.mrc --defects wrong.txt
printf '1,80\n' >wrong.csv
refused 'wrong.csv: line 1: pixel (1, 80) is outside the frames, which have 96x80 pixels' faulty.mrc --defects wrong.csv
: >wrong.csv
refused 'wrong.csv: has no pixels, expected lines of x,y' faulty.mrc --defects wrong.csv
for sigma in none 0 -2 nan; do
    refused "--despike $sigma: expected auto, off, or a number from 4 to 1000" faulty.mrc --despike $sigma
done
mkdir kept
cp gain.mrc kept/average.mrc
"$SEXTANT" register faulty.mrc -o kept --format mrc --gain kept/average.mrc 2>errors && fail "an input was overwritten"
grep -q 'is an input: expected another name' errors || { cat errors; fail "the gain image is not protected"; }
