#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Benchmarks of collectives and filters, on threads and compared with MPI's own.
. "$(dirname "$0")/start.sh"
cat > "$folder/cases.json" <<'CASES'
{"cases": [{"collective": "scatter", "sizes": [0, 64]},
           {"collective": "gather", "tiles": true, "sizes": [64]}]}
CASES

table=$("$SEXTANT" bench collective --cases "$folder/cases.json" --ranks 3 --rounds 5 \
    --json="$folder/r.json")
printf '%s\n' "$table" | grep -Eq '^# Size +Median\(us\)' || fail "no table"
for row in flat-scatter binomial-scatter 2-lev-rec-gather; do
    printf '%s\n' "$table" | grep -qx "# $row" || fail "no table of $row"
done
grep -q '"collective": "gather"' "$folder/r.json" || fail "no JSON"

if [ -n "${MPIRUN:-}" ]; then
    table=$($MPIRUN -n 3 "$SEXTANT" bench collective --cases "$folder/cases.json" --rounds 5)
    for row in mpi-scatterv mpi-scatter-alltoallw mpi-gatherv-vector flat-scatter; do
        printf '%s\n' "$table" | grep -qx "# $row" || fail "no table of $row"
    done
fi

# Filters: the chosen configuration comes first, compared with one rank and with arithmetic alone.
echo '{"cases": [{"width": 40, "height": 30, "sigma": 1, "derivatives": ["x"], "most": 4}]}' > "$folder/filters.json"
table=$("$SEXTANT" bench filter --cases "$folder/filters.json" --ranks 2 --rounds 5 --json="$folder/f.json")
printf '%s\n' "$table" | grep -q "by CPU time per rank .* of " || fail "no regret of filters: $table"
printf '%s\n' "$table" | grep -q "arithmetic alone .*by CPU time" || fail "no control of filters: $table"
grep -q '"stay_gain"' "$folder/f.json" || fail "no JSON of filters"

echo '{"cases": [{"sizes": [-1]}]}' > "$folder/wrong.json"
"$SEXTANT" bench --size 64 --ranks 3 --rounds 5 --report - | grep -q "Time of each configuration" ||
    fail "no page of a benchmark"
status=0
told=$("$SEXTANT" bench collective --cases "$folder/wrong.json" --json="$folder/none" 2>&1) ||
    status=$?
[ "$status" = 1 ] || fail "exit code $status for a negative size"
printf '%s\n' "$told" | grep -q "cases\[0\].sizes\[0\] is -1, expected a whole number from 0 to" || fail "message: $told"
[ ! -e "$folder/none" ] || fail "output of cases that are wrong"
