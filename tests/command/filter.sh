#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Filters: the same bits for all ranks, grids and memory limits; errors.
. "$(dirname "$0")/start.sh"
work=$folder

# A NumPy file of random bytes: npy FILE TYPE SHAPE BYTES
npy() {
    printf '\223NUMPY\001\000\166\000%-117s\n' \
        "{'descr': '$2', 'fortran_order': False, 'shape': ($3), }" >"$1"
    head -c "$4" /dev/urandom >>"$1"
}
filter() { "$SEXTANT" filter "$@"; }

npy "$work/u8.npy" '|u1' '307, 411' $((307 * 411))
npy "$work/u16.npy" '<u2' '60, 50' 6000
for image in u8 u16; do
    filter "$work/$image.npy" -o "$work/one.npy" --sigma 3 --ranks 1 >"$work/text"
    grep -q 'nothing to choose' "$work/text" || fail "one rank chooses"
    for ranks in 2 3 4 6; do
        filter "$work/$image.npy" -o "$work/many.npy" --sigma 3 --ranks $ranks >"$work/text"
        cmp "$work/one.npy" "$work/many.npy" || fail "$image on $ranks ranks has other bits"
    done
    grep -q '^[1-9r].* (fastest of' "$work/text" || fail "no plan is printed"
    for grid in 1x6 2x3 3x2 6x1; do
        filter "$work/$image.npy" -o "$work/grid.npy" --sigma 3 --ranks 6 --grid $grid >/dev/null
        cmp "$work/one.npy" "$work/grid.npy" || fail "$image on $grid tiles has other bits"
    done
done
[ "$(wc -c <"$work/one.npy")" = $((128 + 5 * 4 * 60 * 50)) ] || fail "the size of the output"

# Less memory than the image and its derivatives need: the image streams, and the output says so.
filter "$work/u8.npy" -o "$work/one.npy" --sigma 3 --ranks 1 >/dev/null
filter "$work/u8.npy" -o "$work/strips.npy" --sigma 3 --ranks 2 --memory 1 --json="$work/json" >"$work/text"
cmp "$work/one.npy" "$work/strips.npy" || fail "streamed, it has other bits"
grep -Eq '^[1-9][0-9]* windows of [0-9]+ rows, (0|1)\.[0-9] MiB' "$work/text" || fail "memory is not reported"
grep -q '"operation": "filter"' "$work/json" || fail "no JSON"

# Without --ranks, each tile of a grid has a thread.
filter "$work/u8.npy" -o "$work/many.npy" --sigma 3 --grid 3x5 >"$work/text"
grep -q 'on 15 ranks of threads' "$work/text" || fail "a grid of 15 tiles: $(head -n 1 "$work/text")"
filter "$work/u8.npy" -o "$work/one.npy" --sigma 3 --ranks 1 >/dev/null
cmp "$work/one.npy" "$work/many.npy" || fail "a grid of 15 tiles has other bits"
# The constant of a border may be below all samples.
filter "$work/u8.npy" -o "$work/one.npy" --border constant --border-value -3.5 >/dev/null || fail "-3.5 beyond the border"

# Other features and borders, also over MPI.
features=gradient-magnitude,laplacian,hessian-larger,hessian-smaller,smooth,xxy
filter "$work/u8.npy" -o "$work/one.npy" --ranks 1 --derivatives $features --border mirror >/dev/null
filter "$work/u8.npy" -o "$work/many.npy" --ranks 4 --derivatives $features --border mirror >/dev/null
cmp "$work/one.npy" "$work/many.npy" || fail "features have other bits"
if [ -n "${MPIRUN:-}" ]; then
    $MPIRUN -n 3 "$SEXTANT" filter "$work/u8.npy" -o "$work/mpi.npy" --derivatives $features \
        --border mirror --memory 2 >/dev/null
    cmp "$work/one.npy" "$work/mpi.npy" || fail "over MPI it has other bits"
    for shared in on off auto; do
        $MPIRUN -n 3 "$SEXTANT" filter "$work/u8.npy" -o "$work/mpi.npy" --derivatives $features \
            --border mirror --memory 2 --shared-memory $shared --json="$work/json" >"$work/text"
        cmp "$work/one.npy" "$work/mpi.npy" || fail "with shared memory $shared it has other bits"
        case $shared in on) used=true ;; off) used=false ;; auto) used='[a-z]*' ;; esac
        grep -q "\"used\": $used," "$work/json" || fail "shared memory $shared: $(cat "$work/json")"
        grep -Eq '^(shared memory|messages) within nodes \((requested|predicted .* ms|chosen by rule, .*)\)$' "$work/text" ||
            fail "the exchange within nodes is not reported"
    done
