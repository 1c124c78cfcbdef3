#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Bad input gives one clear line and the right exit code; no output remains, and nothing hangs.
set -u
folder=$(mktemp -d)
trap 'umount "$folder/full" 2>/dev/null; rm -rf "$folder"' EXIT
export SEXTANT_PROBE=off XDG_CONFIG_HOME="$folder/config" XDG_CACHE_HOME="$folder/cache" # as in start.sh
unset SEXTANT_MACHINE
data=$(dirname "$SAMPLE")
failed=0

# refuses CODE PATTERN COMMAND...: the command must end with CODE and one line that matches PATTERN,
# and leave no output.
refuses() {
    code=$1 pattern=$2
    shift 2
    said=$(timeout 250 "$@" 2>&1 >/dev/null)
    got=$?
    ours=$(printf '%s\n' "$said" | grep -c '^sextant: ')
    if [ $got != "$code" ] || [ "$ours" != 1 ] || ! printf '%s\n' "$said" | grep -Eq -- "$pattern"; then
        echo "FAILED: $*"
        echo "  exit code $got, expected $code; expected a line with: $pattern"
        printf '%s\n' "$said" | sed 's/^/  | /' | head -n 12
        failed=1
    else
        printf '%s\n' "$said" | grep '^sextant: '
    fi
    for left in "$folder"/out* "$folder"/.out*; do
        [ -e "$left" ] && { echo "FAILED: left behind: $left"; failed=1; rm -rf "$left"; }
    done
}
out=$folder/out.exr
composite="$SEXTANT composite"

