#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Segmentations of blocks that are joined: the same files on all ranks, for all memory limits and
# orders of blocks; images; planes; errors that leave no output.
. "$(dirname "$0")/start.sh"
cd "$folder"

# Writes standard input as a NumPy file: npy FILE SHAPE [TYPE]
npy() {
    printf '\223NUMPY\001\000\166\000%-117s\n' "{'descr': '${3:-|u1}', 'fortran_order': False, 'shape': ($2), }" >"$1"
    cat >>"$1"
}
# Writes a row of labels: labels FILE SHAPE TEXT, with . for 0 and a to d for 1 to 4.
labels() { printf '%s' "$3" | LC_ALL=C tr '.abcd' '\000\001\002\003\004' | npy "$1" "$2"; }
# The samples of a NumPy file of u32 as a line of numbers.
values() { tail -c +129 "$1" | od -An -v -tu4 -w4000 | tr -s ' ' | sed 's/^ //'; }
# refuse CODE TEXT ARGUMENTS...
refuse() {
    code=$1 text=$2
    shift 2
    got=0
    "$SEXTANT" stitch "$@" >out 2>&1 || got=$?
    [ $got = "$code" ] || { cat out; fail "ends with $got, expected $code: $*"; }
    grep -qF -- "$text" out || { cat out; fail "another error for $*"; }
    [ ! -e x.npy ] && [ ! -e x.csv ] && [ ! -e x.json ] || fail "an output of a failed run: $*"
}

# --- An image of two blocks that overlap by two columns.
labels left.npy '2, 5' 'a.bbba.bb.'
labels right.npy '2, 5' 'ddd.addd.a'
printf 'file,y,x\nleft.npy,0,0\nright.npy,0,3\n' >image.csv
"$SEXTANT" stitch image.csv -o image.npy --joins joins.csv --table table.csv --json=image.json >text
grep -q '3 objects of 1x2x8 voxels, from 4 labels in 2 blocks' text || { cat text; fail "the text"; }
[ "$(values image.npy)" = '1 0 2 2 2 2 0 3 1 0 2 2 2 2 0 3' ] || { values image.npy; fail "labels of the image"; }
printf '%s\n' z_a,y_a,x_a,label_a,z_b,y_b,x_b,label_b,voxels,union,iou,outcome \
    0,0,0,2,0,0,3,4,3,4,0.75,joined >expected
cmp expected joins.csv || { cat joins.csv; fail "joins"; }
printf '%s\n' label,z,y,x,block_label,voxels,kept 1,0,0,0,1,2,2 2,0,0,0,2,5,4 2,0,0,3,4,6,4 3,0,0,3,1,2,2 >expected
cmp expected table.csv || { cat table.csv; fail "table"; }
grep -q '"objects": 3' image.json && grep -q '"joined": 1' image.json || { cat image.json; fail "JSON"; }
"$SEXTANT" stitch image.csv -o image.npy --threshold .76 --json - | grep -q '"below": 1' || fail "a high threshold"
"$SEXTANT" stitch image.csv -o image.npy --by voxels --threshold 3 --json - | grep -q '"joined": 1' || fail "voxels"
"$SEXTANT" stitch image.csv -o image.npy --by voxels --threshold 4 --json - | grep -q '"below": 1' || fail "voxels"

# --- One image that was labelled in blocks, and planes that were labelled one by one.
labels whole.npy '2, 6' 'aa.aab......'
"$SEXTANT" stitch whole.npy -o image.npy --block 2,3 --by voxels >text
[ "$(values image.npy)" = '1 1 0 2 2 3 0 0 0 0 0 0' ] || { values image.npy; fail "an image in blocks"; }
labels planes.npy '3, 1, 4' 'aa.bbb.acc..'
"$SEXTANT" stitch planes.npy -o image.npy --block 1,0,0 >text
[ "$(values image.npy)" = '1 1 0 2 1 1 0 2 1 1 0 0' ] || { values image.npy; fail "planes"; }

# --- Blocks of a volume: components in blocks of 20x50x70 that overlap by 6.
yes 'aa.bb..aa.b.....b..' | tr -d '\n' | head -c 480000 | LC_ALL=C tr 'ab.' '\001\001\000' | npy volume.npy '48, 100, 100'
printf 'file,z,y,x\n' >blocks.csv
number=0
for z in 0 14 28; do
    for y in 0 44; do
        for x in 0 64; do
            number=$((number + 1))
            depth=20 height=$((y == 0 ? 50 : 56)) width=$((x == 0 ? 70 : 36))
            # The bytes of the block, plane by plane and row by row.
            tail -c +129 volume.npy | od -An -v -tu1 -w100 | awk -v z=$z -v y=$y -v x=$x -v d=$depth -v h=$height -v w=$width '
                { at = NR - 1; if (int(at / 100) < z || int(at / 100) >= z + d || at % 100 < y || at % 100 >= y + h) next
                  for (i = x + 1; i <= x + w; ++i) printf "%s", $i ? "a" : "." }' |
                LC_ALL=C tr 'a.' '\001\000' | npy part.npy "$depth, $height, $width"
            "$SEXTANT" label part.npy -o "block $number.tif" --neighbours 6 >/dev/null
            printf '"block %d.tif",%d,%d,%d\n' $number $z $y $x >>blocks.csv
        done
    done
