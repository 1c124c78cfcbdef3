#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Registration of a series: killed and resumed, over processes, with bad frames, and its transforms
# applied.
. "$(dirname "$0")/start.sh"
cd "$folder"
register() {
    "$SEXTANT" register "$@" >text 2>errors || { cat errors; fail "register $*"; }
}
# refused WORDS ARGUMENTS... : the command fails with these words and leaves no folder.
refused() {
    words=$1
    shift
    "$SEXTANT" register "$@" -o refused >text 2>errors && fail "$* was accepted"
    grep -q -- "$words" errors || { cat errors; fail "$* is refused without '$words'"; }
    [ ! -e refused ] || fail "$* left a folder"
}
# near TRANSFORMS: every shift is within half a pixel of the truth.
near() {
    awk '/"t[xy]"/ { print $2 }' "$1" | tr -d , >found
    paste truth found | awk '
        NF != 2 { print "wrong number of frames"; exit 1 }
        ($1 - $2) ^ 2 > .25 { print "line " NR ": " $2 ", expected " $1; exit 1 }' ||
        fail "$1 is far from the truth"
}

"$SEXTANT" synthesize -o movie.mrc --frames 12 --width 128 --height 120 --specimen carbon
awk '/"to_first": {/ { first = 1 } /}/ { first = 0 } first && /"t[xy]"/ { print $2 }' movie.mrc.json |
    tr -d , >truth
[ "$(wc -l <truth)" = 24 ] || fail "the truth has not twelve frames"

register movie.mrc -o out --reproducible --ranks 2 --aligned
near out/transforms.json
for name in average.tif median.tif count.tif aligned.tif transforms.csv transforms.json; do
    [ -s "out/$name" ] || fail "there is no $name"
done
[ "$(ls out | wc -l)" = 6 ] || fail "the checkpoint was not removed"
"$SEXTANT" info out/aligned.tif | grep -q 'frames  *12$' || fail "not all frames are in the aligned stack"
"$SEXTANT" info out/average.tif | grep -q '128×120' || fail "the average has another size"
awk -F, '!/^#/ && NF != 16 { exit 1 }' out/transforms.csv || fail "lines of the table differ in length"

# Names of angles state their units, and both files have the same angles.
head -n 9 out/transforms.csv | grep -q '^frame,alpha_deg,' || fail "alpha in transforms.csv has no unit"
awk -F, '!/^#|^frame/ { print $2 }' out/transforms.csv >degrees
sed -n 's/.*"alpha_rad": \([^,]*\),.*/\1/p' out/transforms.json >radians
paste degrees radians | awk '($1 - $2 * 57.29577951308232) ^ 2 > 1e-12 { exit 1 } END { exit NR != 12 }' ||
    fail "angles differ between transforms.csv and transforms.json"
grep -q '"sigma_alpha_rad"' out/transforms.json || fail "the deviation of alpha has no unit"

register movie.mrc -o team --reproducible --ranks 2 --threads 2 --aligned
cmp team/aligned.tif out/aligned.tif || fail "threads of a rank change the result"

# A run killed at any time resumes to the same bits; other parameters or another series are refused.
register movie.mrc -o whole --reproducible --ranks 2 --stages 8
# killed_run CONDITION...: kills a run into the folder `killed` once the condition holds. Fails if the
# run ended before.
killed_run() {
    "$SEXTANT" register movie.mrc -o killed --reproducible --ranks 2 --stages 8 >text 2>errors &
    process=$!
    until "$@" || ! kill -0 "$process" 2>/dev/null; do sleep .01; done
    kill -9 "$process" 2>/dev/null || true
    ! wait "$process" 2>/dev/null
}
killed_run sleep .02 || rm -rf killed
for _ in 1 2 3 4 5 6 7 8 9 10; do
    killed_run [ -s killed/checkpoint.0 ] && [ ! -e killed/average.tif ] && break
    rm -rf killed
done
[ -s killed/checkpoint.0 ] || { cat errors; fail "no run was killed after its first checkpoint"; }
"$SEXTANT" register movie.mrc -o killed --reproducible --ranks 2 --stages 7 2>errors && fail "other stages resumed"
grep -q 'whose stages is 8, expected 7' errors || { cat errors; fail "no message that the stages differ"; }
"$SEXTANT" synthesize -o other.mrc --frames 12 --width 128 --height 120 --specimen carbon --seed 2
"$SEXTANT" register other.mrc -o killed --reproducible --ranks 2 --stages 8 2>errors && fail "another series resumed"
grep -q 'whose content is' errors || { cat errors; fail "no message that the series differs"; }
"$SEXTANT" register movie.mrc -o killed --reproducible --ranks 2 --stages 8 --despike off 2>errors && fail "another threshold resumed"
grep -q 'whose despike is auto, expected off' errors || { cat errors; fail "no message that the threshold differs"; }
"$SEXTANT" register movie.mrc -o killed --reproducible --ranks 3 --stages 8 2>errors && fail "another order of association resumed"
grep -q 'reproducible on 2 ranks, expected reproducible on 3' errors || { cat errors; fail "no message that the ranks differ"; }
register movie.mrc -o killed --reproducible --ranks 2 --stages 8
for name in average.tif median.tif count.tif transforms.csv transforms.json; do
    cmp "whole/$name" "killed/$name" || fail "$name differs after the kill"
