#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Exit codes, names of JSON fields, output files and bits of results are those of golden.txt, which other
# programs rely on. After an intended change: golden.sh write.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export SEXTANT_PROBE=off HOME="$folder" XDG_CACHE_HOME= XDG_CONFIG_HOME= # no profile of this machine
unset SEXTANT_MACHINE
cp -r "$SOURCE/examples/data/brain" .
{
    printf '\223NUMPY\001\000v\000%-117s\n' "{'descr': '|u1', 'fortran_order': False, 'shape': (90, 120), }"
    awk 'BEGIN { for (i = 0; i < 10800; i++) printf "%s", i % 120 % 17 < 9 && int(i / 120) % 11 < 6 ? "a" : "." }'
} >image.npy

# run NAME LINE [FILE...]: records the results of `sextant LINE`: the bits of these files, and the names of others.
run() {
    name=$1 line=$2
    shift 2
    mkdir out
    status=0
    sh -c "$SEXTANT $line" >log 2>&1 || status=$?
    echo "$name: sextant $line"
    echo "    exit $status"
    for file in $(cd out && find . -type f | sed 's,^\./,,' | LC_ALL=C sort); do
        bits=
        case " $* " in *" $file "*) bits=" $(sha256sum <"out/$file" | cut -c1-16)" ;; esac
        case $file in
        *.json)
            echo "    $file:" $(grep -oE '"[A-Za-z0-9_ -]+": ?' "out/$file" | tr -d '": ' | LC_ALL=C sort -u) | fold -s -w 110 |
                sed '2,$s/^/        /; s/ $//' ;;
        *) echo "    $file$bits" ;;
        esac
    done
    rm -r out
}

{
    run composite 'composite brain/manifest.json -o out/brain.rgba32f --ranks 3 --json=out/facts.json' brain.rgba32f
    run composite-tree 'composite brain/manifest.json -o out/brain.rgba32f --algorithm binary-tree --ranks 2' brain.rgba32f
    run composite-sparse 'composite brain/manifest.json -o out/brain.rgba32f --algorithm radix-k --sparse on --interlace on --ranks 4' brain.rgba32f
    run composite-unknown 'composite brain/manifest.json -o out/brain.png --algorithm quick'
    run composite-plan 'composite brain/manifest.json -o out/brain.png --ranks 3 --plan out/plan.json'
    run filter 'filter image.npy -o out/planes.npy --ranks 2 --sigma 2 --derivatives x,yy,gradient-magnitude --json=out/facts.json' planes.npy
    run filter-chain 'filter image.npy -o out/planes.npy --before smooth@2 --grid 2x2 --kernel p3pc' planes.npy
    run label 'label image.npy -o out/labels.npy --table out/table.csv --json=out/facts.json --grid 2x3' labels.npy table.csv
    run label-values 'label image.npy -o out/labels.npy --by-value --neighbours 4 --ranks 3' labels.npy
    run contours 'contours image.npy -o out/lines.csv --ranks 2 --sigma 2 --json=out/facts.json' lines.csv
    run contours-simplified 'contours image.npy -o out/lines.csv --sigma 2 --simplify 1 --grid 2x2' lines.csv
    run synthesize 'synthesize -o out/series.npy --frames 6 --width 96 --height 80'
    "$SEXTANT" synthesize -o series.npy --frames 6 --width 96 --height 80 >/dev/null
    run register 'register series.npy -o out/aligned --aligned --ranks 2 --json=out/facts.json'
    run register-nonrigid 'register series.npy -o out/aligned --model nonrigid --ranks 2 --json=out/facts.json'
    run info 'info series.npy --json=out/facts.json' facts.json
    run explain 'explain composite --ranks 12 --json=out/facts.json'
    run explain-filter 'explain filter --ranks 6 --size 300x200 --json=out/facts.json'
    run explain-scan 'explain scan --values 64 --cores 8 --json=out/facts.json'
    run predict 'predict compositing --algorithm direct-send --ranks 5 --machine ddr-infiniband --json=out/facts.json'
    run simulate 'simulate compositing --algorithm radix-k --ranks 12 --platform fat-tree-144-calibrated --clock --json=out/facts.json'
    run prove 'prove compositing --ranks 1..5 --json=out/facts.json'
    run missing 'filter none.npy -o out/planes.npy'
    run no-command 'blend'
} >found.txt
[ "${1:-}" != write ] || exec cp found.txt "$here/golden.txt"
diff -u "$here/golden.txt" found.txt || { echo "FAILED: differs from golden.txt; if intended: golden.sh write"; exit 1; }
