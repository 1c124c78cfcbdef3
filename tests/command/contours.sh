#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Labels and contours: the same files on all ranks, grids and patterns; errors.
. "$(dirname "$0")/start.sh"
work=$folder

# Writes standard input as a NumPy file: npy FILE TYPE SHAPE
npy() {
    printf '\223NUMPY\001\000\166\000%-117s\n' \
        "{'descr': '$2', 'fortran_order': False, 'shape': ($3), }" >"$1"
    cat >>"$1"
}
# Prints bytes given by their numbers: bytes 0 1 2 ...
bytes() { for byte; do printf "\\$(printf %o "$byte")"; done; }
# Converts lines of characters to pixels: characters of the second argument become those of the
# third.
pixels() {
    lines=$(cat)
    rows=$(printf '%s\n' "$lines" | wc -l)
    width=$(printf '%s\n' "$lines" | head -n 1 | tr -d '\n' | wc -c)
    printf '%s' "$lines" | tr -d '\n' | LC_ALL=C tr "$2" "$3" | npy "$1" "$4" "$rows, $width"
}

# --- Labels.
pixels "$work/cells.npy" '.#' '\000\001' '|u1' <<'END'
##...#....##
.#...#...#..
.#####..#...
........#..#
###...##...#
#.#..##....#
###..#....##
END
"$SEXTANT" label "$work/cells.npy" -o "$work/one.npy" --table "$work/one.csv" --ranks 1 >"$work/text"
grep -q '4 components of 12x7' "$work/text" || { cat "$work/text"; fail "not 4 components"; }
cat >"$work/expected" <<'END'
label,area,x,y,width,height,centroid_x,centroid_y
1,10,0,0,6,3,2.7,1.2
2,10,5,0,7,7,7.5,3
3,5,10,3,2,4,10.8,4.8
4,8,0,4,3,3,1,5
END
cmp "$work/one.csv" "$work/expected" || { cat "$work/one.csv"; fail "the table"; }
cp "$work/one.csv" "$work/tiles.csv"
"$SEXTANT" label "$work/cells.npy" -o "$work/one.npy" --table "$work/one.csv" --columns all >/dev/null
cut -d , -f 1-8 "$work/one.csv" | cmp - "$work/tiles.csv" || fail "all columns begin with sizes"
"$SEXTANT" measure "$work/one.npy" -o "$work/measured.csv" --columns all >/dev/null
cmp "$work/one.csv" "$work/measured.csv" || fail "measure gives another table"
head -n 1 "$work/one.csv" | grep -q ',centroid_y,axis_1,axis_2,axis_1_y,axis_1_x,perimeter,at_border$' || fail "columns"
grep -q '^4,8,0,4,3,3,1,5,.*,16,1$' "$work/one.csv" || fail "perimeter and border of a ring"
for ranks in 2 3 6; do
    for pattern in 1-lev-dir 2-lev-rc logp-lev-quad logp-lev-bal; do
        "$SEXTANT" label "$work/cells.npy" -o "$work/many.npy" --table "$work/many.csv" \
            --ranks $ranks --pattern $pattern >/dev/null
        cmp "$work/one.npy" "$work/many.npy" || fail "other labels on $ranks ranks by $pattern"
        cmp "$work/tiles.csv" "$work/many.csv" || fail "another table on $ranks ranks by $pattern"
    done
    "$SEXTANT" label "$work/cells.npy" -o "$work/many.npy" --table "$work/many.csv" --ranks $ranks \
        --columns all >/dev/null
    cmp "$work/one.npy" "$work/many.npy" || fail "other labels on $ranks ranks"
    cmp "$work/one.csv" "$work/many.csv" || fail "another table on $ranks ranks"
done
# What volumes have: holes, sizes, intensities.
"$SEXTANT" label "$work/cells.npy" -o "$work/some.npy" --fill-holes --min-size 6 --keep-largest 2 --json - \
    --table "$work/some.csv" --intensity "$work/cells.npy" >"$work/json"
