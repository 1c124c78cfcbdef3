#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A run over a volume that is killed, or finds the disk full, loses nothing; the same command
# continues it and gives the same files. Usage: volumes_resume.sh [NUMBER OF KILLS]
. "$(dirname "$0")/start.sh"
work=$folder
kills=${1:-30}
seed=7

random() { # random N: sets `drawn` to a number from 1 to N
    seed=$(((seed * 1103515245 + 12345) % 2147483648))
    drawn=$((seed / 65536 % $1 + 1))
}
same() { # same A B: two stores or files have the same content
    diff -r "$1" "$2" >/dev/null || fail "$1 and $2 differ: $3"
}

# 300 planes, labelled in about 12 slabs, and written as 5 layers of chunks.
{
    printf '\223NUMPY\001\000\166\000%-117s\n' "{'descr': '|u1', 'fortran_order': False, 'shape': (300, 80, 100), }"
    yes 'ab.ba..ab.a.....b....a.......' | tr -d '\n' | head -c 2400000 | LC_ALL=C tr 'ab.' '\001\002\000'
} >"$work/volume.npy"
# label OUTPUT TABLE OPTION...
label() {
    output=$1 table=$2
    shift 2
    "$SEXTANT" label "$work/volume.npy" -o "$output" --table "$table" --memory 1 "$@"
}

total=0
for options in '' '--fill-holes --neighbours 6' '--min-size 3 --keep-largest 9 --ranks 2' '--by-value --ranks 3'; do
    rm -rf "$work/expected" "$work"/labels.*
    mkdir "$work/expected"
    # shellcheck disable=SC2086 # several options
    COUNT_CALLS=$work/calls LD_PRELOAD=$KILL_AT_LIBRARY label "$work/expected/labels.zarr" "$work/expected/labels.csv" $options \
        --json="$work/json" >/dev/null
    grep -q '"slabs": 1,' "$work/json" && fail "'$options': in one slab"
    calls=$(cat "$work/calls")
    [ "$calls" -gt 40 ] || fail "only $calls calls that change files"
    continued=0
    count=0
    begin=yes
    while [ "$count" -lt "$kills" ]; do
        if [ "$begin" = yes ]; then # with an older result, which must remain until the new one replaces it
            rm -rf "$work"/labels.* "$work/older"
            mkdir "$work/older"
            echo older >"$work/labels.csv"
            "$SEXTANT" label "$work/volume.npy" -o "$work/labels.zarr" --neighbours 18 >/dev/null
            cp -r "$work/labels.zarr" "$work/older"
            begin=no
        fi
        random "$calls"
        # shellcheck disable=SC2086
        if KILL_AT=$drawn LD_PRELOAD=$KILL_AT_LIBRARY label "$work/labels.zarr" "$work/labels.csv" $options \
            >"$work/text" 2>&1; then # what is left to do takes fewer calls
            grep -q 'continued an earlier run' "$work/text" && continued=$((continued + 1))
            same "$work/labels.zarr" "$work/expected/labels.zarr" "'$options' after $count kills"
            same "$work/labels.csv" "$work/expected/labels.csv" "'$options' after $count kills"
            [ ! -e "$work/labels.zarr.partial" ] || fail "'$options': the folder of a run that ended remains"
            [ -z "$(find "$work" -name '.sextant-*')" ] || fail "'$options': temporaries of killed runs remain"
            begin=yes
            continue
        fi
        count=$((count + 1))
        diff -r "$work/labels.zarr" "$work/older/labels.zarr" >/dev/null ||
            same "$work/labels.zarr" "$work/expected/labels.zarr" "'$options' after kill $count"
        grep -q '^older$' "$work/labels.csv" ||
            same "$work/labels.csv" "$work/expected/labels.csv" "'$options' after kill $count"
    done
    [ "$continued" -gt 0 ] || fail "'$options': no run was continued"
    total=$((total + count))
done