# Wrong usage.
refuses 2 "unknown compositing algorithm 'radixk'; did you mean radix-k" $composite "$SAMPLE" -o $out --algorithm radixk
refuses 2 "radices 3,2 multiply to 6, but 8" $composite "$SAMPLE" -o $out --algorithm radix-k --radices 3,2
refuses 2 "radices 4,x: expected a whole number" $composite "$SAMPLE" -o $out --radices 4,x
refuses 2 "binary-swap does not support 5 .*power of two" $composite "$SAMPLE" -o $out --algorithm binary-swap --ranks 5
refuses 2 "direct-send does not use radices" $composite "$SAMPLE" -o $out --algorithm direct-send --radices 4,2
refuses 2 "unknown operator 'ovr'; did you mean over" $composite "$SAMPLE" -o $out --operator ovr
refuses 2 "'nearest' does not support rgba f16; it supports rgba.depth f32" $composite "$SAMPLE" -o $out --operator nearest --element f16
refuses 2 "element.*did you mean" $composite "$SAMPLE" -o $out --element f61
refuses 2 "order names 2 of 8" $composite "$SAMPLE" -o $out --order 0,1
refuses 2 "order names image 9: expected 0 to 7" $composite "$SAMPLE" -o $out --order 0,1,2,3,4,5,6,9
refuses 2 "order names image 1 twice" $composite "$SAMPLE" -o $out --order 0,1,1,3,4,5,6,7
refuses 2 "background mauve: expected white" $composite "$SAMPLE" -o $out --background mauve
refuses 2 "ranks 0: expected a whole number from 1 to" $composite "$SAMPLE" -o $out --ranks 0
refuses 2 "association.*did you mean in-order" $composite "$SAMPLE" -o $out --association in-orde
refuses 2 "shared-memory off: ranks are threads .*expected processes" $composite "$SAMPLE" -o $out --shared-memory off
refuses 2 "output" $composite "$SAMPLE"
"$SEXTANT" composite "$SAMPLE" -o "$folder/front.png" >/dev/null
"$SEXTANT" composite "$SAMPLE" -o "$folder/part.exr" >/dev/null
refuses 2 "front.png holds values encoded for display .sRGB., .*part.exr holds linear values" $composite "$folder/front.png" "$folder/part.exr" -o $out
refuses 2 "front.png holds values encoded for display .sRGB., .*part.exr holds linear values" $composite "$folder/part.exr" "$folder/front.png" -o $out --ranks 1
refuses 2 "unknown option '--orderr'; did you mean --order" $composite "$SAMPLE" -o $out --orderr 0,1
refuses 2 "output needs a value" $composite "$SAMPLE" --output
refuses 2 "output is given 2 times" $composite "$SAMPLE" -o $out -o $out
refuses 2 "IN... is missing" $composite -o $out
refuses 2 "unknown command 'compsite'; did you mean composite" "$SEXTANT" compsite "$SAMPLE" -o $out
refuses 2 "unknown option '--verison'; did you mean --version" "$SEXTANT" --verison
refuses 2 "a command is missing; expected one of .*composite" "$SEXTANT"
refuses 2 "unknown value for WHAT: 'algoritms'; did you mean algorithms" "$SEXTANT" list algoritms
refuses 2 "unexpected argument 'all'" "$SEXTANT" list formats all
refuses 2 "direct-send on 2048 ranks has more than 2,000,000 messages" $SEXTANT draw --ranks 2048 -o $out
refuses 2 "nothing to prove: binary-swap requires a power of two" "$SEXTANT" prove --algorithm binary-swap --ranks 3
refuses 2 "unknown scan algorithm 'radix-k'; expected one of kogge-stone" "$SEXTANT" prove scan --algorithm radix-k
refuses 2 "unknown halo algorithm 'foo'" "$SEXTANT" draw halo --algorithm foo -o $out
refuses 2 "scan has no parameters" "$SEXTANT" draw scan --radices 3,3 -o $out
refuses 2 "scan has no image to collect" "$SEXTANT" draw scan --collect -o $out
refuses 2 "radices 4,2 multiply to 8, but 7" "$SEXTANT" prove --radices 4,2 --ranks 7
refuses 2 "direct-send on 4096 ranks has more than 2,000,000 messages" "$SEXTANT" prove --algorithm direct-send --ranks 4096
refuses 2 "radix-k does not use a window" $composite "$SAMPLE" -o $out --algorithm radix-k --window 2
refuses 2 "window 0: expected a whole number from 1 to" $composite "$SAMPLE" -o $out --window 0
refuses 2 "out.xyz.*expected one of .exr" $composite "$SAMPLE" -o "$folder/out.xyz"
refuses 2 "out.exr is given for two outputs" $composite "$SAMPLE" -o $out --report "$folder/./out.exr"
refuses 2 "- is given for two outputs" $composite "$SAMPLE" -o $out --json - --report -

refuses 2 "OUT is empty|--output is empty: expected a name" $composite "$SAMPLE" -o ''
refuses 2 "IN... is empty: expected a name" $composite '' -o $out
refuses 2 "window 0: expected a whole number from 1 to 1073741824" $composite "$SAMPLE" -o $out --window 0

# An option takes effect or is refused, never ignored.
refuses 2 "sigma has no effect here: only explain filter uses this option" "$SEXTANT" explain --sigma 3
refuses 2 "operator has no effect here: only explain composite uses this option" "$SEXTANT" explain filter --operator max
refuses 2 "ranks has no effect here: only explain composite and filter use this option" "$SEXTANT" explain scan --ranks 3
refuses 2 "cores has no effect here: only explain scan uses this option" "$SEXTANT" explain filter --cores 3
refuses 2 "size has no effect here: only the built-in case of bench composite uses this option" "$SEXTANT" bench scan --size 64
refuses 2 "launcher has no effect here: .*--transport mpi" "$SEXTANT" calibrate --launcher 'mpirun -n 2' -o "$out"
refuses 2 "cases has no effect here: nothing is measured" "$SEXTANT" evaluate --platform crossbar-12-calibrated --cases 2
refuses 2 "clock has no effect here: expected --platform" "$SEXTANT" evaluate --clock
refuses 2 "operator has no effect here: expected --machine" "$SEXTANT" simulate --platform crossbar-12 --operator max
"$SEXTANT" composite "$SAMPLE" -o "$folder/planned.exr" --algorithm direct-send --plan "$folder/plan.json" >/dev/null || failed=1
"$SEXTANT" composite "$SAMPLE" -o "$folder/planned.exr" --algorithm direct-send --plan "$folder/plan.json" >/dev/null || failed=1
refuses 2 "algorithm radix-k: the plan $folder/plan.json has direct-send; omit" $composite "$SAMPLE" -o $out --plan "$folder/plan.json" --algorithm radix-k
refuses 2 "sparse on: the plan $folder/plan.json has direct-send; omit" $composite "$SAMPLE" -o $out --plan "$folder/plan.json" --sparse on