grep -q '"holes": 1,' "$work/json" && grep -q '"removed": 2,' "$work/json" || { cat "$work/json"; fail "holes, sizes"; }
[ "$(cut -d , -f 2,9-12 "$work/some.csv" | tr '\n' ' ')" = "area,sum,mean,minimum,maximum 10,10,1,1,1 10,10,1,1,1 " ] ||
    { cat "$work/some.csv"; fail "intensities"; }
"$SEXTANT" label "$work/cells.npy" -o "$work/labels.tif" --neighbours 4 --ranks 4 --json - >"$work/json"
grep -q '"components": 7' "$work/json" || fail "4 neighbours: not 7 components"
"$SEXTANT" info "$work/labels.tif" | grep -q 'samples *u32' || fail "labels in TIFF have not 32 bits"
pixels "$work/classes.npy" 'abc' '\000\005\006' '|u1' <<'END'
abbc
bccc
abcb
END
"$SEXTANT" label "$work/classes.npy" -o "$work/one.npy" --by-value --neighbours 4 --ranks 3 \
    --table "$work/one.csv" >/dev/null
[ "$(cut -d , -f 2 "$work/one.csv" | tr '\n' ' ')" = "area 2 5 1 1 1 " ] || { cat "$work/one.csv"; fail "by value"; }

# --- Labels of an image that exceeds the memory limit: the same files.
yes 'ab.ba..ab.a.....b' | tr -d '\n' | head -c 400000 | LC_ALL=C tr 'ab.' '\001\002\000' |
    npy "$work/large.npy" '|u1' '500, 800'
for rule in '' '--neighbours 4' '--by-value'; do
    "$SEXTANT" label "$work/large.npy" -o "$work/one.npy" --table "$work/one.csv" --ranks 1 $rule >/dev/null
    "$SEXTANT" label "$work/large.npy" -o "$work/many.npy" --table "$work/many.csv" --ranks 3 $rule \
        --memory 1 --json="$work/json" >/dev/null
    grep -q '"strips": [2-9],' "$work/json" || fail "$rule: not in strips"
    cmp "$work/one.npy" "$work/many.npy" || fail "$rule: other labels in strips"
    cmp "$work/one.csv" "$work/many.csv" || fail "$rule: another table in strips"
done

# --- Contours of a direction map: two closed ones, a line and a point.
bytes 0 2 255 254 4 6 4 255 254 255 255 255 0 4 255 >"$work/codes"
npy "$work/codes.npy" '|i1' '3, 5' <"$work/codes"
"$SEXTANT" contours "$work/codes.npy" --directions -o "$work/one.csv" --ranks 1 --json="$work/json" >/dev/null
for part in '"contours": 4' '"points": 9' '"closed": 2' '"sigma": null'; do
    grep -q "$part" "$work/json" || { cat "$work/json"; fail "no $part"; }
done
for format in csv geojson svg npy; do
    "$SEXTANT" contours "$work/codes.npy" --directions -o "$work/one.$format" --ranks 1 >/dev/null
    for ranks in 2 3 6; do
        "$SEXTANT" contours "$work/codes.npy" --directions -o "$work/many.$format" --ranks $ranks >/dev/null
        cmp "$work/one.$format" "$work/many.$format" || fail "other contours on $ranks ranks: $format"
    done
done
"$SEXTANT" contours "$work/codes.npy" --directions -o "$work/long.csv" --min-length 4 --ranks 2 >/dev/null
[ "$(wc -l <"$work/long.csv")" = 5 ] || { cat "$work/long.csv"; fail "shorter contours are not left out"; }

