#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Predictions: by one model or all, on the shipped machines.
. "$(dirname "$0")/start.sh"
predict() { "$SEXTANT" predict "$@"; }

"$SEXTANT" list models | grep -q p3pc-extended || fail "list models"

# 12 nodes blend 4096 x 2048 pixels with Shift-Based: 11 messages of one twelfth each.
seconds=$(predict compositing --algorithm shift-based --ranks 12 --elements 8388608 \
    --machine "$MACHINES/ddr-infiniband.json" --model hockney --json |
    sed -n 's/.*"seconds": \([0-9.e-]*\),/\1/p')
awk "BEGIN { exit !($seconds > 0.0652 && $seconds < 0.0653) }" || fail "$seconds seconds"

# On a platform messages share its links: the prediction equals the simulation.
seconds() { sed -n 's/.*"seconds": \([0-9.e-]*\),/\1/p'; }
way="compositing --algorithm radix-k --radices 4,4 --ranks 16 --elements 1048576"
predicted=$(predict $way --machine torus-4x4x2 --model p3pc-extended --json | seconds)
simulated=$("$SEXTANT" simulate $way --platform torus-4x4x2 --association in-order --clock --json | seconds)
alone=$(predict $way --machine torus-4x4x2 --model p3pc --json | seconds)
awk "BEGIN { exit !($predicted > .98 * $simulated && $predicted < 1.02 * $simulated && $alone < .9 * $simulated) }" ||
    fail "predicted $predicted, alone $alone, simulated $simulated"

# Every model predicts, or states why it cannot.
all=$(predict collective --algorithm flat-scatter --ranks 16 --element-size 4 \
    --machine "$MACHINES/das.json")
for model in hockney loggp loggp-star 3pc p3pc p3pc-extended c3; do
    printf '%s\n' "$all" | grep -q "^$model " || fail "no answer of $model"
done
printf '%s\n' "$all" | grep -q "^c3 .*does not apply: the profile of das has no C3 parameters" ||
    fail "c3 on das"

# Squares of 7 x 7 processors cannot be equal: C3 charges each separately, 11.8 ms. With equal
# squares the whole machine would be charged, 13.4 ms.
seconds=$(predict collective --algorithm 3-lev-sq-gather --ranks 49 --elements 65536 \
    --element-size 1 --machine "$MACHINES/delta256.json" --model c3 --json |
    sed -n 's/.*"seconds": \([0-9.e-]*\),/\1/p')
awk "BEGIN { exit !($seconds > 0.0115 && $seconds < 0.0121) }" || fail "c3: $seconds seconds"

# With gamma = .5, logp-lev-rec is logp-lev-sq; with 16 parts, 2-lev-rec divides 256 ranks into rows.
on_delta() { predict collective --ranks 256 --elements 65536 --element-size 1 \
    --machine "$MACHINES/delta256.json" --model c3 --json "$@" | seconds; }
[ "$(on_delta --algorithm logp-lev-rec-scatter --gamma .5)" = "$(on_delta --algorithm logp-lev-sq-scatter)" ] ||
    fail "gamma .5"
[ "$(on_delta --algorithm 2-lev-rec-gather --alpha .5)" = "$(on_delta --algorithm 2-lev-rec-gather)" ] ||
    fail "alpha .5"
[ "$(on_delta --algorithm 2-lev-rec-gather --alpha .75)" != "$(on_delta --algorithm 2-lev-rec-gather)" ] ||
    fail "alpha .75"

# It is a failure if the only requested model cannot predict; a wrong name is a usage error.
status=0; predict collective --machine "$MACHINES/das.json" --model c3 >/dev/null || status=$?
[ "$status" = 1 ] || fail "exit code $status for a schedule that no model describes"
status=0; predict --machine "$MACHINES/das.json" --model p4pc 2>/dev/null || status=$?
[ "$status" = 2 ] || fail "exit code $status for an unknown model"
status=0; message=$(predict --machine "$MACHINES/das.json" --operator ovr 2>&1) || status=$?
case "$status $message" in "2 "*ovr*over*) ;; *) fail "an unknown operator: $status $message" ;; esac
status=0; message=$(predict --machine "$MACHINES/none.json" 2>&1) || status=$?
[ "$status" = 1 ] || fail "exit code $status for a missing file"
case $message in *none.json*) ;; *) fail "a missing machine is not named: $message" ;; esac