done

# A truncated checkpoint can be resumed. A full disk keeps the checkpoint.
if [ -w /dev/full ]; then
    mkdir full
    ln -s /dev/full full/average.tif
    "$SEXTANT" register movie.mrc -o full --reproducible --ranks 2 --stages 8 2>errors && fail "a full disk was not noticed"
    grep -q 'full/average.tif' errors || { cat errors; fail "the full disk is not named"; }
    [ -s full/checkpoint.0 ] || fail "the checkpoint was lost on the full disk"
    rm full/average.tif
    size=$(wc -c <full/checkpoint.1)
    head -c $((size - 7)) full/checkpoint.1 >cut
    mv cut full/checkpoint.1
    register movie.mrc -o full --reproducible --ranks 2 --stages 8
    grep -q 'resuming an earlier run' errors || { cat errors; fail "it did not resume"; }
    cmp whole/average.tif full/average.tif || fail "the average differs after the full disk"
fi

# Displacement fields, and applying transforms.
register movie.mrc -o fields --model nonrigid --format npy --json=run.json
near fields/transforms.json
grep -q '"left_out": \[\]' run.json || fail "frames were left out"
"$SEXTANT" apply fields/transforms.json movie.mrc -o shown.npy
register movie.mrc -o again --reproducible --ranks 2 --format npy
"$SEXTANT" apply again/transforms.json movie.mrc -o shown-again.npy
cmp shown-again.npy again/aligned.npy || fail "transforms applied again differ"
for from in out fields; do
    printf '# of particles\nframe,x,y\n0,20,30\n11,64.5,60\n' >points.csv
    "$SEXTANT" apply $from/transforms.json points.csv -o there.csv
    "$SEXTANT" apply $from/transforms.json there.csv -o back.csv --from-reference
    awk -F, 'NR == 3 && ($1 != 11 || ($2 - 64.5) ^ 2 + ($3 - 60) ^ 2 > .0001) { exit 1 }' back.csv ||
        fail "$from: coordinates do not come back"
    awk -F, 'NR == 3 && ($2 - 64.5) ^ 2 + ($3 - 60) ^ 2 < 25 { exit 1 }' there.csv ||
        fail "$from: coordinates did not move"
done
# A family of motions: the matrices are written and applied, and auto says what it chose.
register movie.mrc -o affine --format npy --model affine --aligned --report affine.html --json=affine.json
near affine/transforms.json
grep -q '"matrix": \[' affine/transforms.json || fail "no matrices"
"$SEXTANT" apply affine/transforms.json movie.mrc -o affine.npy
cmp affine.npy affine/aligned.npy || fail "affine transforms applied again differ"
register movie.mrc -o auto --model auto --json=auto.json
grep -q '"model_reason": "[a-z]' auto.json || { cat auto.json; fail "auto does not say why"; }
if grep -q '"model": "auto"' auto.json auto/transforms.json; then
    fail "auto is not resolved"
fi
printf '0,1,2\n0,1,x\n' >points.csv
"$SEXTANT" apply out/transforms.json points.csv -o no.csv 2>errors && fail "x is no number"
grep -q 'points.csv: line 2: "0,1,x"' errors || { cat errors; fail "the line is not named"; }
printf '99,1,2\n' >points.csv
"$SEXTANT" apply out/transforms.json points.csv -o no.csv 2>errors && fail "there is no frame 99"
grep -q 'line 1: .*no frame 99' errors || { cat errors; fail "the frame is not named"; }
"$SEXTANT" apply run.json movie.mrc -o no.tif 2>errors && fail "run.json has no transforms"
grep -q 'run.json: is not of kind' errors || { cat errors; fail "the wrong file is not named"; }
"$SEXTANT" apply out/transforms.json out/average.tif -o no.tif 2>errors && fail "one frame for twelve"
grep -q 'has 1 frames, expected the 12 that were registered' errors || { cat errors; fail "the number of frames is not reported"; }
[ ! -e no.tif ] && [ ! -e no.csv ] || fail "apply left something behind"