# --- Simplified contours: the same files on all grids and in strips; fewer points.
for tolerance in 0 1.5; do
    "$SEXTANT" contours "$work/large.npy" -o "$work/all.csv" --ranks 1 >/dev/null
    "$SEXTANT" contours "$work/large.npy" -o "$work/one.csv" --ranks 1 --simplify $tolerance --json="$work/json" \
        >"$work/text"
    grep -q "simplified to .* points within $tolerance px" "$work/text" || { cat "$work/text"; fail "not simplified"; }
    [ "$(wc -l <"$work/one.csv")" -lt "$(wc -l <"$work/all.csv")" ] || fail "simplified: not fewer points"
    grep -q "\"written\": $(($(wc -l <"$work/one.csv") - 1))," "$work/json" || fail "simplified: points written"
    grep -q "\"points\": $(($(wc -l <"$work/all.csv") - 1))," "$work/json" || fail "simplified: points"
    for options in '--ranks 2' '--ranks 3 --grid 3x1' '--ranks 7' '--ranks 3 --memory 2'; do
        "$SEXTANT" contours "$work/large.npy" -o "$work/many.csv" --simplify $tolerance $options >/dev/null
        cmp "$work/one.csv" "$work/many.csv" || fail "simplified within $tolerance: other contours with $options"
    done
done

cp "$work/one.csv" "$work/simplified.csv"

# same_counts WHERE: one.json and many.json contain the same counts.
same_counts() {
    for count in contours points closed junctions cut; do
        [ "$(grep "\"$count\":" "$work/one.json")" = "$(grep "\"$count\":" "$work/many.json")" ] ||
            fail "another number of $count: $1"
    done
}

# --- Contours of an image that exceeds the memory limit: the same files. Lines go up and down
# through the whole direction map.
{ printf 'aH%.0s' 1 2 3 4; yes 'ah' | tr -d '\n' | head -c 399984; printf 'Hh%.0s' 1 2 3 4; } |
    LC_ALL=C tr 'ahH' '\002\006\376' | npy "$work/codes-large.npy" '|i1' '50000, 8'
for format in csv geojson svg npy; do
    for what in "large.npy" "codes-large.npy --directions"; do
        set -- $what
        "$SEXTANT" contours "$work/$@" -o "$work/one.$format" --ranks 1 --min-length 2 --json="$work/one.json" >/dev/null
        for ranks in 1 3; do
            "$SEXTANT" contours "$work/$@" -o "$work/many.$format" --ranks $ranks --min-length 2 --memory 2 \
                --json="$work/many.json" >/dev/null
            grep -q '"strips": [1-9][0-9],' "$work/many.json" || fail "$what: not in strips"
            cmp "$work/one.$format" "$work/many.$format" || fail "$what: other contours in strips: $format"
            same_counts "$what: in strips"
        done
    done
done
"$SEXTANT" contours "$work/large.npy" -o "$work/many.csv" --memory 2 --pattern 2-lev-rc 2>"$work/said" >"$work/text"
grep -q -- '--pattern has no effect: [0-9]* strips' "$work/said" || fail "no warning of a pattern without effect"
grep -q 'strips, which are merged one after another' "$work/text" || fail "strips are not reported"

# --- Edges of an image: the same on every grid, also with thresholds, and over MPI.
{ i=0; while [ $i -lt 3000 ]; do bytes $(((i % 60 - 30) * (i % 60 - 30) / 5 + (i / 60 - 25) * (i / 60 - 25) / 4)); i=$((i + 1)); done; } |
    head -c 3000 | npy "$work/bowl.npy" '|u1' '50, 60'
edges() { "$SEXTANT" contours "$work/bowl.npy" "$@"; }
edges -o "$work/one.csv" --sigma 1.5 --ranks 1 --json="$work/one.json" >"$work/text"
grep -q 'edges sigma 1.5' "$work/text" || fail "the thresholds are not printed"
[ "$(wc -l <"$work/one.csv")" -gt 20 ] || fail "no edges"
for grid in 6x1 3x2 2x3 1x6; do
    edges -o "$work/many.csv" --sigma 1.5 --ranks 6 --grid $grid --json="$work/many.json" >/dev/null
    cmp "$work/one.csv" "$work/many.csv" || fail "other edges on $grid tiles"
    same_counts "on $grid tiles"
