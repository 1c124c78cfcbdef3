#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Benchmarks of scans: on threads, over MPI, on the simulated clock.
. "$(dirname "$0")/start.sh"
cat > "$folder/cases.json" <<'CASES'
{"cases": [{"values": 9, "threads": [1, 2], "algorithms": ["sklansky"],
            "times": {"kind": "exponential", "mean": 0.0001}}]}
CASES

"$SEXTANT" bench scan --cases "$folder/cases.json" --ranks 2 --rounds 5 \
    --report "$folder/r.html" --json="$folder/r.json" | grep -q "boundaries moving" || fail "no row of stealing"
grep -q "<svg" "$folder/r.html" || fail "no picture"
grep -q "Idle fraction of the cores" "$folder/r.html" || fail "no page"
grep -q '"trace_of_fastest"' "$folder/r.json" || fail "no trace"

"$SEXTANT" bench scan --simulated --cases "$folder/cases.json" --ranks 3000 --rounds 5 |
    grep -q "3000 ranks over a simulated clock" || fail "no simulated clock"

if [ -n "${MPIRUN:-}" ]; then
    table=$($MPIRUN -n 3 "$SEXTANT" bench scan --cases "$folder/cases.json" --rounds 5)
    for row in mpi-scan mpi-exscan mpi-iscan mpi-iexscan reduce-then-scan; do
        printf '%s\n' "$table" | grep -q "^  $row" || fail "no row of $row"
    done
fi

# An operator that takes too long ends every process; the message names its elements.
sed 's/0.0001}/3000}, "time_limit": 0.2, "baselines": false/' "$folder/cases.json" > "$folder/slow.json"
status=0
told=$(timeout 250 "$SEXTANT" bench scan --cases "$folder/slow.json" --rounds 5 2>&1) || status=$?
[ "$status" = 1 ] || fail "exit code $status after the time limit"
printf '%s\n' "$told" | grep -q "combining elements .* takes longer than the limit of 0.2 s" ||
    fail "the elements are not named: $told"
if [ -n "${MPIRUN:-}" ]; then
    status=0
    timeout 250 $MPIRUN -n 3 "$SEXTANT" bench scan --cases "$folder/slow.json" --rounds 5 \
        > "$folder/told" 2>&1 || status=$?
    [ "$status" != 0 ] && [ "$status" != 124 ] || fail "exit code $status over MPI"
    grep -q "takes longer than the limit" "$folder/told" || fail "no message over MPI"
fi

# An operator that throws ends the command on every rank, with one line that names the elements,
# exit code 1, and no output.
sed 's/"values": 9/"values": 9, "fails_at": 5/' "$folder/cases.json" > "$folder/failing.json"
ends() { # COMMAND...
    status=0
    timeout 250 "$@" bench scan --cases "$folder/failing.json" --rounds 5 --json="$folder/out.json" \
        --report "$folder/out.html" > "$folder/told" 2> "$folder/said" || status=$?
    [ "$status" = 1 ] || fail "exit code $status of $* if the operator throws"
    [ "$(grep -c '^sextant: ' "$folder/said")" = 1 ] || fail "not one line: $(cat "$folder/said")"
    grep -q 'combining elements .* to 4 with 5 to .*: the operator fails' "$folder/said" ||
        fail "the elements are not named: $(cat "$folder/said")"
    [ ! -s "$folder/told" ] || fail "results of a scan that failed: $(cat "$folder/told")"
    for left in "$folder"/out* "$folder"/.out*; do
        [ ! -e "$left" ] || fail "left behind: $left"
    done
}
for threads in 1 2; do
    sed -i "s/\"threads\": \[.*\], \"alg/\"threads\": [$threads], \"alg/" "$folder/failing.json"
    ends "$SEXTANT"
    [ -z "${MPIRUN:-}" ] || ends $MPIRUN -n 3 "$SEXTANT"
done

status=0; "$SEXTANT" bench composite --simulated 2>/dev/null || status=$?
[ "$status" = 2 ] || fail "exit code $status for a composite by simulated clock"
"$SEXTANT" prove scan --ranks 16 | grep -Eq "^brent-kung +inclusive +16 +6 +26 +2$" ||
    fail "span and work of brent-kung"