# One to four ranks combine results in different orders of association: shifts differ by less than
# .005 px, a tenth of their deviations. The same holds without --reproducible, where results are
# combined as they arrive.
for ranks in 1 2 3 4; do
    register movie.mrc -o threads$ranks --reproducible --ranks $ranks
    register movie.mrc -o arriving$ranks --ranks $ranks
    near threads$ranks/transforms.json
    for run in threads$ranks arriving$ranks; do
        awk '/"t[xy]"/ { print $2 }' $run/transforms.json | tr -d , >$run.shifts
        paste threads1.shifts $run.shifts | awk '($1 - $2) ^ 2 > .005 ^ 2 { print "line " NR ": " $0; exit 1 }' ||
            fail "$run differs from one thread"
    done
done

# The same over processes as over threads.
if [ -n "${MPIRUN:-}" ]; then
    for ranks in 1 2 3 4; do
        $MPIRUN -n $ranks "$SEXTANT" register movie.mrc -o mpi$ranks --reproducible >text 2>errors || { cat errors; fail "over $ranks processes"; }
        cmp mpi$ranks/transforms.json threads$ranks/transforms.json || fail "$ranks processes differ from threads"
    done
    $MPIRUN -n 2 "$SEXTANT" register missing.mrc -o refused 2>errors && fail "a missing series is accepted over processes"
    grep -q 'missing.mrc' errors || { cat errors; fail "the missing file is not named"; }
fi

# Bad frames are left out, with a warning.
mkdir frames
"$SEXTANT" synthesize -o all.npy --frames 6 --width 64 --height 64 --specimen carbon --blanks 4
"$SEXTANT" synthesize -o one.npy --frames 1 --width 64 --height 64
for i in 0 1 2 3 4 5; do
    { head -c 128 one.npy; tail -c +$((129 + i * 16384)) all.npy | head -c 16384; } >frames/f_$i.npy
done
"$SEXTANT" synthesize -o frames/f_6.npy --frames 1 --width 64 --height 60
rm frames/f_6.npy.json
head -c 9000 frames/f_1.npy >cut && mv cut frames/f_2.npy
register frames -o bad --json -
grep -q 'frame 6 is 64×60, expected 64×64' errors || { cat errors; fail "the other size is not reported"; }
grep -q 'frame 4 is left out: the mean' errors || { cat errors; fail "the blank frame is not reported"; }
grep -q 'frame 2 is left out: ' errors || { cat errors; fail "the truncated file is not reported"; }
grep -q '"registered": 4' text || fail "four frames were good"

# Input that cannot be registered is refused before anything is written.
refused 'missing.mrc' missing.mrc
refused 'has 1 frame, expected at least two' out/average.tif
refused 'reference 12: expected 0 to 11' movie.mrc --reference 12
refused "'pear'" movie.mrc --model pear
head -c 1024 movie.mrc >cut.mrc
refused 'cut.mrc' cut.mrc
"$SEXTANT" synthesize -o dark.tif --frames 3 --width 32 --height 32 --contrast 0 --amorphous 0 --dose .00001
refused 'none of 3 frames could be registered; at least 2 are needed; frame 0: every sample is 0' dark.tif

# A series that cannot be registered: what to try, and a page with its frames. The frames are of
# different specimens.
for seed in 1 2 3; do
    "$SEXTANT" synthesize -o other.npy --frames 2 --seed $seed --width 64 --height 64 --specimen carbon
    tail -c $((2 * 64 * 64 * 4)) other.npy | head -c $((64 * 64 * 4)) >>unlike.raw
done
"$SEXTANT" register unlike.raw::64x64,f32 -o unlike --report unlike.html 2>errors &&
    fail "frames of different specimens were registered"
grep -q 'advice: try --rotation 180 if frames are rotated' errors || { cat errors; fail "no advice"; }
grep -q 'unlike.html shows the frames' errors || { cat errors; fail "the page is not named"; }
[ "$(grep -o 'left out: no' unlike.html | wc -l)" = 3 ] || fail "the page does not show the frames"
[ ! -e unlike/average.tif ] || fail "a failed run wrote an average"

"$SEXTANT" register movie.mrc -o none/deeper 2>errors && fail "a folder in a missing folder"
grep -q 'none does not exist' errors || { cat errors; fail "the missing folder is not named"; }
"$SEXTANT" register movie.mrc -o points.csv 2>errors && fail "a file is accepted as a folder"
grep -q 'points.csv: is not a folder' errors || { cat errors; fail "no message that it is not a folder"; }
