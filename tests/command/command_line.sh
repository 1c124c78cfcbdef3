#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Options may come before or after positional arguments, and only one process reports errors.
. "$(dirname "$0")/start.sh"

# Options first: a value takes one word, not the images that follow it.
"$SEXTANT" composite "$SAMPLE" -o "$folder/a.exr" --background white >/dev/null
"$SEXTANT" composite -o "$folder/b.exr" --background white "$SAMPLE" >/dev/null
"$SEXTANT" composite --background white "$folder/a.exr" "$folder/a.exr" -o "$folder/c.exr" >/dev/null
cmp "$folder/a.exr" "$folder/b.exr" || fail "options first give another image"
"$SEXTANT" prove --ranks 1..3 compositing | grep -q '1\.\.3' || fail "prove with options first"

# A command that needs no other rank prints once, however many processes a launcher started.
if [ -n "${MPIRUN:-}" ]; then
    for command in "list formats" "prove scan --ranks 2" "draw scan --ranks 2 -o -" "--help"; do
        alone=$("$SEXTANT" $command | wc -l)
        many=$($MPIRUN -n 3 "$SEXTANT" $command | wc -l)
        [ "$alone" = "$many" ] || fail "$command: $many lines on 3 processes, $alone on one"
    done
fi

# libhdf5 and the libraries that it depends on are loaded only to read HDF5 files, because loading them would take
# longer than some commands.
if readelf -d "$SEXTANT" >"$folder/needed" 2>/dev/null && grep -q NEEDED "$folder/needed"; then
    ! grep -q hdf5 "$folder/needed" || fail "the program loads libhdf5 when it starts"
fi
