#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A series is followed while it is written: the results have the bytes of `register` on the finished
# series, for each kind of file and stream, also after a kill; what goes wrong is reported.
. "$(dirname "$0")/start.sh"
python=/usr/bin/python3
pace=$(cd "$(dirname "$0")" && pwd)/pace.py
"$python" -c 'import sys' 2>/dev/null || { echo "skipped: no Python"; exit 77; }
cd "$folder"
before_exit() { kill $producers $process 2>/dev/null || true; umount small 2>/dev/null || true; }
producers= process=
# open GATE : lets a producer write all of its frames.
open() {
    head -c 1000 /dev/zero >"$1"
}
# produce ARGUMENTS... : writes frames of movie.mrc in the background.
produce() {
    "$python" -B "$pace" movie.mrc "$@" 2>>producer.errors &
    producer=$!
    producers="$producers $producer"
}
follow() {
    "$SEXTANT" register "$@" --follow --reproducible >text 2>errors || { cat errors; fail "register $* --follow"; }
}
# same SERIES FOLDER [OPTIONS]: the folder has the results of a run on the finished series, and nothing else.
same() {
    rm -rf batch
    series=$1 results=$2
    shift 2
    "$SEXTANT" register "$series" -o batch --reproducible "$@" >text 2>batch.errors || { cat batch.errors; fail "register $series"; }
    diff -r batch "$results" || fail "$results is not as for the finished series"
}
said() {
    grep -q -- "$1" errors || { cat errors; fail "no message '$1'"; }
}
# refused WORDS ARGUMENTS... : following fails with these words and leaves no folder.
refused() {
    words=$1
    shift
    "$SEXTANT" register "$@" -o refused >text 2>errors && fail "$* was accepted"
    said "$words"
    [ ! -e refused ] || fail "$* left a folder"
}
# completed : the producer has written its series.
completed() {
    wait $producer || { cat producer.errors; fail "the producer"; }
}
# until_there FILE : waits for a file of the run in the background.
until_there() {
    while [ ! -e "$1" ]; do
        kill -0 $process 2>/dev/null || { cat errors; fail "$1 did not appear"; }
        sleep .05
    done
}
# killed : kills the run in the background.
killed() {
    kill -9 $process
    wait $process 2>/dev/null && fail "it was not killed"
    return 0
}

"$SEXTANT" synthesize -o movie.mrc --frames 40 --width 128 --height 120 --specimen carbon >/dev/null

# made LINKS ALL : a run reused that many links, and no more than all, which were made while it followed.
made() {
    links=$(sed -n 's/.*: \([0-9]*\) results from the time of following are reused/\1/p' errors)
    [ "${links:-0}" -ge "$1" ] && [ "$links" -le "$2" ] || { cat errors; fail "$1 to $2 links are reused, not '$links'"; }
}

# Files that grow. The producer is at most eight frames ahead, so at least the links between the first 31 frames are
# made meanwhile. Each rank forks a process that reads HDF5; AddressSanitizer's allocator is not safe while another
# rank's thread forks.
for kind in mrc tif ser h5 folder raw; do
    ranks=
    if [ "$kind" = h5 ]; then
        "$python" -c 'import h5py' 2>/dev/null || continue
        [ -z "${SEXTANT_SANITIZE:-}" ] || ranks='--ranks 1'
    fi
    name=grows.$kind
    [ "$kind" != raw ] || name=grows.raw::128x120,f32
    produce "grows.$kind" $kind 40 $kind/live.links
    follow "$name" -o "$kind" --idle 5 $ranks
    completed
    said '40 frames'
    made 87 114
    same "$name" "$kind" $ranks
done

# Images of the detector, and a cosmic ray in one frame: links of the other frames are taken.
"$SEXTANT" synthesize -o gain.npy --frames 1 --width 128 --height 120 --specimen carbon --contrast .05 --dose 9999 >/dev/null
cp movie.mrc clean.mrc
printf '\000\200\073\105' | dd of=movie.mrc bs=1 conv=notrunc status=none seek=$((1024 + 4 * ((20 * 120 + 60) * 128 + 64)))
produce ray.mrc mrc 40 ray/live.links
follow ray.mrc -o ray --gain gain.npy
completed
said 'ignored: 1 outlier'
made 81 108
same ray.mrc ray --gain gain.npy
mv clean.mrc movie.mrc