"$SEXTANT" synthesize -o "$folder/one.npy" --frames 1 --width 64 --height 64 >/dev/null || failed=1
"$SEXTANT" synthesize -o "$folder/noise.npy" --frames 4 --width 64 --height 64 --contrast 0 >/dev/null || failed=1
head -c 4096 /dev/zero >"$folder/zeros.raw" # directions: each leads to the right
refuses 2 "pattern has no effect here: $folder/noise.npy is a volume" "$SEXTANT" label "$folder/noise.npy" -o "$folder/out.npy" --pattern 2-lev-rc
refuses 2 "no-probe has no effect here: --machine names a profile" "$SEXTANT" label "$folder/one.npy" -o "$folder/out.npy" --grid 2x1 --machine x --no-probe
refuses 2 "budget has no effect here: --check" "$SEXTANT" calibrate --check das --budget 1s
refuses 2 "title is empty: expected TEXT" "$SEXTANT" report "$folder/trace.json" -o "$out" --title ''
refuses 2 "launcher is empty: expected COMMAND" "$SEXTANT" calibrate --transport mpi --launcher '' -o "$out"
refuses 2 "unexpected argument '3'" "$SEXTANT" list formats --json=- 3
[ -z "${MPIRUN:-}" ] || refuses 1 "launcher env: a launch measured transport threads, expected mpi" \
    "$SEXTANT" calibrate --transport mpi --launcher env --launches 1 --budget 100ms -o "$folder/out.json"

# Data that no option makes usable: exit code 1, and the file is named, after advice.
unusable() { exits 1 "$@"; }
# exits CODE TEXT ARGUMENTS...: the command must end with CODE, and say TEXT.
exits() {
    code=$1 text=$2
    shift 2
    said=$("$SEXTANT" "$@" 2>&1 >/dev/null)
    got=$?
    case "$got $said" in
    "$code "*"$text"*) ;;
    *) echo "FAILED: $*: exit code $got, expected $code, $text: $said"; failed=1 ;;
    esac
    rm -rf "$folder"/out*
}
zeros=$folder/zeros.raw
unusable "$zeros: none of 4 frames could be registered" register "$zeros::32x32,u8" -o "$folder/out"
unusable "of 4 frames could be registered; at least 2 are needed" register "$folder/noise.npy" -o "$folder/out"
unusable "one.npy has 1 frame, expected at least two" register "$folder/one.npy" -o "$folder/out"
unusable "$zeros: the frames have 8x8 pixels, expected at least 16x16" register "$zeros::8x8,u8" -o "$folder/out"
unusable "$zeros has 32x128 pixels, expected 64x64" register "$folder/noise.npy" -o "$folder/out" --dark "$zeros::32x128,u8"
unusable "$zeros::64x64,i8: direction 0 at (63, 0) leads to (64, 0)" contours "$zeros::64x64,i8" --directions -o "$folder/out.csv"
unusable "noise.npy holds f32, expected labels" measure "$folder/noise.npy" -o "$folder/out.csv"
unusable "$zeros has 4x32x32 voxels, expected 4x64x64" label "$folder/noise.npy" -o "$folder/out.npy" --table "$folder/out.csv" \
    --intensity "$zeros::32x32,u8"
