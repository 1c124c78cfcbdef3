#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Imperfect input of `sextant register`: usable parts are used, the rest is reported, and refused
# input leaves no output.
. "$(dirname "$0")/start.sh"
cd "$folder"
says() {
    grep -q -- "$1" "$2" || { cat "$2"; fail "'$1' is not printed"; }
}
# registered SERIES WORDS... : the command succeeds, with a warning for each of WORDS.
registered() {
    series=$1
    shift
    rm -rf out
    "$SEXTANT" register "$series" -o out --stages 1 --ranks 2 --json=run.json >text 2>errors ||
        { cat errors; fail "$series is not registered"; }
    for words in "$@"; do says "$words" errors; done
}
# refused WORDS SERIES OPTIONS... : the command fails with these words, and leaves no folder.
refused() {
    words=$1
    shift
    "$SEXTANT" register "$@" -o refused >text 2>errors && fail "$* was accepted"
    says "$words" errors
    [ ! -e refused ] || fail "$* left a folder"
}
# bytes N OCTAL : these bytes, N times.
bytes() {
    printf "$(awk -v count="$1" -v one="$2" 'BEGIN { for (i = 0; i < count; ++i) printf "%s", one }')"
}

"$SEXTANT" synthesize -o movie.mrc --frames 8 --width 64 --height 64 --specimen carbon
"$SEXTANT" synthesize -o movie.npy --frames 8 --width 64 --height 64 --specimen carbon
header=128 # of the NPY file
size=16384 # of a frame
[ "$(wc -c <movie.npy)" = $((header + 8 * size)) ] || fail "the NPY file is not laid out as this test expects"

# A camera that stalls: copies of a frame are reported.
{ head -c $((header + size)) movie.npy; for _ in 1 2 3 4 5 6 7; do tail -c $size movie.npy; done; } >stalled.npy
registered stalled.npy 'stalled.npy: 6 of 8 frames equal the frame before them, the first of them is frame 2'

# A truncated file: its complete frames are used, and their number is reported.
head -c $((1024 + 5 * size + 100)) movie.mrc >cut.mrc
registered cut.mrc 'cut.mrc: truncated: 5 of 8 frames are complete'
says '"registered": 5' run.json

# An absurd pixel size is ignored: 1e30 Å per cell, as a float.
{ head -c 40 movie.mrc; printf '\312\362\111\161'; tail -c +45 movie.mrc; } >absurd.mrc
registered absurd.mrc 'absurd.mrc: the pixel size of .* is implausible and is ignored'
grep -q '"pixel"' out/transforms.json && fail "the absurd pixel size is accepted"

# One channel of a hyperstack is registered, and a message names it: two channels of four frames,
# made by replacing the description of eight frames.
"$SEXTANT" synthesize -o movie.tif --frames 8 --width 64 --height 64 --specimen carbon
LC_ALL=C sed -z 's/ImageJ=1.53t\nimages=8\nframes=8\n/ImageJ=1\nchannels=2\nframes=4\n\n\n/' movie.tif >hyper.tif
[ "$(wc -c <hyper.tif)" = "$(wc -c <movie.tif)" ] && ! cmp -s hyper.tif movie.tif ||
    fail "the TIFF file is not laid out as this test expects"
registered hyper.tif 'hyper.tif: has 2 channels per frame, of which channel 0 is read; --channel N selects another'
says '"registered": 4' run.json
cp out/average.tif first.tif
"$SEXTANT" register hyper.tif -o out --channel 1 --stages 1 --ranks 2 >text 2>errors || fail "no channel 1"
[ ! -s errors ] || { cat errors; fail "a remark on a requested channel"; }
cmp -s out/average.tif first.tif && fail "both channels give one average"
"$SEXTANT" apply out/transforms.json hyper.tif --channel 0 -o shown.tif >text || fail "no channel 0 to show"
"$SEXTANT" info shown.tif | grep -q 'frames *4$' || fail "the other channel has not four frames"
"$SEXTANT" info hyper.tif | grep -q 'channels *2, reading 0$' || fail "info does not know the channels"
"$SEXTANT" info hyper.tif --channel 1 --json | grep -q '"channels": 2' || fail "nor in JSON"
refused 'hyper.tif: has no channel 2, expected 0 to 1' hyper.tif --channel 2
refused 'movie.mrc: has no slice 1, expected slice 0' movie.mrc --slice 1
"$SEXTANT" filter hyper.tif --frame 0 --channel 1 -o smooth.tif --derivatives smooth >text 2>errors ||
    fail "no filter of a channel"
"$SEXTANT" filter movie.tif --frame 1 -o same.tif --derivatives smooth >text 2>errors
cmp smooth.tif same.tif || fail "the first frame of channel 1 is not the second plane"

# Frames of NaN are left out; single NaN samples are filled, and flagged.
nan='\\000\\000\\300\\177'
{
    head -c $((header + size)) movie.npy
    bytes 4096 "$nan"
    tail -c +$((header + 2 * size + 1)) movie.npy | head -c $((3 * size))
    bytes 100 "$nan"
    tail -c +$((header + 5 * size + 401)) movie.npy
} >nan.npy
[ "$(wc -c <nan.npy)" = "$(wc -c <movie.npy)" ] || fail "the frames with NaN have another size"
registered nan.npy 'frame 1 is left out: none of the 4096 samples is a finite number'
awk -F, '$1 == 5 && $15 == 100 && $16 ~ /gaps/ { found = 1 } END { exit !found }' out/transforms.csv ||
    fail "the gaps of frame 5 are not in the table"