# Streams. Their frames are kept.
mkfifo stream
produce stream raw 80
follow stream::128x120,f32 -o fifo
said 'frames are kept in fifo.frames.raw'
said 'the stream has ended after 40 frames'
said 'fifo.frames.raw: 2.46 MB'
tail -c +1025 movie.mrc | cmp - fifo.frames.raw || fail "the spool is not the stream"
same fifo.frames.raw::128x120,f32 fifo
"$python" -B "$pace" movie.mrc - raw 200 | "$SEXTANT" register /dev/stdin::128x120,f32,frames=40 -o stdin --follow \
    --spool kept.bin --reproducible >text 2>errors || { cat errors; fail "standard input"; }
same kept.bin::128x120,f32,frames=40 stdin
refused 'kept.bin: exists, and may hold frames that are nowhere else' stream::128x120,f32 --follow --spool kept.bin
refused 'the extension .raw or .bin' stream::128x120,f32 --follow --spool kept.dat
refused 'is a stream without a header' stream --follow
: >stream &
refused 'refused.frames.raw: ' stream::128x120,f32 --follow
refused 'is a stream, whose frames can be read only once' stream::128x120,f32
[ ! -e refused.frames.raw ] || fail "a refused stream left a spool"

# A run that is killed while it follows, and its successor, have the same result. Provisional
# results appear meanwhile and are removed at the end.
produce killed.tif tif 12 killed.gate
"$SEXTANT" register killed.tif -o killed --follow --idle 200 --reproducible >text 2>errors &
process=$!
until_there killed/live-motions.csv
until_there killed/live-average.tif
sleep .5
killed
[ ! -e killed/average.tif ] || fail "results appeared before the end"
"$SEXTANT" info killed/live-average.tif | grep -q '128×120' || fail "the provisional average has another size"
grep -q '^0,0.000,0.000,0.0000,1.0000,""$' killed/live-motions.csv || fail "frame 0 is not the reference"
"$SEXTANT" register killed.tif -o killed --follow --idle 2 --rotation 9 2>errors && fail "another run's links were used"
said 'live.links: belongs to a run with other options'
open killed.gate
follow killed.tif -o killed --idle 5
completed
same killed.tif killed

# The same for a stream, whose frames are added to those in the spool; half a frame is dropped.
produce stream raw 40 resumed.gate
"$SEXTANT" register stream::128x120,f32 -o resumed --follow --reproducible >text 2>errors &
process=$!
until_there resumed/live-motions.csv
killed
kill $producer 2>/dev/null || true # if it has not ended, as nobody reads
wait $producer 2>/dev/null || true
kept=$(($(wc -c <resumed.frames.raw) / 61440))
[ "$kept" -ge 1 ] || fail "no frame was kept"
printf 'half a frame' >>resumed.frames.raw
tail -c +$((1025 + kept * 61440)) movie.mrc >stream &
producers="$producers $!"
follow stream::128x120,f32 -o resumed
said 'frames are added to the'
tail -c +1025 movie.mrc | cmp - resumed.frames.raw || fail "frames were lost or repeated"
same resumed.frames.raw::128x120,f32 resumed

# kept FILE FRAMES: the file has the first frames of the movie, and nothing else.
kept() {
    head -c $((1024 + $2 * 61440)) movie.mrc | tail -c +1025 | cmp - "$1" || fail "$1 has not the first $2 frames"
}
# rest FRAMES: writes the frames of the movie from this one on into the stream, in the background.
rest() {
    tail -c +$((1025 + $1 * 61440)) movie.mrc >stream &
    producers="$producers $!"
}

# The file of a stream's frames reaches the largest size that is allowed: whole frames are kept, and the same command
# adds the others.
produce stream raw 80
(ulimit -f 1000 && exec "$SEXTANT" register stream::128x120,f32 -o limited --follow --reproducible) >text 2>errors &&
    fail "frames beyond the limit were lost"
