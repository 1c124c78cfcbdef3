#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Deep images of shells equal the result of sorting each pixel's fragments, to the bit, with every
# algorithm, on threads and processes; other input is refused.
set -u
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0

same() {
    cmp "$folder/sorted.exr" "$folder/out.exr" && echo "same bits: $1" || { echo "FAILED: $1"; failed=1; }
    rm -f "$folder/out.exr"
}

# refuses CODE PATTERN COMMAND...
refuses() {
    code=$1 pattern=$2
    shift 2
    said=$("$@" 2>&1 >/dev/null)
    got=$?
    if [ $got != "$code" ] || ! printf '%s\n' "$said" | grep -Eq -- "$pattern" || [ -e "$folder/out.exr" ]; then
        echo "FAILED: $*: exit code $got, expected $code, with: $pattern"
        printf '%s\n' "$said"
        failed=1
    fi
}

"$DRAW_SHELLS" --parts 5 --size 60 -o "$folder" --sorted "$folder/sorted.exr" || failed=1
for algorithm in direct-send radix-k two-three-swap shift-based parallel-pipeline binary-tree auto; do
    "$SEXTANT" composite "$folder"/part_*.exr -o "$folder/out.exr" --algorithm $algorithm >/dev/null
    same "$algorithm, 5 threads"
done
"$SEXTANT" composite "$folder"/part_*.exr -o "$folder/out.exr" --ranks 2 --report "$folder/page.html" >/dev/null
same "2 threads"
"$SEXTANT" composite "$folder"/part_*.exr -o "$folder/out.exr" --ranks 2 --threads 3 >/dev/null
same "2 threads, 3 that blend in each"
if [ -n "${MPIRUN:-}" ]; then
    "$MPIRUN" -n 3 "$SEXTANT" composite "$folder"/part_*.exr -o "$folder/out.exr" >/dev/null
    same "3 processes"
fi

composite="$SEXTANT composite -o $folder/out.exr"
part=$folder/part_00.exr
refuses 2 "operator over: expected deep or auto, because the images are deep" $composite "$part" --operator over
refuses 2 "operator deep: the images are flat, expected deep" $composite "$folder/sorted.exr" --operator deep
refuses 2 "element u8: expected f32, because the images are deep" $composite "$part" --element u8
refuses 1 "sorted.exr: is flat, expected deep pixels" $composite "$part" "$folder/sorted.exr"
refuses 1 "part_00.exr: has deep pixels, expected flat ones" $composite "$folder/sorted.exr" "$part"
mkdir "$folder/small"
"$DRAW_SHELLS" --parts 1 --size 20 -o "$folder/small" || failed=1
refuses 1 "small/part_00.exr: 20x20 pixels, expected 60x60" $composite "$part" "$folder/small/part_00.exr"
head -c 3000 "$part" >"$folder/cut.exr"
refuses 1 "cut.exr: cannot be read" $composite "$part" "$folder/cut.exr"
exit $failed
