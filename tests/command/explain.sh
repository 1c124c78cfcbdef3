#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Plans: explained for other machines, saved, reused, refused.
. "$(dirname "$0")/start.sh"
work=$folder

# Every shipped machine has the parameters of some model.
for machine in das delta256 ddr-infiniband blue-gene-p; do
    "$SEXTANT" explain composite --ranks 16 --distributed --machine "$MACHINES/$machine.json" >"$work/text"
    grep -q "fastest of .* on $machine" "$work/text" || fail "no choice on $machine"
done
grep -q ' by c3 on delta256' <<X || fail "delta256 is not charged by C3"
$("$SEXTANT" explain --ranks 16 --distributed --machine "$MACHINES/delta256.json")
X
"$SEXTANT" explain --ranks 4096 --distributed | grep -q 'bound only' || fail "no bounds for 4096 ranks"
SEXTANT_MACHINE=$MACHINES/das.json "$SEXTANT" explain --ranks 4 | grep -q 'on das' || fail "SEXTANT_MACHINE"

# For sparse images, messages skip empty pixels, and the predicted saving is shown.
little=$("$SEXTANT" explain --ranks 64 --distributed --density .05 --machine "$MACHINES/das.json")
echo "$little" | grep -q ', sparse: .*; 5 % active: sparse .* ms, dense .* ms' || fail "5 % active pixels are sent as 100 %"
"$SEXTANT" explain --ranks 64 --distributed | grep -q 'sparse' && fail "sparse messages for a dense image"
"$SEXTANT" explain --density 1.01 2>"$work/text" && fail "a density of 1.01 is accepted"
grep -q -- '--density' "$work/text" || fail "density 1.01: $(cat "$work/text")"

"$SEXTANT" explain scan --values 64 --cores 4 --times correlated >"$work/text"
grep -q 'rank' "$work/text" || fail "no scan is explained"
"$SEXTANT" explain scan --values 16 --cores 2 --json | grep -q '"candidates"' || fail "no JSON of a scan"

# Ranks are placed as in the profile, unless options say otherwise.
threads=$work/threads.json
cat >"$threads" <<X
{"version": 1, "name": "threads", "transport": "threads", "date": "2026", "method": "made up", "links": [
 {"link": "same process", "hockney": {"latency": 1e-6, "seconds_per_byte": 1e-9}},
 {"link": "other node", "hockney": {"latency": 1e-3, "seconds_per_byte": 1e-9}}]}
X
for what in composite 'filter --size 64 --sigma 1'; do
    # shellcheck disable=SC2086 # arguments
    explain() { "$SEXTANT" explain $what --ranks 2 --json --machine "$threads" "$@"; }
    explain >"$work/own"
    explain --transport threads | cmp -s - "$work/own" || fail "$what: no threads by a profile of threads"
    if explain --transport mpi | cmp -s - "$work/own"; then fail "$what: threads cost as much as nodes"; fi
done

# A saved plan is used instead of a prediction.
composite() { "$SEXTANT" composite "$SAMPLE" -o "$work/brain.exr" "$@"; }
composite --plan "$work/plan.json" | grep -q 'on a built-in machine' || fail "no prediction"
grep -q '"candidates"' "$work/plan.json" || fail "the plan has no candidates"
sed 's/"algorithm": "[a-z-]*",/"algorithm": "binary-tree",/;s/"window": [0-9]*,/"window": 0,/' \
    "$work/plan.json" | sed 's/"radices": \[[^]]*\]/"radices": []/' >"$work/other.json"
composite --plan "$work/other.json" | grep -q "^binary-tree (the plan of $work/other.json" ||
    fail "the plan was not followed"

refused() { # CODE TEXT ARGUMENTS...
    code=$1 text=$2
    shift 2
    status=0
    "$@" >"$work/out" 2>&1 || status=$?
    [ "$status" = "$code" ] || fail "exit code $status of $*"
    grep -q "$text" "$work/out" || fail "$* prints: $(cat "$work/out")"
    [ "$(wc -l <"$work/out")" -le 3 ] || fail "$* prints more than one line"
}
sed 's/binary-tree/binary-tee/' "$work/other.json" >"$work/wrong.json"
refused 1 "wrong.json: .*algorithm.*binary-tee" composite --plan "$work/wrong.json"
sed 's/"plan_version": 1/"plan_version": 2/' "$work/other.json" >"$work/wrong.json"
refused 1 "newer version" composite --plan "$work/wrong.json"
refused 1 "none.json" composite --machine "$work/none.json"
refused 2 "size" "$SEXTANT" explain --size 10x
refused 2 "size" "$SEXTANT" explain --size 0
refused 2 "did you mean hockney" "$SEXTANT" explain --model hocney
filter() { # as in the P-3PC paper
    "$SEXTANT" explain filter --machine "$MACHINES/das.json" --model p3pc --kernel p3pc --ranks 16 \
        --size 512x512 "$@"
}
filter --sigma 3 >"$work/filter"
grep -q "^filter 512x512 pixels, x, y, xx, xy, yy at sigma 3, kernel p3pc, margin 12$" "$work/filter" ||
    fail "the filters: $(cat "$work/filter")"