fi

# A saved plan is used instead of a prediction.
filter "$work/u16.npy" -o "$work/one.npy" --ranks 4 --plan "$work/plan.json" --report "$work/page.html" >/dev/null
grep -q "2x2 tiles" "$work/page.html" || fail "the page does not show every grid"
sed 's/^  "columns": [0-9]*/  "columns": 4/; s/^  "rows": [0-9]*/  "rows": 1/' "$work/plan.json" >"$work/other.json"
filter "$work/u16.npy" -o "$work/many.npy" --ranks 4 --plan "$work/other.json" |
    grep -q "^4x1 tiles, .* (the plan of $work/other.json)" || fail "the plan was not followed"
cmp "$work/one.npy" "$work/many.npy" || fail "by a plan it has other bits"

# Fewer ranks than available, rank 0 reading for all, collectives, packing: the same bits.
sed 's/^  "columns": [0-9]*/  "columns": 2/; s/^  "rows": [0-9]*/  "rows": 1/; s/^  "packs": [a-z]*/  "packs": true/
    s/^  "distribute": [^,]*/  "distribute": "binomial-scatter"/; s/^  "collect": [^,]*/  "collect": "flat-gather"/' \
    "$work/plan.json" >"$work/other.json"
filter "$work/u16.npy" -o "$work/many.npy" --ranks 4 --plan "$work/other.json" |
    grep -q "^2x1 tiles, binomial-scatter, flat-gather, packed (" || fail "the plan was not followed in all"
cmp "$work/one.npy" "$work/many.npy" || fail "other bits with another plan"
sed 's/"distribute": "binomial-scatter"/"distribute": null/' "$work/other.json" >"$work/plan.json"
filter "$work/u16.npy" -o "$work/many.npy" --ranks 4 --plan "$work/plan.json" |
    grep -q "^2x1 tiles, each rank reads its own tile, " || fail "the plan does not choose the reading ranks"
cmp "$work/one.npy" "$work/many.npy" || fail "by a plan that has ranks read it has other bits"
for how in scatter broadcast 2-lev-rec-scatter; do
    filter "$work/u16.npy" -o "$work/many.npy" --ranks 4 --grid 2x2 --distribute $how >"$work/text"
    grep -Eq '^2x2 tiles, .*(scatter|broadcast), ' "$work/text" || fail "--distribute $how is not done"
    cmp "$work/one.npy" "$work/many.npy" || fail "by $how it has other bits"
done
if [ -n "${MPIRUN:-}" ]; then
    # Only rank 0 finds the image: the other ranks run in another folder.
    mkdir "$work/here" "$work/there"
    cp "$work/u16.npy" "$work/here"
    $MPIRUN -n 1 -wdir "$work/here" "$SEXTANT" filter u16.npy -o out.npy : \
        -n 2 -wdir "$work/there" "$SEXTANT" filter u16.npy -o out.npy >"$work/said" 2>&1 || fail "$(cat "$work/said")"
    grep -q 'warning: u16.npy is available on rank 0 only' "$work/said" || fail "the reading ranks are not reported"
    cmp "$work/one.npy" "$work/here/out.npy" || fail "distributed over MPI it has other bits"
fi

