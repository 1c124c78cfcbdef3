#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Algorithms of MPI's collectives: timed one by one, chosen, verified with and without a file, and
# refused.
. "$(dirname "$0")/start.sh"
[ -n "${MPIRUN:-}" ] || exit 0
cd "$folder"

refused() { # MESSAGE COMMAND...: the command fails with this message
    expected=$1
    shift
    ! told=$("$@" 2>&1) || fail "$* succeeded"
    printf '%s\n' "$told" | grep -qF -- "$expected" || fail "message of $*: $told"
}
refused "expected one of --output FILE, --verify FILE and --once" "$SEXTANT" tune
refused "expected ranks that are processes of MPI" "$SEXTANT" tune --once
refused "unknown collective 'bcst'; did you mean bcast?" "$SEXTANT" tune -o new --collectives bcst
refused "--sizes 60: expected multiples of 4 in increasing order" "$SEXTANT" tune -o new --sizes 64,60
refused "1 rank has nothing to tune" $MPIRUN -n 1 "$SEXTANT" tune -o new
refused "1 rank has nothing to tune" $MPIRUN -n 1 "$SEXTANT" tune --once --sizes 64,128
refused "a launch by 'mpirun-missing' failed" "$SEXTANT" tune -o new --launcher mpirun-missing
printf '# mpi: Open MPI 2.0.0\n0\n' > old.conf
refused "old.conf: written for Open MPI 2.0.0, but this MPI is" $MPIRUN -n 2 "$SEXTANT" tune --verify old.conf
printf '# ranks: two\n0\n' > wrong.conf
refused "wrong.conf: line 1: 'two', expected a number of ranks" "$SEXTANT" tune --verify wrong.conf
refused "expected two sizes or more, the ends of classes" "$SEXTANT" tune -o new --sizes 64
refused "unknown algorithm 'defalt'; did you mean default?" \
    $MPIRUN -n 2 "$SEXTANT" tune --once --collectives bcast --sizes 64 --algorithms defalt
[ ! -e new ] || fail "a refused run wrote a file"

# Other programs may slow a launch, so measured speeds are checked in three attempts.
attempt_thrice() { # COMMAND...
    "$@" || "$@" || "$@"
}

# One launch: a table per algorithm of MPI and of Sextant, and all of them in CSV.
$MPIRUN -n 2 "$SEXTANT" tune --once --collectives allreduce --sizes 64,4096 --rounds 3 \
    --csv once.csv > once.txt
for algorithm in default recursive_doubling 'sextant binary-tree'; do
    grep -qxF "# MPI_Allreduce, $algorithm" once.txt || fail "no table of $algorithm: $(cat once.txt)"
    grep -q "^allreduce,\"$algorithm\",4096," once.csv || fail "no CSV of $algorithm"
done
grep -qx '# Size  *Avg Lat(us)  *Min Lat(us)  *Max Lat(us)' once.txt || fail "no heading"
awk '$1 == 64 && !($3 <= $2 && $2 <= $4) { exit 1 }' once.txt || fail "minimum, average, maximum: $(cat once.txt)"

# One algorithm at one size, as JSON.
$MPIRUN -n 2 "$SEXTANT" tune --once --collectives bcast --sizes 64 --rounds 3 --algorithms default \
    --csv default.csv --json - > default.json
[ "$(grep -c '^bcast,' default.csv)" = 1 ] || fail "CSV of the default: $(cat default.csv)"
grep -q '^{' default.json && ! grep -q 'Avg Lat' default.json || fail "JSON: $(cat default.json)"

# The environment of MPICH: this algorithm is slower for small messages.
if $MPIRUN --version | grep -q HYDRA; then
    echo 'export MPIR_CVAR_BCAST_INTRA_ALGORITHM=scatter_ring_allgather' > slow.env
    refute() {
        status=0
        $MPIRUN -n 2 "$SEXTANT" tune --verify slow.env --launcher "$MPIRUN -n 2" --pairs 2 --rounds 3 \
            --sizes 16,64 > slow.txt || status=$?
        [ "$status" = 1 ] && grep -q '^bcast  *all  *scatter_ring_allgather .* not confirmed' slow.txt
    }
    attempt_thrice refute || fail "exit code $status for a slow environment: $(cat slow.txt)"
    exit 0
fi

# The following uses parameters of Open MPI.

# Open MPI runs a selected algorithm although the operator does not commute.
$MPIRUN -n 3 "$SEXTANT" tune --once --collectives reduce --sizes 64 --rounds 3 \
    --algorithms default linear binomial --json=order.json > order.txt
awk -F'"' '/"algorithm"/ { name = $4 } /"in_order"/ { print name $3 }' order.json > order.txt
grep -qx 'linear: true,' order.txt || fail "linear reduce: $(cat order.txt)"
grep -qx 'binomial: false,' order.txt || fail "binomial reduce: $(cat order.txt)"

# --mca coll ^tuned leaves Open MPI without algorithms that can be selected.
refused "the algorithms of MPI_Bcast cannot be selected" \
    $MPIRUN -n 2 --mca coll ^tuned "$SEXTANT" tune --once --collectives bcast
printf '# ranks: 3\n1\n7\n1\n3\n1\n0 6 0 0\n' > three.conf
refused "three.conf: written for 3 ranks, but the launcher starts 2" $MPIRUN -n 2 "$SEXTANT" tune --verify three.conf

# Open MPI loads a file: a pipeline with segments of 8 bytes is many times slower, and only for the
# sizes of its rule.
printf '1\n7\n1\n2\n3\n0 0 0 0\n8192 3 0 8\n32768 0 0 0\n' > slow.conf
refute() {
    status=0
    $MPIRUN -n 2 "$SEXTANT" tune --verify slow.conf --pairs 2 --rounds 3 --sizes 64,65536 \
        --json=slow.json > slow.txt 2> slow.err || status=$?
    [ "$status" = 1 ] && grep -q '^bcast  *8192 to 32767 .* not confirmed' slow.txt &&
        awk '/"verified"/ { inside = 1 } inside && /"median"/ { gsub(/[^0-9.e-]/, "", $2); slower = $2 + 0 > 2; exit }
             END { exit !slower }' slow.json
}
attempt_thrice refute || fail "exit code $status for a slow rule: $(cat slow.txt slow.err slow.json)"

# A default that is forced to be as slow gets a rule, which is confirmed in other launches, written,
# and confirmed again.
slow="$MPIRUN -n 2 --mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_bcast_algorithm 3"
slow="$slow --mca coll_tuned_bcast_algorithm_segmentsize 8"
tune() {
    "$SEXTANT" tune --launcher "$slow" -o new.conf --collectives bcast --sizes 16384,65536 --launches 2 \
        --pairs 3 --rounds 3 --report new.html > new.txt || fail "tune: $(cat new.txt)"
    grep -q '^bcast  *16384 to 65535 .* kept' new.txt
}
verify() {
    "$SEXTANT" tune --launcher "$slow" --verify new.conf --pairs 3 --rounds 3 --sizes 16384,65536 > again.txt
}
attempt_thrice tune || fail "no rule: $(cat new.txt)"
grep -q '^# ranks: 2$' new.conf || fail "no heading: $(cat new.conf)"
grep -q '^16384 [1-9]' new.conf && grep -q '^65536 0 0 0 ' new.conf || fail "rules: $(cat new.conf)"
grep -q '16384 to 65535' new.html || fail "no rule on the page"
attempt_thrice verify || fail "not confirmed again: $(cat again.txt)"
[ -z "$(ls -A | grep sextant-)" ] || fail "files left: $(ls -A)"
