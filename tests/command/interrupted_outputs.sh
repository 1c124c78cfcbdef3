#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Commands with several outputs, or whose output is a folder: on a full disk, all files of an earlier run remain; what
# killed runs leave is removed by the next run that writes to the folder. Usage: interrupted_outputs.sh
. "$(dirname "$0")/start.sh"
cd "$folder"

"$SEXTANT" synthesize -o movie.npy --frames 4 --width 64 --height 64 --specimen carbon --dose 50 >/dev/null
"$SEXTANT" register movie.npy -o moved --ranks 1 >/dev/null
{
    printf '\223NUMPY\001\000\166\000%-117s\n' "{'descr': '|u1', 'fortran_order': False, 'shape': (6, 30, 40), }"
    yes 'ab.ba..ab.a.....b....a.......' | tr -d '\n' | head -c 7200 | LC_ALL=C tr 'ab.' '\001\002\000'
} >volume.npy

# run COMMAND older|newer: writes the outputs of a command to the folder `out`.
run() {
    case $2 in
    older) aligned=on frames=0-2 sigma=1 by=shift neighbours=4 number=1 ;;
    newer) aligned=off frames=0-3 sigma=2 by=splat neighbours=8 number=2 ;;
    esac
    case $1 in
    register) "$SEXTANT" register movie.npy -o out --ranks 1 --aligned $aligned --frames $frames ;;
    register_zarr) "$SEXTANT" register movie.npy -o out --ranks 1 --aligned out/stack.zarr --frames $frames ;;
    filter) "$SEXTANT" filter volume.npy -o out/f.zarr --derivatives x,zz --sigma $sigma --ranks 1 --json out/run.json ;;
    filter_image) "$SEXTANT" filter volume.npy --frame 1 -o out/f.tif --sigma $sigma --ranks 1 --report out/page.html ;;
    apply) "$SEXTANT" apply moved/transforms.json movie.npy -o out/a.zarr --sum --by $by --count out/count.npy ;;
    label) "$SEXTANT" label volume.npy --frame 1 -o out/l.tif --table out/t.csv --json out/run.json --neighbours $neighbours --ranks 1 ;;
    label_volume) "$SEXTANT" label volume.npy -o out/l.zarr --table out/t.csv --min-size $number --ranks 1 ;;
    stitch) "$SEXTANT" stitch volume.npy -o out/s.zarr --block 1,0,0 --threshold .$number --table out/t.csv --joins out/j.csv --ranks 1 ;;
    contours) "$SEXTANT" contours volume.npy --frame 1 -o out/c.geojson --json out/run.json --sigma $sigma --ranks 1 ;;
    synthesize) "$SEXTANT" synthesize -o out/s.mrc --frames 2 --width 32 --height 32 --seed $number ;;
    measure) "$SEXTANT" measure volume.npy -o out/t.csv --json out/run.json --ranks $number ;;
    esac >text 2>&1
}

for command in register register_zarr filter filter_image apply label label_volume stitch contours synthesize measure; do
    rm -rf out old counted
    mkdir out
    run "$command" older || { cat text; fail "$command"; }
    cp -r out old
    COUNT_CALLS=$folder/counted LD_PRELOAD=$KILL_AT_LIBRARY run "$command" newer || { cat text; fail "$command again"; }
    calls=$(cat counted)
    diff -r out old >/dev/null && fail "$command: both runs have the same results"
    full=0
    call=$((calls > 24 ? calls - 24 : 1))
    while [ "$call" -le "$calls" ]; do
        rm -rf out
        cp -r old out
        if FULL_AT=$call LD_PRELOAD=$KILL_AT_LIBRARY run "$command" newer; then
            call=$((calls + 1)) # the last calls write nothing
            continue
        fi
        full=$((full + 1))
        grep -qi 'no space left' text || { cat text; fail "$command: another error on a full disk"; }
        rm -f out/checkpoint.*
        diff -r out old >/dev/null || { diff -rq out old; fail "$command: results of two runs after call $call of $calls"; }
        call=$((call + 1))
    done
    [ "$full" -gt 0 ] || fail "$command: the disk was not full"

    # Killed runs, at up to 12 calls, and then one that ends.
    left=0
    call=1
    while [ "$call" -le "$calls" ]; do
        KILL_AT=$call LD_PRELOAD=$KILL_AT_LIBRARY run "$command" newer || true
        left=$((left + $(find out -name '.sextant-*' -prune | wc -l)))
        call=$((call + calls / 12 + 1))
    done
    run "$command" newer || { cat text; fail "$command after kills"; }
    [ -z "$(find out -name '.sextant-*')" ] || { find out -name '.sextant-*'; fail "$command: temporaries of killed runs remain"; }
    echo "$command: $calls calls, $full on a full disk, $left temporaries seen"
    all_left=$((${all_left:-0} + left))
done
[ "$all_left" -gt 0 ] || fail "no killed run left anything, so nothing was tested"