# Several filters, one after the other, also in windows.
chain() { filter "$work/u8.npy" --before smooth@2,x@1.5 --sigma 1 --derivatives laplacian,y "$@"; }
chain -o "$work/one.npy" --ranks 1 >/dev/null
chain -o "$work/many.npy" --ranks 6 --grid 2x3 --memory 1 >"$work/text"
grep -q '^[2-9] windows' "$work/text" || fail "a chain is not streamed"
cmp "$work/one.npy" "$work/many.npy" || fail "a chain has other bits in windows"

# A plan may change the tiles between filters.
chain -o "$work/many.npy" --ranks 6 --grid 2x3 --plan "$work/chain.json" >/dev/null
sed 's/^  "packs": [a-z]*/&, "retilings": [{"filter": 2, "columns": 6, "rows": 1}, {"filter": 3, "columns": 1, "rows": 5}]/' \
    "$work/chain.json" >"$work/tiles.json"
for window in 307 100; do
    sed "s/^  \"window\": [0-9]*/  \"window\": $window/" "$work/tiles.json" >"$work/plan.json"
    chain -o "$work/many.npy" --ranks 6 --plan "$work/plan.json" --report "$work/page.html" >"$work/text"
    grep -q '^2x3 tiles, then 6x1 from filter 2, then 1x5 from filter 3, each rank' "$work/text" ||
        fail "tiles do not change as planned: $(cat "$work/text")"
    cmp "$work/one.npy" "$work/many.npy" || fail "other bits if tiles change, windows of $window rows"
    grep -q 'The tiles of filter 3 and of later filters' "$work/page.html" || fail "the page does not show all tiles"
    [ -n "${MPIRUN:-}" ] || continue
    $MPIRUN -n 6 "$SEXTANT" filter "$work/u8.npy" --before smooth@2,x@1.5 --derivatives laplacian,y \
        -o "$work/mpi.npy" --plan "$work/plan.json" >/dev/null
    cmp "$work/one.npy" "$work/mpi.npy" || fail "other bits over MPI if tiles change"
done
filter "$work/u8.npy" -o "$work/first.tif" --sigma 2 --derivatives smooth >/dev/null
filter "$work/first.tif" -o "$work/second.tif" --sigma 1.5 --derivatives x >/dev/null
filter "$work/second.tif" -o "$work/many.npy" --sigma 1 --derivatives laplacian,y >/dev/null
cmp "$work/one.npy" "$work/many.npy" || fail "a chain is not its filters one after another"

# Predicted and measured times.
filter "$work/u8.npy" -o "$work/many.npy" --ranks 2 --json="$work/json" >"$work/text"
grep -q 'filter .* ms (predicted [0-9.]*)' "$work/text" || fail "no prediction with the measurement"
grep -q '"predicted": {' "$work/json" || fail "no prediction in JSON"

# Other formats: the same input numbers, the same output. Other sample types are converted to
# floats.
"$SEXTANT" filter "$work/u16.npy" -o "$work/tiles.tif" --derivatives smooth,x --ranks 1 >/dev/null
"$SEXTANT" info "$work/tiles.tif" | grep -q 'frames *2$' || fail "TIFF has not two planes"
filter "$work/u16.npy" -o "$work/planes.npy" --derivatives smooth,x --ranks 1 >/dev/null
for frame in 0 1; do
    filter "$work/tiles.tif" --frame $frame -o "$work/one.npy" --ranks 1 >/dev/null
    filter "$work/planes.npy" --frame $frame -o "$work/many.npy" --ranks 3 >/dev/null
    cmp "$work/one.npy" "$work/many.npy" || fail "frame $frame of TIFF and NPY differ"