said 'limited.frames.raw: cannot be written: File too large; 8 frames of the stream are kept in limited.frames.raw'
kept limited.frames.raw 8
[ ! -e limited/average.tif ] || fail "results of a part of the stream were written as if it were whole"
wait $producer 2>/dev/null || true
bytes=$(wc -c <limited.frames.raw)
"$SEXTANT" register stream::1280x1200,f32 -o limited --follow >text 2>errors && fail "a layout of larger frames was accepted"
said "limited.frames.raw: has $bytes bytes, expected whole frames of 1280x1200,f32"
rest 8
follow stream::128x120,f32 -o limited
said 'frames are added to the'
kept limited.frames.raw 40
same limited.frames.raw::128x120,f32 limited
# Not even a whole frame.
produce stream raw 80
(ulimit -f 80 && exec "$SEXTANT" register stream::128x120,f32 -o limited.none --follow) >text 2>errors &&
    fail "a stream without a file was accepted"
said 'limited.none.frames.raw: cannot be written: File too large; it has no whole frame'
wait $producer 2>/dev/null || true

# A disk that is full, with the frames on it, or with the results.
mkdir small
if mount -t tmpfs -o size=700k none small 2>/dev/null; then
    produce stream raw 80
    "$SEXTANT" register stream::128x120,f32 -o full --spool small/spool.raw --follow >text 2>errors &&
        fail "frames on a full disk were lost"
    said 'small/spool.raw: cannot be written: No space left on device; 11 frames of the stream are kept'
    kept small/spool.raw 11
    "$SEXTANT" register small/spool.raw::128x120,f32 -o full --reproducible >text 2>errors || { cat errors; fail "frames kept on a full disk"; }
    same small/spool.raw::128x120,f32 full
    wait $producer 2>/dev/null || true
    rm small/spool.raw
    head -c 600k /dev/zero >small/other
    produce stream raw 80
    "$SEXTANT" register stream::128x120,f32 -o small/out --spool spool.raw --follow >text 2>errors &&
        fail "results on a full disk were accepted"
    said 'No space left on device; frames are still taken'
    kept spool.raw 40
    [ ! -e small/out/average.tif ] || fail "an incomplete average is there"
    rm small/other
    umount small
    "$SEXTANT" register spool.raw::128x120,f32 -o moved --reproducible >text 2>errors || { cat errors; fail "frames that were kept"; }
    same spool.raw::128x120,f32 moved
fi

# A kill during the last run: a plain run also takes the links that were made while following.
produce late.mrc mrc 80
"$SEXTANT" register late.mrc -o late --follow --reproducible --stages 90 >text 2>errors &
process=$!
until_there late/checkpoint.0
killed
"$SEXTANT" register late.mrc -o late --reproducible --stages 90 >text 2>errors || { cat errors; fail "the run after the kill"; }
said 'of its results are reused'
rm -rf batch
"$SEXTANT" register late.mrc -o batch --reproducible --stages 90 >text 2>errors
diff -r batch late || fail "the run after a kill differs"

# A run that is stopped for longer than the time that ends a series, as when the machine is suspended.
produce stopped.raw raw 40 stopped.gate
"$SEXTANT" register stopped.raw::128x120,f32 -o stopped --follow --idle 4 --reproducible >text 2>errors &
process=$!
until_there stopped/live-motions.csv
sleep 1
kill -STOP $process
sleep 5
kill -CONT $process
sleep .1
open stopped.gate
completed
wait $process || { cat errors; fail "a run that was stopped"; }
said 'no new frame for 4 s after 40 frames'
same stopped.raw::128x120,f32 stopped

# Series that stop in the middle of a frame.
produce short.mrc mrc-cut 100
follow short.mrc -o short --idle 5
completed
said 'no new frame for 5 s after 39 frames'
said 'truncated: 39 of 40 frames are complete'
same short.mrc short
produce stream raw-cut 100
follow stream::128x120,f32 -o cut
said 'bytes after the last frame are ignored'
same cut.frames.raw::128x120,f32 cut

# Frames that come out of order get their places at the end; a damaged one is left out.
mkdir mixed
for i in 1 2 3 5 6 7; do cp "grows.folder/frame_$i.mrc" mixed; done
cp grows.folder/frame_3.mrc mixed/frame_3a.mrc
"$SEXTANT" register mixed -o order --follow --idle 5 --reproducible >text 2>errors &
process=$!
until_there order/live-motions.csv
cp grows.folder/frame_4.mrc mixed
sleep .3
head -c 30000 grows.folder/frame_8.mrc >mixed/frame_8.mrc
wait $process || { cat errors; fail "frames out of order"; }
said 'mixed/frame_4.mrc came after mixed/frame_7.mrc'
said 'frame 8 is left out'
said '1 of 9 frames equal the frame before them'
same mixed order