printf 'file,z,y,x\nlabels.npy,0,0,0\nlabels.npy,0,0,0\n' >"$folder/twice.csv"
"$SEXTANT" label "$folder/one.npy" -o "$folder/labels.npy" >/dev/null || failed=1
unusable "have the same position" stitch "$folder/twice.csv" -o "$folder/out.npy"
unusable "mean brightness of the specimen is 0" synthesize --image "$zeros::64x64,u8" -o "$folder/out.npy"

# Exit code 1: the data do not have what a correct command line requests. Exit code 2: options do not fit one another,
# the kind of the input, or the format of the output.
noise=$folder/noise.npy one=$folder/one.npy planes=$folder/planes.npy image=$folder/out.npy
"$SEXTANT" label "$noise" -o "$planes" >/dev/null || failed=1
"$SEXTANT" synthesize -o "$folder/movie.tif" --frames 3 --width 64 --height 64 >/dev/null || failed=1
"$SEXTANT" register "$folder/movie.tif" -o "$folder/motions" >/dev/null || failed=1
motions=$folder/motions/transforms.json
for command in "filter -o $image" "label -o $image" "contours -o $folder/out.csv"; do
    exits 1 "frame 1 of $one does not exist: the series has 1 frames" $command "$one" --frame 1
done
exits 1 "--reference 99: expected 0 to 3" register "$noise" --reference 99 -o "$folder/out"
exits 1 "--frames 0,99: there is no frame 99" register "$noise" --frames 0,99 -o "$folder/out"
exits 2 "--frames 0,0,1: frame 0 is listed twice" register "$noise" --frames 0,0,1 -o "$folder/out"
exits 2 "--frames 0-2,1: frame 1 is listed twice" register "$noise" --frames 0-2,1 -o "$folder/out"
exits 2 "--thread-work has no effect here: " register "$noise" --thread-work rows -o "$folder/out"
exits 1 "--sigma in µm: $one states no pixel size" filter "$one" --sigma 2um -o "$image"
exits 1 "$one: has no channel 3, expected channel 0" filter "$one" --channel 3 -o "$image"
exits 2 "time 0: $one is an image, which has no times or slices" filter "$one" --time 0 -o "$image"
exits 2 "axes TYX: $folder/movie.tif is not an array" filter "$folder/movie.tif" --axes TYX --frame 0 -o "$image"
exits 1 "--size: $planes ends at z 4, expected 3 or less" stitch "$planes" --block 1,0,0 --size 3,64,64 -o "$image"
exits 2 "--block: $planes has 4 planes, expected three numbers" stitch "$planes" --block 1,0 -o "$image"
exits 2 "--block 0,0,0: cuts along no axis" stitch "$planes" --block 0,0,0 -o "$image"
exits 2 "--allow-gaps has no effect here: one volume has no gaps" stitch "$planes" --block 1,0,0 --allow-gaps -o "$image"
exits 2 "--allow-external has no effect here: only HDF5 and Zarr" filter "$one" --allow-external -o "$image"
exits 2 "out.npy: NPY files have no levels of lower resolution" label "$one" --pyramid -o "$image"
exits 2 "out.npy: NPY files have no levels of lower resolution" label "$noise" --pyramid -o "$image"
exits 2 "out.npy: NPY files have no levels of lower resolution" apply "$motions" "$folder/movie.tif" --pyramid -o "$image"
exits 2 "--neighbours 6: $one is an image, expected 4 or 8" label "$one" --neighbours 6 -o "$image"
for command in "apply $motions $folder/movie.tif" "filter $one" "label $one" "contours $one" "synthesize --image $one"; do
    exits 2 "$folder/out.xyz: " $command -o "$folder/out.xyz"
done

