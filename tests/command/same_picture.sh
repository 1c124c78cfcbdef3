#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The serial fold, threads and any number of processes give the same bits.
. "$(dirname "$0")/start.sh"
"$SERIAL_FOLD" "$SAMPLE" "$folder/serial.exr"
same() {
    cmp "$folder/serial.exr" "$1" || { echo "FAILED: $2 differs from the serial fold"; exit 1; }
    echo "same bits: $2"
    rm -f "$1"
}
for algorithm in direct-send shift-based; do
    for ranks in 1 2 3 5 8; do
        "$SEXTANT" composite "$SAMPLE" -o "$folder/threads.exr" --algorithm $algorithm --ranks $ranks >/dev/null
        same "$folder/threads.exr" "$algorithm, $ranks threads"
    done
    [ -n "${MPIRUN:-}" ] || continue
    for ranks in 2 3 5; do
        $MPIRUN -n $ranks "$SEXTANT" composite "$SAMPLE" -o "$folder/mpi.exr" --algorithm $algorithm >/dev/null
        same "$folder/mpi.exr" "$algorithm, $ranks processes"
    done
done
for sparse in on off; do
    "$SEXTANT" composite "$SAMPLE" -o "$folder/threads.exr" --algorithm direct-send --sparse $sparse >/dev/null
    same "$folder/threads.exr" "sparse $sparse, threads"
    [ -n "${MPIRUN:-}" ] || continue
    $MPIRUN -n 3 "$SEXTANT" composite "$SAMPLE" -o "$folder/mpi.exr" --algorithm direct-send --sparse $sparse >/dev/null
    same "$folder/mpi.exr" "sparse $sparse, 3 processes"
done
for interlace in on off; do
    "$SEXTANT" composite "$SAMPLE" -o "$folder/threads.exr" --algorithm direct-send --interlace $interlace >/dev/null
    same "$folder/threads.exr" "interlace $interlace, threads"
    [ -n "${MPIRUN:-}" ] || continue
    $MPIRUN -n 3 "$SEXTANT" composite "$SAMPLE" -o "$folder/mpi.exr" --algorithm direct-send --sparse on --interlace $interlace >/dev/null
    same "$folder/mpi.exr" "sparse, interlace $interlace, 3 processes"
done
if [ -n "${MPIRUN:-}" ]; then
    for shared in on off auto; do
        $MPIRUN -n 3 "$SEXTANT" composite "$SAMPLE" -o "$folder/mpi.exr" --algorithm shift-based \
            --shared-memory $shared --json="$folder/run.json" >/dev/null
        same "$folder/mpi.exr" "shared memory $shared, 3 processes"
        case $shared in off) used=false ;; *) used=true ;; esac # no prediction for a named algorithm
        grep -q "\"used\": $used" "$folder/run.json" || { echo "FAILED: shared memory $shared"; exit 1; }
    done
    $MPIRUN -n 2 "$SEXTANT" composite "$SAMPLE" -o "$folder/mpi.exr" >"$folder/told"
    grep -q "within nodes (predicted .* ms, .* ms)" "$folder/told" ||
        { echo "FAILED: how processes of a node exchange is not explained"; exit 1; }
fi
"$SEXTANT" composite "$SAMPLE" -o "$folder/auto.exr" >/dev/null
same "$folder/auto.exr" "auto, one thread an image"