# A series that shrinks, is replaced or removed. What is there then can be registered in the same folder.
for change in shrank replaced removed; do
    produce $change.mrc mrc 40 $change.gate
    "$SEXTANT" register $change.mrc -o $change --follow --idle 200 --reproducible >text 2>errors &
    process=$!
    until_there $change/live-motions.csv
    kill $producer
    wait $producer 2>/dev/null || true
    case $change in
    shrank) head -c 5000 movie.mrc >cut.part && cp cut.part $change.mrc ;;
    replaced) cp movie.mrc other.mrc && mv other.mrc $change.mrc ;;
    removed) rm $change.mrc ;;
    esac
    wait $process && fail "a series that $change was accepted"
    said "$change.mrc: .*$change.*while it was followed"
    [ $change != removed ] || cp movie.mrc $change.mrc
    [ $change != shrank ] || cp movie.mrc $change.mrc
    "$SEXTANT" register $change.mrc -o $change --reproducible >text 2>errors || { cat errors; fail "after a series $change"; }
    same $change.mrc $change
done

# A program that begins its file again: the frames that were taken before are not those at the end.
head -c $((1024 + 20 * 61440)) movie.mrc >again.mrc
{ head -c 1024 movie.mrc; tail -c $((30 * 61440)) movie.mrc; } >other.part
"$SEXTANT" register again.mrc -o again --follow --idle 5 --reproducible >text 2>errors &
process=$!
until_there again/live-motions.csv
sleep .5
cat other.part >again.mrc # the same file, which is shorter for a moment
if wait $process; then
    same again.mrc again
else
    said 'again.mrc: shrank'
    "$SEXTANT" register again.mrc -o again --reproducible >text 2>errors || { cat errors; fail "after a file was begun again"; }
    same again.mrc again
fi

# In a folder: a frame of another size, one that is written again, and one that is removed.
mkdir several
for i in 0 1 2 3 4 5; do cp "grows.folder/frame_$i.mrc" several; done
"$SEXTANT" synthesize -o smaller.mrc --frames 1 --width 64 --height 64 >/dev/null
"$SEXTANT" register several -o changed --follow --idle 5 --reproducible >text 2>errors &
process=$!
until_there changed/live-motions.csv
cp grows.folder/frame_20.mrc several/frame_2.mrc
cp smaller.mrc several/frame_6.mrc
cp grows.folder/frame_7.mrc several
wait $process || { cat errors; fail "a folder whose frames change"; }
said 'frame 6 is left out.*64×64, expected 128×120'
same several changed
"$SEXTANT" register several -o gone --follow --idle 200 --reproducible >text 2>errors &
process=$!
until_there gone/live-motions.csv
rm several/frame_3.mrc
wait $process && fail "a frame was removed, which was accepted"
said 'several/frame_3.mrc: was removed while the series was followed'
"$SEXTANT" register several -o gone --reproducible >text 2>errors || { cat errors; fail "after a frame was removed"; }
same several gone

# One process follows a series.
if [ -n "${MPIRUN:-}" ]; then
    $MPIRUN -n 2 "$SEXTANT" register movie.mrc -o refused --follow 2>errors && fail "two processes follow a series"
    said 'one process follows a series'
fi

# What cannot be followed is refused before anything is written.
refused '--idle has no effect here: only with --follow' movie.mrc --idle 3
refused 'missing.mrc: no such file' missing.mrc --follow --idle .2
"$SEXTANT" register mixed -o mixed --follow 2>errors && fail "results among the frames"
said 'mixed: is the folder of the frames'
"$SEXTANT" synthesize -o movie.zarr --frames 3 --width 64 --height 64 >/dev/null
refused 'movie.zarr: is a Zarr store, which cannot be followed' movie.zarr --follow
refused "'pear'" movie.mrc --follow --model pear
refused 'is not a part of a layout' grows.raw::128x120,f32,pear --follow --idle .2
refused 'canvas union: displacement' movie.mrc --follow --canvas union --model nonrigid
