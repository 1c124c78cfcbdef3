#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The example and the command write the same average, on threads and processes.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
fail() { echo "FAILED: $*"; exit 1; }
"$SEXTANT" synthesize -o movie.mrc --frames 6 --width 96 --height 80 --specimen carbon
"$SEXTANT" register movie.mrc -o two --reproducible --ranks 2
"$EXAMPLE" movie.mrc average.tif
cmp two/average.tif average.tif || fail "on threads"
if [ -n "${MPIRUN:-}" ]; then
    "$SEXTANT" register movie.mrc -o three --reproducible --ranks 3
    "$MPIRUN" -n 3 "$EXAMPLE" movie.mrc over_mpi.tif
    cmp three/average.tif over_mpi.tif || fail "over MPI"
fi
"$EXAMPLE" missing.mrc no.tif 2>errors && fail "a missing series is accepted"
grep -q missing.mrc errors || fail "the missing series is not named"
[ ! -e no.tif ] || fail "an average of a missing series"