"$SEXTANT" info out/average.tif --check >/dev/null || fail "the average is not whole"

# No usable frame.
{ head -c $header movie.npy; bytes $((8 * 4096)) '\\000\\000\\340\\100'; } >constant.npy
refused 'none of 8 frames could be registered; at least 2 are needed; frame 0: every sample is 7' constant.npy
mkdir empty
refused 'empty: is a folder without frame files' empty
refused 'matches no file' 'nothing_*.tif'
: >empty.mrc
refused 'empty.mrc: has 0 bytes, expected an MRC header of 1024' empty.mrc
head -c 1024 movie.mrc >headless.mrc
refused 'headless.mrc: has no frame that can be read' headless.mrc
{ head -c 8 movie.mrc; printf '\000\000\000\000'; tail -c +13 movie.mrc; } >none.mrc
refused 'none.mrc: has 0 frames' none.mrc
: >list.txt
refused 'list.txt: lists no file' list.txt
printf 'no HDF5' >bad.h5
refused 'bad.h5: cannot be read as HDF5' bad.h5

# Files of different sizes: the odd one is left out, by its number.
mkdir frames
for i in 0 1 2 3; do
    { head -c $header movie.npy | sed 's/(8,/(1,/'; tail -c +$((header + i * size + 1)) movie.npy | head -c $size; } >frames/f_$i.npy
done
"$SEXTANT" synthesize -o frames/f_4.npy --frames 1 --width 62 --height 64
rm frames/*.json
registered frames 'frame 4 is left out: .*frame 4 is 62×64, expected 64×64'
says '"registered": 4' run.json

# The disk fills up during the run: results so far are kept, and the run resumes to the same bits.
"$SEXTANT" register movie.mrc -o whole --reproducible --ranks 2 --stages 6 >/dev/null
(
    trap '' XFSZ
    ulimit -f 16 # blocks of 512 bytes
    "$SEXTANT" register movie.mrc -o full --reproducible --ranks 2 --stages 6 >text 2>errors
) && fail "the full disk was not noticed"
says 'full/checkpoint.[01]: cannot be written' errors
[ -s full/checkpoint.0 ] && [ ! -e full/average.tif ] || fail "files other than the checkpoint remain"

# Other parameters are refused with the difference, and the checkpoint is unchanged.
other() {
    words=$1
    shift
    "$SEXTANT" register movie.mrc -o full --reproducible --ranks 2 "$@" >text 2>errors && fail "$* resumed"
    says "$words" errors
}
other 'whose stages is 6, expected 5' --stages 5
other 'whose model is rigid, expected nonrigid' --stages 6 --model nonrigid
other 'whose reference is the default, expected 3' --stages 6 --reference 3
"$SEXTANT" register movie.mrc -o full --reproducible --ranks 2 --stages 6 >text 2>errors ||
    { cat errors; fail "it does not resume after the full disk"; }
says 'resuming an earlier run' errors
for name in average.tif median.tif count.tif transforms.csv transforms.json; do
    cmp "whole/$name" "full/$name" || fail "$name differs after the full disk"
done

# Unwritable pages and tables are reported before the run.
refused 'nowhere/page.html' movie.mrc --report nowhere/page.html
"$SEXTANT" register movie.mrc -o paged --stages 1 --report paged/page.html --json=paged/run.json >text 2>errors ||
    { cat errors; fail "the page does not go into the folder that is made"; }
grep -q 'figure class="compare"' paged/page.html || fail "the page has no images"
"$SEXTANT" register movie.mrc -o out --stages 1 --report - >page.html 2>errors || { cat errors; fail "no page on standard output"; }
[ "$(head -n 1 page.html)" = '<!DOCTYPE html>' ] && [ "$(tail -n 1 page.html)" = '</html>' ] ||
    fail "there is more than the page on standard output"
refused 'given for two outputs' movie.mrc --report - --json -

# Pages of several runs combined; other files are refused.
"$SEXTANT" report paged/page.html page.html -o both.html
[ "$(grep -c 'figure class="compare"' both.html)" = 2 ] || fail "there are not two series on the page"
"$SEXTANT" report paged/page.html run.json -o no.html 2>errors && fail "a page and no page"
says 'run.json is not a page' errors
head -c 5000 page.html >cut.html
"$SEXTANT" report cut.html page.html -o no.html 2>errors && fail "a page that was cut"
says 'cut.html: is not a complete page' errors
[ ! -e no.html ] || fail "a page of no pages appeared"

# The same over processes.
if [ -n "${MPIRUN:-}" ]; then
    $MPIRUN -n 2 "$SEXTANT" register movie.mrc -o mpi --model nonrigid --report mpi.html >text 2>errors ||
        { cat errors; fail "no page over processes"; }
    grep -q 'rank 1: .* registration' mpi.html || fail "the page does not show the work of rank 1"
    grep -q 'idle in the scan' mpi.html || fail "the page does not show the idle time"
fi
