#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# An installed Sextant is found by find_package, and a program of 20 lines runs with it.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$CMAKE" --install "$BUILD" --prefix "$folder/installed" >/dev/null
"$CMAKE" -G "$GENERATOR" -S "$SOURCE/examples/embed" -B "$folder/build" -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_PREFIX_PATH="$folder/installed" >/dev/null
"$CMAKE" --build "$folder/build" >/dev/null
said=$($MPIRUN -n 3 "$folder/build/embed")
echo "$said"
[ "$said" = "opacity at (250, 0): 0.875" ] || { echo "FAILED: expected 0.875"; exit 1; }
"$folder/installed/bin/sextant" --version