# Messages quote only parts of long inputs.
long=$folder/long.txt
head -c 10000000 /dev/zero | tr '\0' x >"$long"
for input in "$long" "$(head -c 100000 "$long")" "$folder/$(head -c 90000 "$long").txt"; do
    for words in info "register -o $folder/out" "filter -o $folder/out.npy"; do
        said=$("$SEXTANT" $words "$input" 2>&1) && { echo "FAILED: a long input is accepted: $words"; failed=1; }
        [ ${#said} -lt 4000 ] || { echo "FAILED: $words prints ${#said} characters"; failed=1; }
    done
done
rm "$long"

# Files.
sed 's/"window": 0/"window": 9999999999/' "$folder/plan.json" >"$folder/many.json"
refuses 1 "many.json: window is 9999999999, expected a whole number from 0 to 1073741824" $composite "$SAMPLE" -o $out --plan "$folder/many.json"
sed 's/"algorithm": "direct-send"/"algorithm": "direct-sned"/' "$folder/plan.json" >"$folder/named.json"
refuses 1 "named.json: algorithm names an unknown compositing algorithm 'direct-sned'; did you mean direct-send" $composite "$SAMPLE" -o $out --plan "$folder/named.json"
printf '\223PNG' >"$folder/binary.json"
refuses 1 "binary.json: is not JSON: parse error at line 1, column 1: [ -~]*$" $composite "$folder/binary.json" -o $out
refuses 1 "SEXTANT_MACHINE: $folder/none.json: no such file" env SEXTANT_MACHINE="$folder/none.json" $composite "$SAMPLE" -o $out
refuses 1 "$folder: is a folder, expected a file" $composite "$SAMPLE" -o $out --machine "$folder"
refuses 1 "^sextant: /proc/out.exr: cannot be written: No such file or directory" $composite "$SAMPLE" -o /proc/out.exr
refuses 1 "missing.exr" $composite "$folder/missing.exr" -o $out
cp -r "$data" "$folder/data"
partial=$folder/data/partial_3.rgba32f.zst
head -c 30000 "$data/partial_3.rgba32f.zst" >"$partial"
refuses 1 "partial_3.rgba32f.zst" $composite "$folder/data/manifest.json" -o $out
rm "$partial"
refuses 1 "partial_3" $composite "$folder/data/manifest.json" -o $out
echo '{"size": [512' >"$folder/data/manifest.json"
refuses 1 "manifest.json" $composite "$folder/data/manifest.json" -o $out
"$SEXTANT" composite "$SAMPLE" -o "$folder/good.exr" >/dev/null || failed=1
head -c 2000 "$folder/good.exr" >"$folder/cut.exr"
refuses 1 "cut.exr" $composite "$folder/good.exr" "$folder/cut.exr" -o $out
refuses 1 "good.exr: has no depth" $composite "$folder/good.exr" -o $out --operator nearest
refuses 1 "^sextant: $folder/nowhere/out.exr" $composite "$SAMPLE" -o "$folder/nowhere/out.exr"
refuses 1 "nowhere" $composite "$SAMPLE" -o $out --report "$folder/nowhere/page.html"
refuses 1 "nowhere" $composite "$SAMPLE" -o $out --json="$folder/nowhere/run.json"
refuses 1 "nowhere" "$SEXTANT" draw scan -o "$folder/nowhere/scan.svg"

# A full disk leaves no partial file and keeps existing files.
mkdir "$folder/full"
if mount -t tmpfs -o size=64k tmpfs "$folder/full" 2>/dev/null; then
    refuses 1 "full/out.exr.*[Nn]o space" $composite "$SAMPLE" -o "$folder/full/out.exr"
    [ -z "$(ls -A "$folder/full")" ] || { echo "FAILED: left on the full disk"; failed=1; }
fi
if [ "$(id -u)" != 0 ]; then
    mkdir "$folder/locked" && chmod 555 "$folder/locked"
    refuses 1 "locked/out.exr" $composite "$SAMPLE" -o "$folder/locked/out.exr"
fi

# The launcher of another MPI.
if [ -n "${MPIRUN:-}" ]; then
    case $($MPIRUN --version 2>&1) in
    *"Open MPI"* | *OpenRTE*)
        refuses 2 "MPICH's mpirun.*built with Open MPI" env PMI_FD=3 PMI_SIZE=2 PMI_RANK=0 $composite "$SAMPLE" -o $out
        other=mpirun.mpich says="MPICH's mpirun.*built with Open MPI" ;;
    *)
        refuses 2 "Open MPI's mpirun.*built with MPICH" env OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=0 $composite "$SAMPLE" -o $out
        other=mpirun.openmpi says="Open MPI's mpirun.*built with MPICH" ;;
    esac
    if command -v $other >/dev/null; then
        refuses 2 "$says" $other -n 2 $composite "$SAMPLE" -o $out
    fi
    refuses 2 "2 tasks without MPI" env SLURM_STEP_ID=0 SLURM_PROCID=0 SLURM_NTASKS=2 $composite "$SAMPLE" -o $out
    # The same under the launcher: one line from Sextant, all processes end.
    refuses 1 "cut.exr" $MPIRUN -n 3 $composite "$folder/good.exr" "$folder/good.exr" "$folder/cut.exr" -o $out
    refuses 2 "radices 3,2 multiply to 6" $MPIRUN -n 3 $composite "$SAMPLE" -o $out --algorithm radix-k --radices 3,2
    refuses 1 "nowhere" $MPIRUN -n 2 $composite "$SAMPLE" -o "$folder/nowhere/out.exr"
    refuses 2 "ranks 5: the launcher started 2" $MPIRUN -n 2 $composite "$SAMPLE" -o $out --ranks 5
    "$SEXTANT" synthesize -o "$folder/scan.npy" --frames 1 --width 40 --height 30 || failed=1
    filter="$SEXTANT filter $folder/scan.npy -o $folder/out.npy"
    refuses 2 "--sigma: rank 0 has 2, rank 1 has 3" $MPIRUN -n 1 $filter --sigma 2 : -n 1 $filter --sigma 3
    refuses 2 "--memory: rank 0 has 9M, rank 1 has 64M" $MPIRUN -n 1 $filter --memory 9 : -n 1 $filter
    refuses 2 "--grid: rank 0 has none, rank 1 has 1x2" $MPIRUN -n 1 $filter : -n 1 $filter --grid 1x2
    # Ranks that name different inputs or outputs would each read or write a part of them.
    cp "$folder/scan.npy" "$folder/other.npy"
    cp "$folder/noise.npy" "$folder/others.npy"
    cp "$folder/good.exr" "$folder/one.exr"
    cp "$folder/good.exr" "$folder/other.exr"
    for words in "label scan.npy other.npy .npy" "filter scan.npy other.npy .npy" \
        "contours scan.npy other.npy .csv" "measure noise.npy others.npy .csv" \
        "stitch scan.npy other.npy .npy" "register noise.npy others.npy .d" \
        "composite one.exr other.exr .exr"; do
        set -- $words
        run="$SEXTANT $1" one=$folder/$2 other=$folder/$3 to=$folder/out$4
        refuses 2 "rank 0 has [^ ]*/$2, rank 1 has [^ ]*/$3" \
            $MPIRUN -n 1 $run $one -o "$to" : -n 1 $run $other -o "$to"
        refuses 2 "--output: rank 0 has $to, rank 1 has $to$4" \
            $MPIRUN -n 1 $run $one -o "$to" : -n 1 $run $one -o "$to$4"
    done
    refuses 2 "IN...: rank 0 has .*, rank 1 has " $MPIRUN -n 1 $composite $folder/one.exr $folder/other.exr -o $out : \
        -n 1 $composite $folder/other.exr $folder/one.exr -o $out
    refuses 2 "--plan: rank 0 has none, rank 1 has p" $MPIRUN -n 1 $composite $folder/one.exr -o $out : \
        -n 1 $composite $folder/one.exr -o $out --plan p
