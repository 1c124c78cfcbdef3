#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Every help is short, at most 100 columns wide, and has an example.
set -eu
for command in composite filter label measure stitch contours register apply list prove draw predict explain evaluate calibrate machine simulate reproduce report bench tune info synthesize doctor; do
    help=$("$SEXTANT" $command --help)
    lines=$(printf '%s\n' "$help" | wc -l)
    most=35
    [ "$command" != register ] || most=60 # with the meaning of its flags
    [ "$lines" -le "$most" ] || { echo "FAILED: $command --help has $lines lines"; exit 1; }
    printf '%s\n' "$help" | grep -q "  .*sextant $command" || { echo "FAILED: $command has no example"; exit 1; }
    printf '%s\n' "$help" | grep -q "^Usage: sextant $command" || { echo "FAILED: $command has no usage"; exit 1; }
    # Examples run on two cores as printed.
    ! printf '%s\n' "$help" | grep 'mpirun -n' | grep -v 'mpirun -n 2' || { echo "FAILED: $command asks for more than two"; exit 1; }
    wide=$(printf '%s\n' "$help" | awk 'length > 100' | head -n 1)
    [ -z "$wide" ] || { echo "FAILED: $command --help is wide: $wide"; exit 1; }
done
"$SEXTANT" --help | grep -q composite
for what in '' composite bench; do
    [ "$("$SEXTANT" help $what)" = "$("$SEXTANT" $what --help)" ] || { echo "FAILED: help $what"; exit 1; }
done
"$SEXTANT" composite --help | grep -qF 'Usage: sextant composite IN... --output OUT [OPTIONS]'
"$SEXTANT" --version | grep -Eq '^sextant [0-9]+\.[0-9]+\.[0-9]+$'
"$SEXTANT" bench --size 100 --ranks 3 --rounds 5 --json - | grep -q '"reference": "direct-send"'
if [ -n "${MPIRUN:-}" ]; then
    $MPIRUN -n 3 "$SEXTANT" bench --size 100 --rounds 5 --json - | grep -q '"reference": "alltoallv"'
fi
for algorithm in radix-k kogge-stone binomial-scatter exchange stencil; do
    "$SEXTANT" list --json | grep -q "\"$algorithm\"" || { echo "FAILED: list has no $algorithm"; exit 1; }
done
# So do those of the documents, unless they use --oversubscribe.
! grep -n 'mpirun.* -n [3-9]' "$SOURCE"/README.md "$SOURCE"/docs/*.md "$SOURCE"/run | grep -v oversubscribe ||
    { echo "FAILED: an example asks for more than two"; exit 1; }
"$SEXTANT" draw compositing --algorithm radix-k --radices 4,2 --ranks 8 -o - | grep -q '<svg'
"$SEXTANT" draw scan --ranks 16384 -o - | grep -q '16,384'