done
npy "$work/i8.npy" '|i1' '20, 30' 600
filter "$work/i8.npy" -o "$work/one.npy" --ranks 1 >/dev/null
filter "$work/i8.npy" -o "$work/many.npy" --ranks 4 >/dev/null
cmp "$work/one.npy" "$work/many.npy" || fail "signed samples have other bits"
tail -c 600 "$work/i8.npy" >"$work/i8.raw"
filter "$work/i8.raw::30x20,i8" -o "$work/many.npy" --ranks 2 >/dev/null
cmp "$work/one.npy" "$work/many.npy" || fail "without a header it has other bits"

# NaN spreads to its neighbourhood, and is counted.
npy "$work/nan.npy" '<f4' '8, 8' 0
head -c 252 /dev/zero >>"$work/nan.npy"
printf '\000\000\300\177' >>"$work/nan.npy"
filter "$work/nan.npy" -o "$work/out.npy" --ranks 2 2>"$work/said" >/dev/null
grep -q '1 samples are not numbers (NaN)' "$work/said" || fail "NaN is not counted"
# More ranks than rows, and an image smaller than the kernel: some ranks are idle.
filter "$work/nan.npy" -o "$work/out.npy" --ranks 9 --grid 1x9 --sigma 5 2>"$work/said" >/dev/null
grep -q 'some ranks are idle' "$work/said" || fail "idle ranks are not reported"
rm "$work/out.npy"

# refuses CODE TEXT ARGUMENTS...: also checks that no output is left.
refuses() {
    code=$1 text=$2
    shift 2
    status=0
    timeout 250 "$SEXTANT" filter "$@" -o "$work/out.npy" >"$work/said" 2>&1 || status=$?
    [ $status = "$code" ] || fail "$*: exit code $status, expected $code"
    grep -q -- "$text" "$work/said" || { cat "$work/said"; fail "$*: expected '$text'"; }
    [ ! -e "$work/out.npy" ] || fail "$*: left an output"
}
# --- Kernels by name, with the same bits on any grid.
for kernel in 'p3pc' 'gaussian --truncate 4' 'gaussian --truncate 0'; do
    set -- $kernel
    filter "$work/u8.npy" -o "$work/one.npy" --sigma 3 --ranks 1 --kernel "$@" --json="$work/json" >/dev/null
    filter "$work/u8.npy" -o "$work/many.npy" --sigma 3 --ranks 6 --grid 2x3 --kernel "$@" >"$work/text"
    cmp "$work/one.npy" "$work/many.npy" || fail "$kernel on 2x3 tiles has other bits"
    grep -q "at sigma 3, kernel $1" "$work/text" && grep -q "\"kernel\": \"$1" "$work/json" ||
        fail "the kernel is not printed: $(cat "$work/text")"
done

