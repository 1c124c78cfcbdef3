#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Memory of filters: the image, the results and little more; for an image larger than --memory,
# little more than that.
. "$(dirname "$0")/start.sh"
work=$folder

# A sparse file of zeros: zeros FILE TYPE ROWS COLUMNS BYTES
zeros() {
    printf '\223NUMPY\001\000\166\000%-117s\n' \
        "{'descr': '$2', 'fortran_order': False, 'shape': ($3, $4), }" >"$1"
    truncate -s $((128 + $5)) "$1"
}
# Peak memory beyond that of a command which filters a tiny image.
zeros "$work/dot.npy" '<f4' 8 8 256
peak() { "$PEAK_MEMORY" "$SEXTANT" filter "$@" -o "$work/out.npy" 2>"$work/said" || fail "$(cat "$work/said")"; }
takes() {
    ranks=$1
    shift
    base=$(peak "$work/dot.npy" --ranks "$ranks")
    echo $(($(peak "$@" --ranks "$ranks") - base))
}
# Five planes of floats of 4 MiB each, in one window. Ranks hold the image, and compute the planes
# directly in rank 0's memory: the total is what the run reports, and little more.
zeros "$work/floats.npy" '<f4' 1024 1024 4194304
zeros "$work/bytes.npy" '|u1' 1024 1024 1048576
for ranks in 1 2 3 4; do
    for image in floats:4 bytes:1; do
        all=$(((5 * 4 + ${image#*:}) * 1024))
        more=$(takes $ranks "$work/${image%:*}.npy" --memory 64 --grid 1x$ranks --json="$work/json")
        said=$(($(sed -n 's/^  "memory": \([0-9]*\),/\1/p' "$work/json") / 1024))
        [ $((said * 100)) -le $((all * 102)) ] ||
            fail "${image%:*} on $ranks ranks: $said KiB reported, expected $all"
        # The kernels' strips, half a MiB per rank, and file buffers are added.
        [ "$more" -le $((all * 105 / 100 + ranks * 1024)) ] ||
            fail "${image%:*} on $ranks ranks: $more KiB, expected $all"
        [ "$more" -ge $((all / 2)) ] || fail "${image%:*} on $ranks ranks: $more KiB are too few to be true"
    done
done

# 64 MiB of bytes, 256 MiB as floats, in windows of 8 MiB in total.
zeros "$work/large.npy" '|u1' 16384 4096 67108864
more=$(takes 2 "$work/large.npy" --memory 8 --sigma .5 --derivatives x)
[ "$more" -le $((8 * 1024 * 105 / 100 + 2 * 1024)) ] || fail "streamed: $more KiB of 8 MiB"

# A volume of 96 planes of 512 x 512 bytes: 192 MiB of results, in windows of planes of 24 MiB in total, which include
# what the kernels hold.
printf '\223NUMPY\001\000\166\000%-117s\n' \
    "{'descr': '|u1', 'fortran_order': False, 'shape': (96, 512, 512), }" >"$work/volume.npy"
truncate -s $((128 + 96 * 512 * 512)) "$work/volume.npy"
for ranks in 1 2 3; do
    more=$(takes $ranks "$work/volume.npy" --memory 24 --derivatives x,hessian-1 --sigma 1.5,1,1 --json="$work/json")
    grep -q '"windows": 1,' "$work/json" && fail "a volume on $ranks ranks: one window"
    [ "$more" -le $((24 * 1024 * 105 / 100 + (ranks + 1) * 1024)) ] || fail "a volume on $ranks ranks: $more KiB of 24 MiB"
    [ "$more" -ge $((10 * 1024)) ] || fail "a volume on $ranks ranks: $more KiB are too few to be true"
done
echo "filters hold what they must"