fi

# Invalid pixels are used, and a warning counts them: of three pixels, one is NaN and one exceeds
# its opacity. The warning is complete however long the path is.
odd=$folder/odd/$(printf '%0200d/%0200d' 0 1)
mkdir -p "$odd"
printf '\000\000\300\177\000\000\000\000\000\000\000\000\000\000\000\000' >"$odd/partial_0.rgba32f"
printf '\000\000\200\077\000\000\000\000\000\000\000\000\000\000\000\077' >>"$odd/partial_0.rgba32f"
printf '\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000' >>"$odd/partial_0.rgba32f"
echo '{"size": [3, 1], "order_front_to_back": [0], "bricks": [{"id": 0, "file": "partial_0.rgba32f"}]}' \
    >"$odd/manifest.json"
said=$("$SEXTANT" composite "$odd/manifest.json" -o "$folder/odd.png" 2>&1 >/dev/null)
echo "$said"
case $said in
*"$odd"*"not a number: 1 pixel;"*"not premultiplied ("*"): 1 pixel; these pixels are used unchanged"*) ;;
*) echo "FAILED: odd pixels: $said"; failed=1 ;;
esac
# Traces.
page=$folder/out.html
: >"$folder/trace.json"
refuses 1 "trace.json: is empty, expected a trace" "$SEXTANT" report "$folder/trace.json" -o "$page"
"$SEXTANT" composite "$SAMPLE" -o "$folder/picture.exr" --trace "$folder/trace.json" >/dev/null
head -c 5000 "$folder/trace.json" >"$folder/cut.json"
refuses 1 "cut.json: is not JSON: unexpected end of the text: the file is truncated" "$SEXTANT" report "$folder/cut.json" -o "$page"
refuses 1 "partial_0.rgba32f.zst: is not JSON" "$SEXTANT" report "$data/partial_0.rgba32f.zst" -o "$page"
refuses 2 "expected --model NAME" "$SEXTANT" predict --machine "$MACHINES/das.json" --trace "$folder/out.json"