done
edges -o "$work/hand.csv" --sigma 1.5 --thresholds 4,9 --ranks 1 >"$work/text"
grep -q 'gradient thresholds 4 (low) and 9 (high)' "$work/text" || fail "given thresholds"
if [ -n "${MPIRUN:-}" ]; then
    $MPIRUN -n 3 "$SEXTANT" contours "$work/bowl.npy" -o "$work/mpi.csv" --sigma 1.5 >/dev/null
    cmp "$work/one.csv" "$work/mpi.csv" || fail "over MPI other contours"
    "$SEXTANT" contours "$work/large.npy" -o "$work/large.csv" --ranks 1 >/dev/null
    $MPIRUN -n 3 "$SEXTANT" contours "$work/large.npy" -o "$work/mpi.csv" --memory 2 >/dev/null
    cmp "$work/large.csv" "$work/mpi.csv" || fail "over MPI other contours in strips"
    $MPIRUN -n 3 "$SEXTANT" contours "$work/large.npy" -o "$work/mpi.csv" --simplify 1.5 >/dev/null
    cmp "$work/simplified.csv" "$work/mpi.csv" || fail "over MPI other simplified contours"
    $MPIRUN -n 3 "$SEXTANT" label "$work/cells.npy" -o "$work/mpi.npy" --table "$work/mpi.csv" >/dev/null
    cmp "$work/mpi.csv" "$work/expected" || fail "over MPI other components"
fi
printf '%064d' 0 | npy "$work/flat.npy" '|u1' '8, 8'
edges -o "$work/many.csv" --sigma 1.5 --ranks 4 --json="$work/json" >/dev/null
grep -A 3 '"hysteresis": {' "$work/json" | grep -q '"reason": "fastest of 4' || fail "hysteresis is not planned"
"$SEXTANT" contours "$work/flat.npy" -o "$work/flat.geojson" | grep -q '0 contours of 0 points' || fail "flat"
grep -q '"features":\[' "$work/flat.geojson" || fail "no empty collection"

# refuses CODE TEXT COMMAND ARGUMENTS...: also checks that no output is left.
refuses() {
    code=$1 text=$2
    shift 2
    status=0
    timeout 250 "$SEXTANT" "$@" >"$work/said" 2>&1 || status=$?
    [ $status = "$code" ] || { cat "$work/said"; fail "$*: exit code $status, expected $code"; }
    grep -q -- "$text" "$work/said" || { cat "$work/said"; fail "$*: expected '$text'"; }
    for left in "$work"/out*; do [ ! -e "$left" ] || fail "$*: left $left"; done
}
bytes 0 0 >"$work/out-of-it" && npy "$work/leaves.npy" '|i1' '1, 2' <"$work/out-of-it"
rm "$work/out-of-it"
bytes 0 255 | npy "$work/astray.npy" '|i1' '1, 2'
bytes 0 9 | npy "$work/nine.npy" '|i1' '1, 2'
printf '' | npy "$work/empty.npy" '|u1' '0, 0'
for ranks in 1 2; do
    refuses 1 '(1, 0)' contours "$work/leaves.npy" --directions -o "$work/out.csv" --ranks $ranks
    refuses 1 '(0, 0)' contours "$work/astray.npy" --directions -o "$work/out.csv" --ranks $ranks
    refuses 1 'nine.npy: has 9 at (1, 0), expected a direction' contours "$work/nine.npy" --directions \
        -o "$work/out.csv" --ranks $ranks
    refuses 2 'edge thresholds are 9 and 4' contours "$work/bowl.npy" -o "$work/out.csv" --thresholds 9,4 --ranks $ranks
    refuses 2 'edge quantiles are 0.9 and 0.5' contours "$work/bowl.npy" -o "$work/out.csv" --quantiles .9,.5 --ranks $ranks