npy "$work/complex.npy" '<c8' '8, 8' 512
npy "$work/cube.npy" '|u1' '2, 4, 8' 64
npy "$work/short.npy" '|u1' '8, 8' 63
npy "$work/wide.npy" '<f4' '1, 200000' 800000
head -c 40 "$work/u8.npy" >"$work/cut.npy"
refuses 2 'derivative x: the scale along x is 0.1 pixels, expected 0.5 to 1000' "$work/u8.npy" --sigma .1
refuses 2 'sigma 2000: expected a number from 0 to 1000' "$work/u8.npy" --sigma 2000
refuses 2 'truncate 30: expected a number from 0 to 20' "$work/u8.npy" --truncate 30
refuses 2 '--truncate has no effect here: the kernel p3pc has a fixed size' "$work/u8.npy" --truncate 4 --kernel p3pc
refuses 2 "kernel" "$work/u8.npy" --kernel box
refuses 2 "derivative 'xz'" "$work/u8.npy" --derivatives x,xz
refuses 2 'is requested twice' "$work/u8.npy" --derivatives xy,yx
refuses 2 'expected an order of at most 4 along each axis' "$work/u8.npy" --derivatives yyyyy
refuses 2 '--grid 2x2: 4 tiles, expected one for each of the 3 ranks' "$work/u8.npy" --ranks 3 --grid 2x2
filter "$work/u16.npy" -o "$work/one.npy" --ranks 4 --grid 2x2 --plan "$work/fresh.json" >/dev/null
refuses 2 '--grid 4x1: the plan .*fresh.json has 2x2 tiles; omit' "$work/u16.npy" --ranks 4 --grid 4x1 --plan "$work/fresh.json"
refuses 2 '--grid 99x99: 9801 tiles, expected 1024 or fewer' "$work/u8.npy" --grid 99x99
refuses 2 '--border-value has no effect here: expected --border constant' "$work/u8.npy" --border mirror --border-value 3
refuses 2 "unknown collective algorithm 'pigeon'" "$work/u8.npy" --ranks 2 --distribute pigeon
refuses 2 'flat-gather cannot distribute: it performs gather' "$work/u8.npy" --ranks 2 --distribute flat-gather
refuses 2 '--before smooth: expected' "$work/u8.npy" --before smooth
refuses 2 '--before smooth@x: expected' "$work/u8.npy" --before smooth@x
refuses 2 '--before smooth@9000: the scale along x is 9000 pixels, expected 0 to 1000' "$work/u8.npy" --before smooth@9000
refuses 2 "derivative 'z'" "$work/u8.npy" --before z@1
refuses 2 '--grid 2by2: expected WIDTHxHEIGHT' "$work/u8.npy" --ranks 4 --grid 2by2
refuses 2 'one row of 200000 samples' "$work/wide.npy" --memory 1
refuses 1 '<c8' "$work/complex.npy"
refuses 1 'frame 2 of .* does not exist: the series has 2' "$work/cube.npy" --frame 2
refuses 1 'short.npy' "$work/short.npy"
refuses 1 'cut.npy' "$work/cut.npy"
refuses 1 'is not of a known frame format' "$SEXTANT"
refuses 1 'nothing.npy' "$work/nothing.npy"
echo '{"plan_version": 1, "operation": "filter", "columns": 3, "rows": 2, "window": 5}' >"$work/bad.json"
refuses 1 '3x2 tiles: expected at most one tile for each of the 4 ranks' "$work/u8.npy" --ranks 4 --plan "$work/bad.json"
refuses 1 'retilings\[0\].filter is 2, expected a whole number from 1 to 1' "$work/u8.npy" --ranks 6 --plan "$work/tiles.json"
refuses 2 'shared-memory off: ranks are threads' "$work/u8.npy" --ranks 2 --shared-memory off
# A file that shrinks while it is read, in tens of thousands of windows; it has no data on the disk.
shrinks() {
    printf '\223NUMPY\001\000\166\000%-117s\n' \
        "{'descr': '|u1', 'fortran_order': False, 'shape': (4000000, 50), }" >"$work/tall.npy"
    truncate -s 200000128 "$work/tall.npy"
    "$SEXTANT" filter "$work/tall.npy" -o "$work/out.npy" --derivatives smooth --memory 1 --sigma 100 \
        "$@" >"$work/said" 2>&1 &
    run=$!
    # The output has no name until it is complete.
    until ls -l /proc/$run/fd 2>/dev/null | grep -q deleted; do
        kill -0 $run 2>/dev/null || fail "ended before the file shrank: $(cat "$work/said")"
    done
    truncate -s 5000 "$work/tall.npy"
    status=0
    wait $run || status=$?
    [ $status = 1 ] || fail "a file that shrinks: exit code $status"
    grep -Eq "tall.npy: .*(the file shrank while it was read|truncated)" "$work/said" || fail "a file that shrinks: $(cat "$work/said")"
    [ ! -e "$work/out.npy" ] || fail "a file that shrinks left an output"
}
shrinks --ranks 1
shrinks --ranks 3
for name in out.png out.jpg out.txt; do
    status=0
    "$SEXTANT" filter "$work/u8.npy" -o "$work/$name" >"$work/said" 2>&1 || status=$?
    [ $status = 2 ] && grep -q "$name" "$work/said" && [ ! -e "$work/$name" ] || fail "took $name"
done
echo "filters are the same everywhere"
