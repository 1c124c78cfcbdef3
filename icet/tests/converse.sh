#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# converse.sh MPIRUN PROGRAM LIBRARIES: runs conversation.cpp over IceT and over Sextant, and compares.
set -eu
mpirun=$1 program=$2 libraries=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for ranks in 1 2 3 4 5 7; do
    "$mpirun" --oversubscribe -n $ranks "$program" "$folder/theirs."
    for shared in on off; do
        SEXTANT_SHARED_MEMORY=$shared LD_LIBRARY_PATH=$libraries \
            "$mpirun" --oversubscribe -n $ranks "$program" "$folder/ours."
        echo "shared memory $shared"
        python3 "$(dirname "$0")/compare.py" "$folder/theirs." "$folder/ours." $ranks
    done
done