done
refuses 2 '--thresholds 4: expected two numbers' contours "$work/bowl.npy" -o "$work/out.csv" --thresholds 4
refuses 2 'sigma .1: expected a number from 0.5 to 1000' contours "$work/bowl.npy" -o "$work/out.csv" --sigma .1
for tolerance in -1 nan inf 2e6 x; do
    refuses 2 "simplify $tolerance: expected a number from 0 to 1" contours "$work/bowl.npy" -o "$work/out.csv" \
        --simplify=$tolerance
done
refuses 2 'contours are written as' contours "$work/bowl.npy" -o "$work/out.png"
refuses 2 'out.png: frames of u32 can be written as .tif' label "$work/cells.npy" -o "$work/out.png"
refuses 2 '--sigma has no effect here: a direction map has no gradients' \
    contours "$work/leaves.npy" --directions -o "$work/out.csv" --sigma 2
refuses 2 '--quantiles has no effect here: --thresholds replaces' \
    contours "$work/bowl.npy" -o "$work/out.csv" --thresholds 4,9 --quantiles .5,.9
refuses 2 "unknown merging pattern 'quad'" contours "$work/bowl.npy" -o "$work/out.csv" --pattern quad
refuses 1 'expected positive numbers' contours "$work/empty.npy" -o "$work/out.csv"
refuses 1 'expected positive numbers' label "$work/empty.npy" -o "$work/out.tif"
refuses 1 'no points' contours "$work/flat.npy" -o "$work/out.npy"
refuses 2 '--grid 2x2: 4 tiles, expected one for each of the 3 ranks' label "$work/cells.npy" -o "$work/out.npy" --ranks 3 --grid 2x2
head -c 100000 /dev/zero | npy "$work/wide.npy" '|u1' '1, 100000'
refuses 2 '--memory 100K is too small: a row of 100000 pixels and its labels on each of 1 ranks takes 489K' \
    label "$work/wide.npy" -o "$work/out.npy" --memory 100K
refuses 2 'MiB in tiles; without a grid or pattern, larger images are labelled in strips' \
    label "$work/wide.npy" -o "$work/out.npy" --memory 1 --grid 2x1
refuses 2 '--min-size has no effect here: tiles are labelled without it' \
    label "$work/cells.npy" -o "$work/out.npy" --min-size 3 --grid 2x1
refuses 2 '--machine has no effect here: a pattern is predicted only for tiles: expected --grid' \
    label "$work/cells.npy" -o "$work/out.npy" --machine x
refuses 2 '--memory 1 MiB is too small: a row of 100000 pixels and the rows needed around it take' \
    contours "$work/wide.npy" -o "$work/out.csv" --memory 1
head -c 300000 "$work/large.npy" >"$work/short.npy"
refuses 1 'short.npy' contours "$work/short.npy" -o "$work/out.csv" --memory 2
{ head -c 399999 /dev/zero | tr '\0' '\377'; bytes 9; } | npy "$work/late.npy" '|i1' '500, 800'
{ head -c 399999 /dev/zero | tr '\0' '\377'; bytes 0; } | npy "$work/leaves.npy" '|i1' '500, 800'
for ranks in 1 3; do
    refuses 1 'late.npy: has 9 at (799, 499)' contours "$work/late.npy" --directions -o "$work/out.csv" --memory 2 --ranks $ranks
    refuses 1 '(799, 499)' contours "$work/leaves.npy" --directions -o "$work/out.csv" --memory 2 --ranks $ranks
    refuses 2 'edge quantiles are 0.9 and 0.5' contours "$work/large.npy" -o "$work/out.csv" --quantiles .9,.5 \
        --memory 2 --ranks $ranks
    refuses 2 'edge thresholds are 9 and 4' contours "$work/large.npy" -o "$work/out.csv" --thresholds 9,4 \
        --memory 2 --ranks $ranks
done
refuses 2 'u32' label "$work/cells.npy" -o "$work/out.mrc"
echo "labels and contours are the same everywhere"