grep -q "^1x16 tiles, .*: fastest of 35" "$work/filter" || fail "no choice: $(cat "$work/filter")"
grep -q "in the file -> in 1x16 tiles: each rank reads its own tile" "$work/filter" || fail "no state before the filter"
grep -q "in 1x16 tiles -> on rank 0: planes sent directly to rank 0" "$work/filter" || fail "no state after the filter"
[ "$(filter --sigma 3 --all | grep -c '^  [0-9]*x[0-9]* ')" = 35 ] || fail "not every grid with every gather"
filter --sigma 3 --distribute scatter >"$work/filter"
grep -q "on rank 0 -> in .* tiles: .*-scatter" "$work/filter" || fail "no scatter: $(cat "$work/filter")"
filter --sigma 1 --before smooth@2,x@3 | grep -q "in 1x16 tiles -> in 1x16 tiles: borders, filter, 3 times" ||
    fail "no chain of filters"
"$SEXTANT" explain filter --machine "$MACHINES/das.json" --kernel p3pc --ranks 64 --size 512 --sigma 3 \
    --before smooth@3,smooth@3 \
    >"$work/filter"
grep -q "^8x8 tiles, then 1x64 from filter 3, " "$work/filter" || fail "tiles do not change: $(cat "$work/filter")"
grep -q "in 8x8 tiles -> in 8x8 tiles: borders, filter, 2 times" "$work/filter" || fail "no filters before the change"
grep -q "in 8x8 tiles -> in 1x64 tiles: redistribution" "$work/filter" || fail "no state of the change"
grep -q "in 1x64 tiles -> in 1x64 tiles: filter$" "$work/filter" || fail "no filter after the change"
filter --sigma 3 --json | grep -q '"plan_version"' || fail "no plan in JSON"
filter --grid 4x4 --derivatives xx --json | grep -q '"columns": 4' || fail "no JSON, or other tiles"
quick() { # the profile with a time for filters
    sed 's/"links"/"kernels": [{"name": "gaussian-derivatives", "seconds_per_element": '"$1"'}], "links"/' \
        "$MACHINES/das.json" >"$work/quick.json"
    "$SEXTANT" explain filter --ranks 4 --size 64 --machine "$work/quick.json"
}
quick 1e-9 | grep -q "^rank 0 alone: " || fail "the profile's kernels do not count"
quick 1e-3 | grep -q "^1x4 tiles, " || fail "fewer ranks are not considered"
margin() { "$SEXTANT" explain filter --ranks 4 --size 512 --sigma 5 --json "$@" | sed -n 's/.*"margin": \([0-9]*\).*/\1/p'; }
[ "$(margin)" = 27 ] && [ "$(margin --kernel p3pc)" = 19 ] && [ "$(margin --truncate 4)" = 20 ] ||
    fail "borders are not those of the kernel: $(margin) $(margin --kernel p3pc) $(margin --truncate 4)"
refused 2 "derivative 'z'" filter --derivatives x,z
refused 2 "the scale along x" filter --sigma .1
refused 2 "9 tiles, expected one for each of the 16 ranks" filter --grid 3x3
refused 2 "did you mean flat-scatter" filter --distribute flat-scater
refused 2 "distribute has no effect here: one rank has no choice" "$SEXTANT" explain filter --ranks 1 --distribute scatter
refused 2 "distributed has no effect here: only explain composite uses this option" filter --distributed
for option in "--sigma 2" "--kernel p3pc" "--truncate 4"; do
    for what in composite scan; do # shellcheck disable=SC2086
        refused 2 "only explain filter uses this option" "$SEXTANT" explain $what $option
    done
done
refused 2 "times" "$SEXTANT" explain scan --times sometimes
refused 2 "speedup" "$SEXTANT" explain scan --speedup 1,x
refused 1 "no C3 parameters" "$SEXTANT" explain --model c3 --machine "$MACHINES/das.json"

# Plans for volumes are those of `sextant filter`: boxes, windows of planes that fit in the memory, predictions.
planned() { "$SEXTANT" explain filter --size 64x48 --depth 40 --sigma 4,2,2 --derivatives x,zz "$@"; }
volume() { planned --ranks 4 "$@"; }
volume >"$work/text"
grep -q "^filter 64x48x40 voxels, x, zz at sigma 4,2,2, margin 10 in planes, 22 along z$" "$work/text" ||
    fail "the volume: $(cat "$work/text")"