done
"$SEXTANT" stitch blocks.csv -o one.npy --joins one.csv --table one_table.csv --ranks 1 >text
(head -n 1 blocks.csv; tail -n +2 blocks.csv | sort -r) >reverse.csv
for arguments in '--ranks 1 --memory 300K' '--ranks 3' '--ranks 2 --memory 100K' '--ranks 5 --memory 64K'; do
    "$SEXTANT" stitch reverse.csv -o many.npy --joins many.csv --table many_table.csv $arguments >/dev/null
    cmp one.npy many.npy && cmp one.csv many.csv && cmp one_table.csv many_table.csv || fail "other files with $arguments"
done
if [ -n "${MPIRUN:-}" ]; then
    $MPIRUN -n 3 "$SEXTANT" stitch blocks.csv -o many.npy --joins many.csv --table many_table.csv >/dev/null
    cmp one.npy many.npy && cmp one.csv many.csv && cmp one_table.csv many_table.csv || fail "other files over MPI"
fi
"$SEXTANT" stitch blocks.csv -o one.zarr >/dev/null
printf 'file,z,y,x\none.zarr,0,0,0\n' >single.csv
"$SEXTANT" stitch single.csv -o again.npy >/dev/null
cmp one.npy again.npy || fail "labels that are numbered already change"

# --- Errors.
grep -v 'block 7' blocks.csv >gap.csv
refuse 1 'no block has the voxels z 20 to 27, y 50 to 99, x 0 to 63 of 48x100x100' gap.csv -o x.npy
"$SEXTANT" stitch gap.csv -o gap.npy --allow-gaps >/dev/null || fail "gaps are not allowed"
(cat image.csv; echo right.npy,0,3) >list.csv
refuse 1 'right.npy and right.npy have the same position: z 0, y 0, x 3' list.csv -o x.npy
(cat image.csv; echo right.npy,-1,3) >list.csv
refuse 1 'list.csv: line 4: "right.npy,-1,3", expected y to be a whole number from 0' list.csv -o x.npy
(cat image.csv; echo other.npy,0,3) >list.csv
refuse 1 'other.npy: no such file' list.csv -o x.npy
(cat image.csv; echo planes.npy,0,3) >list.csv
refuse 1 'planes.npy: has 3 planes, expected one' list.csv -o x.npy
printf 'file,z\n' >list.csv
refuse 1 'line 1: "file,z", expected the names of the columns: file,z,y,x' list.csv -o x.npy
printf 'file,y,x\n' >list.csv
refuse 1 'list.csv: has no blocks' list.csv -o x.npy
printf 'file,y,x\n"left.npy,0,0\n' >list.csv
refuse 1 'line 2: ""left.npy,0,0", expected a file, y and x' list.csv -o x.npy
printf 'file,y,x\nleft.npy,0,99999999999999999999\n' >list.csv
refuse 1 'expected x to be a whole number' list.csv -o x.npy
printf 'file,y,x\nleft.npy,999999999999,999999999999\n' >list.csv
refuse 1 'expected 10^18 or fewer' list.csv -o x.npy --allow-gaps
printf '\000\000\200\077\000\000\200\077' | npy floats.npy '1, 2' '<f4'
printf 'file,y,x\nfloats.npy,0,0\n' >list.csv
refuse 1 'floats.npy: holds f32, expected labels, which are integers' list.csv -o x.npy
printf '\001\000\377\377' | npy negative.npy '1, 2' '<i2'
printf 'file,y,x\nnegative.npy,0,0\n' >list.csv
refuse 1 'negative.npy: label -1 in plane 0, row 0, expected 0 or more' list.csv -o x.npy
head -c 134 planes.npy >short.npy
printf 'file,z,y,x\nshort.npy,0,0,0\n' >list.csv
refuse 1 'short.npy: truncated: 1 of 3 frames are complete' list.csv -o x.npy
refuse 2 'whole.npy is one volume: expected --block' whole.npy -o x.npy
refuse 2 '--block: 1 numbers, expected depth, height and width' whole.npy -o x.npy --block 3
refuse 2 '--block: planes.npy has 3 planes, expected three numbers, D,H,W' planes.npy -o x.npy --block 1,2
