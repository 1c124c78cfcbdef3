#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Opens the command's pages in a headless browser; exit code 77 if there is none. CHROMIUM, NODE and
# PICTURES (a folder for screenshots) may be set.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
chromium=${CHROMIUM:-$(command -v chromium || command -v chromium-browser || true)}
node=${NODE:-$(command -v node || true)}
if [ -z "$chromium" ] || [ -z "$node" ]; then
    echo "skipped: pages are looked at where chromium and nodejs are installed"
    exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$SEXTANT" composite "$SAMPLE" -o "$folder/brain.png" --report "$folder/composite.html" \
    --trace "$folder/run.json" >/dev/null
"$SEXTANT" composite "$SAMPLE" -o "$folder/brain.png" --algorithm radix-k --trace "$folder/other.json" >/dev/null
"$SEXTANT" report "$folder/run.json" "$folder/other.json" -o "$folder/comparison.html"

# 256 ranks that repeatedly fold, send, receive and wait: 100,352 events.
awk 'BEGIN {
    ranks = 256; times = 98
    printf "{\"otherData\": {\"sextant_trace\": 1, \"name\": \"many\", \"origin\": \"measured\", "
    printf "\"ranks\": %d, \"element_size\": 16, \"clocks\": 1, \"lent\": false, ", ranks
    printf "\"seconds\": %g}, \"traceEvents\": [", 4e-6 * times
    event = "%s{\"ph\": \"X\", \"name\": \"%s\", \"pid\": %d, \"ts\": %.3f, \"dur\": %d, " \
            "\"args\": {\"step\": %d, \"round\": %d, \"peer\": %d, \"elements\": 64}}\n"
    for (rank = 0; rank < ranks; ++rank)
        for (i = 0; i < times; ++i) {
            begin = 4 * i + rank / 100
            printf event, rank + i ? "," : "", "fold", rank, begin, 1, 3 * i, i, -1
            printf event, ",", "send", rank, begin + 1, 2, 3 * i + 1, i, (rank + 1) % ranks
            printf event, ",", "receive", rank, begin + 1, 3, 3 * i + 2, i, (rank + ranks - 1) % ranks
            printf event, ",", "wait", rank, begin + 1, 3, -1, 0, -1
        }
    print "]}"
}' >"$folder/many.json"
"$SEXTANT" report "$folder/many.json" -o "$folder/many.html"

"$SEXTANT" synthesize -o "$folder/movie.mrc" --frames 24 --width 128 --height 120 --specimen carbon --blanks 7
"$SEXTANT" register "$folder/movie.mrc" -o "$folder/out" --threads 2 --report "$folder/out/series.html" >/dev/null 2>&1
"$SEXTANT" report "$folder/composite.html" "$folder/out/series.html" -o "$folder/both.html"

"$SEXTANT" contours "$folder/movie.mrc" --frame 0 -o "$folder/lines.svg" --sigma 2 --ranks 3 \
    --report "$folder/contours.html" >/dev/null
"$SEXTANT" filter "$folder/movie.mrc" --frame 0 -o "$folder/edges.npy" --derivatives x,y --ranks 3 \
    --report "$folder/filter.html" >/dev/null
{
    printf '\223NUMPY\001\000\166\000%-117s\n' "{'descr': '|u1', 'fortran_order': False, 'shape': (4, 8), }"
    printf '##..##.##.......#..##.#....##...' | LC_ALL=C tr '.#' '\000\001'
} >"$folder/cells.npy"
"$SEXTANT" label "$folder/cells.npy" -o "$folder/labels.npy" --ranks 3 --report "$folder/label.html" >/dev/null
yes '##..##.##.......#..##.#....##...' | tr -d '\n' | head -c 24960 | LC_ALL=C tr '.#' '\000\001' >"$folder/voxels"
{
    printf '\223NUMPY\001\000\166\000%-117s\n' "{'descr': '|u1', 'fortran_order': False, 'shape': (13, 40, 48), }"
    cat "$folder/voxels"
} >"$folder/volume.npy"
"$SEXTANT" label "$folder/volume.npy" -o "$folder/labels.npy" --neighbours 6 --report "$folder/volume.html" >/dev/null
"$SEXTANT" filter "$folder/volume.npy" -o "$folder/edges.npy" --derivatives x,gradient-magnitude --ranks 3 \
    --report "$folder/filtered.html" >/dev/null

# One short case of each benchmark.
cat >"$folder/cases.json" <<'CASES'
{"cases": [{"values": 40, "threads": [1, 2], "algorithms": ["sklansky", "brent-kung"], "neighbours": 1,
            "times": {"kind": "exponential", "mean": 0.01}}]}
CASES
"$SEXTANT" bench composite --size 96 --ranks 4 --rounds 5 --report "$folder/bench-composite.html" >/dev/null
echo '{"cases": [{"width": 160, "height": 120, "most": 6}]}' >"$folder/filters.json"
"$SEXTANT" bench filter --cases "$folder/filters.json" --ranks 3 --rounds 5 --report "$folder/bench-filter.html" >/dev/null
"$SEXTANT" bench scan --simulated --cases "$folder/cases.json" --ranks 12 --rounds 5 \
    --report "$folder/bench-scan.html" >/dev/null

"$node" "$here/pages.mjs" "$chromium" "$folder" ${PICTURES:+"$PICTURES"}
