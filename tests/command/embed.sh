#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# An installed Sextant is found by find_package, and a small program runs with it on more
# ranks than its picture has room for, minding the bounds of its vectors.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$CMAKE" --install "$BUILD" --prefix "$folder/installed" >/dev/null
"$CMAKE" -G "$GENERATOR" -S "$SOURCE/examples/embed" -B "$folder/build" -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_PREFIX_PATH="$folder/installed" -DCMAKE_CXX_FLAGS=-D_GLIBCXX_ASSERTIONS >/dev/null
"$CMAKE" --build "$folder/build" >/dev/null
for ranks in 3 7; do
    said=$($MPIRUN -n $ranks "$folder/build/embed")
    echo "$ranks ranks: $said"
    [ "$said" = "opacity at (250, 0): 0.875" ] || { echo "FAILED: expected 0.875"; exit 1; }
done

# The headers that docs/library.md calls public are there.
grep -o '`[a-z_/]*\.hpp`' "$SOURCE/docs/library.md" | tr -d '`' | while read -r header; do
    [ -n "$(find "$folder/installed/include/sextant" -path "*/$header")" ] || { echo "FAILED: no $header"; exit 1; }
done
"$folder/installed/bin/sextant" --version
