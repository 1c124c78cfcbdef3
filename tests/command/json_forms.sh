#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The output of every command with --json, and every JSON file that a command reads or writes, matches a
# table of fields in docs.
. "$(dirname "$0")/start.sh"
here=$(cd "$(dirname "$0")" && pwd)
cd "$folder"

# json COMMAND...: runs a command with --json, and adds its name to $ran.
ran=
json() {
    status=0
    "$SEXTANT" "$@" --json >said 2>&1 || status=$?
    case "$status $1" in "0 "* | "1 doctor" | "1 machine") ;; *) fail "$*: $(cat said)" ;; esac
    ran="$ran $1 "
}
"$SEXTANT" synthesize -o movie.npy --frames 5 --width 64 --height 64 --warp 1 >said
"$SEXTANT" synthesize -o image.npy --frames 1 --width 64 --height 64 --specimen carbon >said
json composite "$SAMPLE" -o brain.png --ranks 2 --plan plan.json --trace trace.json
json filter image.npy -o planes.npy --ranks 2 --plan filter.json --derivatives x
json filter movie.npy -o volume.npy --sigma 1 --derivatives x
json label image.npy -o labels.npy
json label movie.npy -o labels3.npy
json measure labels3.npy -o regions.csv
printf 'file,z,y,x\nlabels.npy,0,0,0\nlabels.npy,0,0,64\n' >blocks.csv
json stitch blocks.csv -o joined.npy
json contours image.npy -o lines.geojson --ranks 2
json register movie.npy -o aligned --aligned --model nonrigid
json register movie.npy -o by_rows --scan-rows --ranks 2
json info movie.npy
# On a busy machine, some costs are not measured in a short time, which is said.
for budget in 2 20 200; do
    json calibrate --launches 1 --budget ${budget}s -o here.json
    "$SEXTANT" calibrate --check here.json --json >said 2>&1 && break
    grep -q 'has no costs of whole messages .*; calibrate with a longer --budget' said || fail "calibrate --check: $(cat said)"
    [ "$budget" != 200 ] || fail "calibrate --budget ${budget}s: $(cat said)"
done
json machine show here.json
json machine show das
json machine check here.json
json machine diff here.json here.json
json doctor
json list
json explain composite --ranks 6
json explain filter --size 100x80 --ranks 4
json explain scan
json predict compositing --algorithm direct-send --ranks 5 --machine ddr-infiniband
json simulate compositing --algorithm radix-k --ranks 4 --platform crossbar-12 --clock
json prove compositing --ranks 1..4
json prove scan --ranks 1..4
"$SEXTANT" evaluate --platform crossbar-12 --ranks 4 -o evaluation.json >said
echo '{"cases": [{"width": 64, "height": 64, "algorithms": ["radix-k"]}]}' >composite_cases.json
echo '{"cases": [{"width": 40, "height": 30, "derivatives": ["x"], "most": 2}]}' >filter_cases.json
echo '{"cases": [{"collective": "gather", "tiles": true, "sizes": [64]}]}' >collective_cases.json
echo '{"cases": [{"values": 9, "times": {"mean": 0.0001}, "algorithms": ["sklansky"]}]}' >scan_cases.json
for kind in composite filter collective scan; do
    json bench $kind --cases ${kind}_cases.json --ranks 2 --rounds 5
done
without_mpi="tune tune-once"
if [ -n "${MPIRUN:-}" ]; then
    without_mpi=
    $MPIRUN -n 2 "$SEXTANT" tune --once --collectives bcast --sizes 64 --rounds 3 --algorithms default --json >said
    "$SEXTANT" tune --launcher "$MPIRUN -n 2" -o rules --collectives bcast --sizes 64,4096 --launches 2 --pairs 2 \
        --rounds 3 --json=tuned.json >said 2>&1 || fail "tune: $(cat said)"
    ran="$ran tune "
fi

if "$SEXTANT" reproduce --help >said 2>&1; then
    json reproduce work-stealing
else # sanitizers run without the papers
    without_mpi="$without_mpi reproduce"
fi

# Fails if a command with --json did not run above.
"$SEXTANT" --help | sed -n 's/^  \([a-z]*\) .*/\1/p' >commands
while read -r command; do
    case "$ran $without_mpi" in *" $command "*) continue ;; esac
    ! "$SEXTANT" "$command" --help 2>&1 | grep -q '^  --json' || fail "$command --json was not tried"
done <commands

cp "$SAMPLE" manifest.json
cp "$SOURCE"/platforms/*.json "$SOURCE"/machines/*.json .
/usr/bin/python3 -B "$here/json_forms.py" "$SOURCE" "$folder" "$printed" -- $without_mpi || fail "the schemas"