# Files of a newer version, and of none.
# newer FIELD FILE COMMAND...: the command must refuse copies of the file with another version. It names them as newer.json.
newer() {
    field=$1 file=$2
    shift 2
    for version in 7 0 '"1.0"'; do
        sed "s/\"$field\": *1\([,}]\|$\)/\"$field\": $version\1/" "$file" >"$folder/newer.json"
        cmp -s "$file" "$folder/newer.json" && { echo "FAILED: $file has no $field 1"; failed=1; }
        case $version in
        7) expected='is 7, expected 1: the file was written by a newer version of Sextant' ;;
        *) expected="is $version, expected 1\$" ;;
        esac
        refuses 1 "newer.json: (.*\.)?$field $expected" "$@"
    done
}
cd "$folder" || exit 1
"$SEXTANT" explain composite --ranks 8 --json=plan.json >/dev/null
"$SEXTANT" synthesize -o movie.tif --frames 3 --width 64 --height 64 >/dev/null
"$SEXTANT" filter movie.tif -o smooth.npy --sigma 3 --ranks 2 --plan filter-plan.json >/dev/null
"$SEXTANT" register movie.tif -o aligned >/dev/null
sed '1s/{/{"version": 1,/' "$SAMPLE" >manifest.json
newer version manifest.json $composite newer.json -o $out
newer version "$MACHINES/das.json" "$SEXTANT" explain composite --ranks 8 --machine newer.json
newer version "$(dirname "$MACHINES")/platforms/fat-tree-144.json" "$SEXTANT" simulate --platform newer.json --algorithm radix-k --ranks 8
newer plan_version plan.json $composite "$SAMPLE" -o $out --plan newer.json
newer plan_version filter-plan.json "$SEXTANT" filter movie.tif -o out.npy --sigma 3 --plan newer.json
newer sextant_trace trace.json "$SEXTANT" report newer.json -o "$page"
newer version aligned/transforms.json "$SEXTANT" apply newer.json movie.tif -o out.tif

exit $failed
