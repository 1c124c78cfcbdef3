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

# bricks FILE SHAPE SAMPLES VALUE: a u8 array of that many samples; VALUE computes . a b c (0 to 3) from the index i.
bricks() {
    {
        printf '\223NUMPY\001\000v\000%-117s\n' "{'descr': '|u1', 'fortran_order': False, 'shape': ($2), }"
        awk "BEGIN { for (i = 0; i < $3; i++) printf \"%s\", $4 }" | LC_ALL=C tr '.abc' '\000\001\002\003'
    } >"$1"
}
bricks volume.npy '12, 20, 24' 5760 \
    '(int(i / 480) % 5 < 4 && int(i / 24) % 20 % 7 < 5 && i % 24 % 7 != 3 && i % 31 ? substr("abc", 1 + i % 24 / 9, 1) : ".")'
bricks classes.npy '4, 6, 8' 192 '(i % 8 > 4 ? "c" : i % 3 ? "a" : ".")'
printf 'frame,x,y\n0,10,20\n3,30.5,40\n' >points.csv

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
    run label-memory 'label image.npy -o out/labels.npy --memory 16K --ranks 1 --json=out/facts.json' labels.npy
    run label-volume 'label volume.npy -o out/labels.npy --table out/table.csv --ranks 2 --json=out/facts.json' labels.npy table.csv
    run label-holes 'label volume.npy -o out/labels.npy --table out/table.csv --fill-holes --keep-largest 5 --neighbours 6' labels.npy table.csv
    run label-small 'label volume.npy -o out/labels.npy --by-value --min-size 20 --neighbours 18 --memory 32K' labels.npy
    run label-intensity 'label volume.npy -o out/labels.npy --table out/table.csv --intensity volume.npy' table.csv
    run measure 'measure classes.npy -o out/table.csv --intensity classes.npy --json=out/facts.json' table.csv
    run stitch 'stitch classes.npy -o out/labels.npy --block 2,3,4 --by voxels --joins out/joins.csv --table out/table.csv --json=out/facts.json' labels.npy joins.csv table.csv
    run filter-volume 'filter volume.npy -o out/planes.npy --sigma 1 --derivatives smooth,zz,gradient-magnitude --ranks 2 --json=out/facts.json' planes_smooth.npy planes_zz.npy planes_gradient-magnitude.npy
    run filter-border 'filter volume.npy -o out/planes.npy --sigma 2,1,1 --border constant --border-value 2 --derivatives x' planes.npy
    run filter-wrap 'filter volume.npy -o out/planes.npy --border wrap --memory 200K --ranks 2 --derivatives smooth' planes.npy
    for format in npy h5 nii tif zarr; do
        bits="labels.$format"
        case $format in tif | zarr) bits= ;; esac
        run "label-$format" "label volume.npy -o out/labels.$format" $bits
    done
    run filter-mrc 'filter image.npy -o out/planes.mrc --derivatives x' planes.mrc
    run contours 'contours image.npy -o out/lines.csv --ranks 2 --sigma 2 --json=out/facts.json' lines.csv
    run contours-simplified 'contours image.npy -o out/lines.csv --sigma 2 --simplify 1 --grid 2x2' lines.csv
    run synthesize 'synthesize -o out/series.npy --frames 6 --width 96 --height 80'
    "$SEXTANT" synthesize -o series.npy --frames 6 --width 96 --height 80 >/dev/null
    run register 'register series.npy -o out/aligned --aligned --ranks 2 --json=out/facts.json'
    run register-nonrigid 'register series.npy -o out/aligned --model nonrigid --ranks 2 --json=out/facts.json'
    for model in translation affine similarity auto; do
        run "register-$model" "register series.npy -o out/aligned --model $model --ranks 2"
    done
    run register-outputs 'register series.npy -o out/aligned --aligned=out/frames.mrc --stages 1 --format mrc --average weighted --canvas common --report out/page.html'
    run register-few 'register series.npy -o out/aligned --frames 0-3 --reference 2 --canvas union --despike off --contrast same'
    run register-several 'register series.npy brain/missing.npy -o out/several --ranks 2 --json=out/facts.json'
    "$SEXTANT" register series.npy -o aligned >/dev/null
    run apply 'apply aligned/transforms.json series.npy -o out/frames.npy --by shift'
    run apply-sum 'apply aligned/transforms.json series.npy -o out/sum.mrc --by splat --sum --count out/count.npy'
    run apply-points 'apply aligned/transforms.json points.csv -o out/points.csv'
    run info 'info series.npy --json=out/facts.json' facts.json
    run explain 'explain composite --ranks 12 --json=out/facts.json'
    run explain-filter 'explain filter --ranks 6 --size 300x200 --json=out/facts.json'
    run explain-scan 'explain scan --values 64 --cores 8 --json=out/facts.json'
    run predict 'predict compositing --algorithm direct-send --ranks 5 --machine ddr-infiniband --json=out/facts.json'
    run simulate 'simulate compositing --algorithm radix-k --ranks 12 --platform fat-tree-144-calibrated --clock --json=out/facts.json'
    run prove 'prove compositing --ranks 1..5 --json=out/facts.json'
    run explain-sparse 'explain composite --ranks 7 --density .3 --distributed --machine ddr-infiniband --json=out/facts.json'
    run predict-collective 'predict collective --ranks 8 --machine ddr-infiniband --json=out/facts.json'
    run draw 'draw compositing --algorithm radix-k --ranks 4 -o out/messages.svg'
    run list 'list formats'
    run missing 'filter none.npy -o out/planes.npy'
    run wrong-value 'label image.npy -o out/labels.npy --neighbours 5'
    run no-effect 'label volume.npy -o out/labels.npy --pattern binomial'
    run no-output 'register series.npy'
    run no-command 'blend'
} >found.txt
[ "${1:-}" != write ] || exec cp found.txt "$here/golden.txt"
diff -u "$here/golden.txt" found.txt || { echo "FAILED: differs from golden.txt; if intended: golden.sh write"; exit 1; }