grep -q "^  1 window of 40 planes, .* MiB for all ranks together$" "$work/text" || fail "no windows: $(cat "$work/text")"
grep -q "^  predicted:.*  filter [0-9]" "$work/text" || fail "no prediction: $(cat "$work/text")"
volume --grid 1x2x2 --memory 2200K >"$work/text"
grep -q "in 1x2x2 tiles -> on rank 0" "$work/text" && grep -q "^  [0-9]* windows of [0-9]* plane" "$work/text" ||
    fail "no windows of 1x2x2 tiles: $(cat "$work/text")"
{
    printf '\223NUMPY\001\000\166\000%-117s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': (40, 48, 64), }"
    head -c 491520 /dev/zero
} >"$work/zeros.npy"
for options in "--ranks 1" "--ranks 4" "--ranks 4 --memory 2" "--ranks 3 --memory 3 --distribute scatter"; do
    # shellcheck disable=SC2086 # options
    planned --transport threads $options --json="$work/plan.json" >/dev/null
    # shellcheck disable=SC2086 # options
    "$SEXTANT" filter "$work/zeros.npy" -o "$work/out.npy" --sigma 4,2,2 --derivatives x,zz $options \
        --json="$work/run.json" >/dev/null
    for field in '"columns"' '"rows"' '"layers"' '"window"' '"memory"'; do
        [ "$(grep -m 1 "$field" "$work/plan.json" | tr -d ' ,')" = "$(grep -m 1 "$field" "$work/run.json" | tr -d ' ,')" ] ||
            fail "$options: another plan than that of the filter: $field"
    done
done
volume --json | grep -q '"depth": 40' || fail "no depth in JSON"
refused 2 "sextant: --memory 20K is too small for one plane of 64x48 samples" volume --memory 20K
refused 2 "memory .*--depth" "$SEXTANT" explain filter --memory 20M
refused 2 "depth" "$SEXTANT" explain filter --depth 1
refused 2 "sextant: --sigma 2um: the size of a pixel is unknown" "$SEXTANT" explain filter --sigma 2um
refused 2 "8 tiles, expected one for each of the 4 ranks" volume --grid 2x2x2

# Plans for platforms consider their links; ranks fill nodes; platforms have no costs of filters.
"$SEXTANT" explain --ranks 128 --distributed --machine cluster-64x128 >"$work/text"
grep -q "^hierarchical radix-k\|^radix-k.* by p3pc-extended on cluster-64x128" "$work/text" ||
    fail "no choice on a platform: $(cat "$work/text")"
[ "$("$SEXTANT" explain --ranks 9 --machine das)" = "$("$SEXTANT" explain --ranks 9 --machine "$MACHINES/das.json")" ] ||
    fail "a machine by its name"
refused 2 "unknown machine or platform 'torus-4x4x5'; did you mean " "$SEXTANT" explain --machine torus-4x4x5
refused 2 "13 ranks, but .* has 12 cores" "$SEXTANT" explain --ranks 13 --machine crossbar-12-calibrated
refused 2 "transport .*: the platform specifies where ranks run" \
    "$SEXTANT" explain --transport mpi --machine torus-4x4x4
refused 2 "a platform has no filter costs" "$SEXTANT" explain filter --machine torus-4x4x4

# A race is decided by measured medians, which are shown and stored in the plan.
composite --race --plan "$work/raced.json" | grep -q "raced over [0-9]* frames: .* ms; .* ms" ||
    fail "no race"
grep -q '"raced_seconds"' "$work/raced.json" || fail "the medians are not stored"
composite --plan "$work/raced.json" | grep -q "the plan of .*: raced over" || fail "not repeated"
composite --race --algorithm direct-send 2>&1 | grep -q "warning: no race" ||
    fail "no warning without a race"

composite --machine "$MACHINES/das.json" 2>&1 | grep -q 'warning: .*das.json does not describe this machine: .*calibrate' ||
    fail "another machine's profile is used without a warning"
mkdir -p "$work/config/sextant/machines"
echo '{' >"$work/config/sextant/machines/threads.json"
composite 2>&1 | grep -q 'warning: .*threads.json' || fail "a damaged profile is ignored without a warning"
# A user who calibrated threads only is told that the plan for MPI does not use this profile.
cp "$threads" "$work/config/sextant/machines/threads.json"
"$SEXTANT" explain --ranks 2 2>&1 >/dev/null | grep -q 'sextant: planned for MPI.*--transport threads uses .*threads.json' ||
    fail "explain does not say that it ignores the profile of threads"
"$SEXTANT" explain --ranks 2 --transport threads 2>&1 | grep -q 'on threads' || fail "the profile of threads is not used"
rm "$work/config/sextant/machines/threads.json"