# A full disk: an error that says so, and the same command goes on.
rm -rf "$work"/labels.*
full=0
for part in 10 30 50 70 90; do
    if FULL_AT=$((calls * part / 100)) LD_PRELOAD=$KILL_AT_LIBRARY label "$work/labels.zarr" "$work/labels.csv" \
        --by-value --ranks 3 >"$work/text" 2>&1; then # what was left to do takes fewer calls
        same "$work/labels.zarr" "$work/expected/labels.zarr" "after a full disk"
        rm -rf "$work"/labels.*
        continue
    fi
    grep -qi 'no space left' "$work/text" || { cat "$work/text"; fail "another error on a full disk"; }
    [ ! -e "$work/labels.zarr" ] || fail "labels of a run on a full disk"
    full=$((full + 1))
done
[ "$full" -gt 2 ] || fail "the disk was not full"
label "$work/labels.zarr" "$work/labels.csv" --by-value --ranks 3 >/dev/null 2>&1
same "$work/labels.zarr" "$work/expected/labels.zarr" "after a full disk"

# What a run on a full disk leaves does not stop a run with another input.
rm -rf "$work"/labels.*
FULL_AT=$((calls / 2)) LD_PRELOAD=$KILL_AT_LIBRARY label "$work/labels.zarr" "$work/labels.csv" --by-value --ranks 3 \
    >/dev/null 2>&1 && fail "the disk was not full"
[ -e "$work/labels.zarr.partial/labels.0" ] || fail "no results of a run on a full disk"
"$SEXTANT" label "$work/volume.npy" --memory 1 -o "$work/labels.zarr" --ranks 3 >"$work/text" 2>&1 &&
    fail "other options continued a run that failed"
mv "$work/volume.npy" "$work/original.npy"
cp "$work/original.npy" "$work/volume.npy" # with another time of change
label "$work/labels.zarr" "$work/labels.csv" --by-value --ranks 3 >"$work/text" 2>&1 ||
    { cat "$work/text"; fail "a run that failed stops one with another input"; }
grep -q 'results of a run with other inputs that failed were removed' "$work/text" || { cat "$work/text"; fail "no remark"; }
same "$work/labels.zarr" "$work/expected/labels.zarr" "after another run that failed"
mv "$work/original.npy" "$work/volume.npy"

# Another run in the folder of an interrupted one is refused, and says why.
rm -rf "$work"/labels.*
KILL_AT=$((calls / 2)) LD_PRELOAD=$KILL_AT_LIBRARY label "$work/labels.zarr" "$work/labels.csv" --by-value --ranks 3 \
    >/dev/null 2>&1 && fail "not killed"
label "$work/labels.zarr" "$work/labels.csv" --ranks 3 >"$work/text" 2>&1 && fail "continued another run"
grep -q 'labels.zarr.partial/labels.*another run.*by_value' "$work/text" || { cat "$work/text"; fail "another error"; }
label "$work/labels.zarr" "$work/labels.csv" --by-value --ranks 3 >/dev/null 2>&1
same "$work/labels.zarr" "$work/expected/labels.zarr" "after a run that was refused"

# A chunk of the input that changes after the interruption is noticed; an output within the input is not.
"$SEXTANT" label "$work/volume.npy" -o "$work/source.zarr" >/dev/null
interrupted() { # interrupted OUTPUT
    KILL_AT=$((calls / 2)) LD_PRELOAD=$KILL_AT_LIBRARY "$SEXTANT" label "$work/source.zarr" -o "$1" --by-value \
        --memory 1 --ranks 3 >/dev/null 2>&1 && fail "not killed"
    [ -e "$1.partial/labels.0" ] || fail "killed before the first slab"
}
continues() { # continues OUTPUT
    "$SEXTANT" label "$work/source.zarr" -o "$1" --by-value --memory 1 --ranks 3 >"$work/text" 2>&1
}
interrupted "$work/source.zarr/labels.zarr"
continues "$work/source.zarr/labels.zarr" || { cat "$work/text"; fail "not continued within the input"; }
grep -q 'continued an earlier run' "$work/text" || { cat "$work/text"; fail "from scratch within the input"; }
rm -r "$work/source.zarr/labels.zarr"
interrupted "$work/labels.zarr"
chunk=$(find "$work/source.zarr/0/c" -type f -name '[0-9]*' | head -n 1)
touch -d '2001-01-01' "$chunk"
continues "$work/labels.zarr" && fail "continued with another input"
grep -q 'another run.*input: .*source.zarr' "$work/text" || { cat "$work/text"; fail "another error for a chunk"; }
echo "$total runs were killed"
