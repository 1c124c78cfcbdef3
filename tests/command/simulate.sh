#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Simulations on the shipped platforms; without SimGrid the command names the missing package.
. "$(dirname "$0")/start.sh"
simulate() { "$SEXTANT" simulate "$@"; }

if simulate --platform dragonfly-864 2>&1 | grep -q "built if libsimgrid-dev is installed"; then
    simulate --ranks 4 --platform crossbar-12-calibrated 2>&1 | grep -q "own clock" ||
        fail "our own clock needs no SimGrid"
    exit 0
fi

# 11 messages of a twelfth of 4096 x 2048 pixels at 1827 x 2^20 bytes per second.
seconds=$(simulate compositing --algorithm shift-based --ranks 12 --elements 8388608 \
    --platform crossbar-12 --json | sed -n 's/.*"seconds": \([0-9.e-]*\),/\1/p')
awk "BEGIN { exit !($seconds > 0.0642 && $seconds < 0.0644) }" || fail "$seconds seconds"
# An option takes precedence over the platform's value, and the order of hosts matters.
slow=$(simulate --algorithm shift-based --ranks 12 --elements 8388608 --platform crossbar-12-calibrated \
    --blend-rate 1e6 --json | sed -n 's/.*"seconds": \([0-9.e-]*\),/\1/p')
awk "BEGIN { exit !($slow > 7.6) }" || fail "$slow seconds at a million pixels a second"
simulate --algorithm shift-based --ranks 144 --platform fat-tree-144 \
    --order fat-tree-144-alphabetical >/dev/null || fail "an order that is shipped"
simulate --ranks 4 --platform crossbar-12 --trace "$folder/run.svg" >/dev/null
grep -q '<svg' "$folder/run.svg" || fail "no chart of the run"
simulate --ranks 4 --platform crossbar-12 --trace - | grep -q '"name": "send"' || fail "no events"
simulate --ranks 4 --platform crossbar-12 --report "$folder/run.html" >/dev/null
grep -q 'class="timeline"' "$folder/run.html" || fail "no page of the run"

simulate --ranks 1 --platform crossbar-12 | grep -q "on 1 rank of" || fail "one rank"

# Operands are combined by arrival, as in the papers, unless in-order is requested; the output says
# which.
frames() {
    simulate --algorithm shift-based --ranks 144 --elements 8388608 --platform fat-tree-144-calibrated "$@" |
        tr '\n' ' ' | sed 's/.*operands combined \([a-z-]*\) .* ms per run, \([0-9.]*\) runs per second.*/\1 \2/'
}
frames >"$folder/frames.txt"
frames --association in-order >>"$folder/frames.txt"
awk 'NR == 1 { exit !($1 == "by-arrival" && $2 > 13.9 && $2 < 14.4) }' "$folder/frames.txt" &&
    awk 'NR == 2 { exit !($1 == "in-order" && $2 > 7.2 && $2 < 7.8) }' "$folder/frames.txt" ||
    fail "frames per second on the fat-tree: $(cat "$folder/frames.txt")"

# Sextant's own simulator agrees with SimGrid.
for clock in "" --clock; do
    simulate --algorithm direct-send --ranks 12 --platform crossbar-12-calibrated --json $clock |
        sed -n 's/.*"seconds": \([0-9.e-]*\),/\1/p'
done >"$folder/both.txt"
awk '{ t[NR] = $1 } END { exit !(NR == 2 && t[1] > 0 && t[2] / t[1] > .99 && t[2] / t[1] < 1.01) }' \
    "$folder/both.txt" || fail "the clock and SimGrid: $(cat "$folder/both.txt")"

# The planner's choices, evaluated in simulation; the output can be evaluated again, and mapped.
for ranks in 4 6; do
    "$SEXTANT" evaluate --platform crossbar-12-calibrated --ranks $ranks -o "$folder/$ranks.json" >"$folder/$ranks.txt"
    grep -q "4 cases on $ranks ranks of crossbar-12-calibrated" "$folder/$ranks.txt" || fail "no heading"
    grep -q "the planner" "$folder/$ranks.txt" || fail "no regret"
done
"$SEXTANT" evaluate --platform crossbar-12-calibrated --ranks 6 --clock --ways 4 |
    grep -q "the planner" || fail "no regret by the clock"
"$SEXTANT" evaluate --judge "$folder/4.json" "$folder/6.json" --map "$folder/map.svg" |
    grep -q "^| 6 ranks |" || fail "no table of winners"
grep -q '<svg' "$folder/map.svg" || fail "no map of winners"
"$SEXTANT" evaluate --platform crossbar-12-calibrated --ranks 13 2>&1 |
    grep -q "13 ranks, but" || fail "more ranks than hosts"

# If the command is killed, its simulator process ends too. This simulation takes minutes.
within_a_minute() {
    for wait in $(seq 300); do
        "$@" && return
        sleep .2
    done
    return 1
}
has_child() { child=$(pgrep -P "$parent"); }
is_gone() { ! grep -qs '^State:[[:space:]]*[^ZX]' "/proc/$child/status"; }
if command -v pgrep >/dev/null; then
    "$SEXTANT" simulate --algorithm direct-send --ranks 256 --platform torus-8x8x4 >/dev/null 2>&1 &
    parent=$!
    within_a_minute has_child || fail "no simulator was started"
    kill -KILL $parent
    within_a_minute is_gone || fail "the simulator survives the command"
fi

# Wrong input gives a message and exit code 1 or 2, and leaves no output.
refused() {
    code=$1 expected=$2 status=0
    shift 2
    message=$(simulate "$@" 2>&1) || status=$?
    [ "$status" = "$code" ] || fail "exit code $status for $*"
    case $message in *"$expected"*) ;; *) fail "'$expected' is not in: $message" ;; esac
}
refused 2 "did you mean crossbar-12" --platform crossbar-13
refused 2 "13 ranks, but" --ranks 13 --platform crossbar-12
refused 2 "expected a number from 0 to 1" --platform crossbar-12 --send-overhead nan
printf "n0\nn0\n" >"$folder/order.txt"
refused 1 "order.txt: line 2 lists 'n0' again" --platform crossbar-12 --order "$folder/order.txt"
printf "n0\nnowhere\n" >"$folder/order.txt"
for clock in "" --clock; do
    refused 2 "order.txt: line 2 names 'nowhere', expected a host of" \
        --platform crossbar-12-calibrated --order "$folder/order.txt" $clock
    refused 2 "13 ranks, but" --ranks 13 --platform crossbar-12-calibrated $clock
done
refused 1 "dragonfly-864.xml: is a SimGrid platform; --clock requires a platform in JSON" --platform dragonfly-864 --clock
simulate --ranks 4 --platform dragonfly-864 | grep -q "on 4 ranks of" || fail "a platform of SimGrid"
echo "{" >"$folder/wrong.json"
refused 1 "wrong.json: is not JSON" --platform "$folder/wrong.json"
