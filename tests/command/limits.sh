#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A small file, a number or a name cannot exhaust memory, run for ever, end in a library's error, or
# write control sequences to the terminal.
set -u
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export SEXTANT_PROBE=off XDG_CONFIG_HOME="$folder/config" XDG_CACHE_HOME="$folder/cache" # as in start.sh
unset SEXTANT_MACHINE
cd "$folder" || exit 1
failed=0
fails() { echo "FAILED: $*"; failed=1; }

# refuses CODE TEXT ARGUMENTS...: expects one line on standard error, "sextant: " followed by TEXT.
refuses() {
    code=$1 text=$2
    shift 2
    timeout 250 "$SEXTANT" "$@" >said.out 2>said
    got=$?
    [ $got = "$code" ] || fails "$(echo "$*" | head -c 200): ends with $got, expected $code"
    case $(cat said) in
    "sextant: $text"*) ;;
    *) fails "$(echo "$*" | head -c 200) says: $(head -c 400 said)" ;;
    esac
    [ "$(wc -l <said)" = 1 ] && [ "$(wc -c <said)" -lt 600 ] || fails "$(echo "$*" | head -c 200): not one short line"
    if LC_ALL=C grep -q "$(printf '[\001-\010\013-\037]')" said; then fails "$*: a control character in the line"; fi
}

# JSON files.
repeated() { head -c "$2" /dev/zero | tr '\0' "$1"; }
{ printf '{"cases": '; repeated '[' 100000; repeated ']' 100000; printf '}'; } >deep.json
{ printf '{"cases": [{"width": '; repeated 9 10000000; printf '}]}'; } >digits.json
{ printf '{"cases": ['; yes 1, | head -n 200000 | tr -d '\n'; printf '1]}'; } >many.json
{ printf '{"frames": 0'; i=0; while [ $i -le 1000 ]; do printf ',"k%d":1' $i; i=$((i + 1)); done; printf '}'; } >keys.json
printf '{"cases": [{"width": 1, "width": 2}]}' >twice.json
printf '{"cases": [{"width": 18446744073709551615}]}' >large.json
"$SEXTANT" synthesize -o movie.npy --width 64 --height 64 --frames 3 --drift-x .2 --drift-y .1 \
    >/dev/null || fails "synthesize"
for what in composite collective filter scan; do
    refuses 1 "deep.json: is nested more than 100 deep" bench $what --cases deep.json
    refuses 1 "digits.json: is not JSON: number overflow parsing '999" bench $what --cases digits.json
    refuses 1 "many.json: holds more than 100000 values" bench $what --cases many.json
    refuses 1 "twice.json: has the key \"width\" twice in one object" bench $what --cases twice.json
done
refuses 1 "large.json: cases[0].width is 18446744073709551615, expected a whole number from 1 to" bench composite --cases large.json
refuses 1 "deep.json: is nested more than 100 deep" composite deep.json -o out.exr
refuses 1 "deep.json: is nested more than 100 deep" apply deep.json movie.npy -o out.npy
refuses 1 "keys.json: has an object of more than 1000 keys" apply keys.json movie.npy -o out.npy
refuses 1 "deep.json: is nested more than 100 deep" report deep.json -o out.html

# Files without an end, or that never answer.
mkfifo pipe pipe.json pipe.csv
for file in /dev/zero pipe; do
    refuses 1 "$file: is not a regular file" composite "$SAMPLE" -o out.exr --plan $file
    refuses 1 "$file: is not a regular file" filter movie.npy --frame 0 -o out.npy --plan $file
    refuses 1 "$file: is not a regular file" bench composite --cases $file
    refuses 1 "$file: is not a regular file" apply $file movie.npy -o out.npy
    refuses 1 "$file: is not a regular file" report $file -o out.html
    refuses 1 "$file: is not a regular file" predict --ranks 4 --machine $file
    refuses 1 "$file: is not a regular file" evaluate --judge $file
    refuses 1 "$file: is not a regular file" explain scan --times $file
done

# Outputs: a pipe needs a reader; /dev/null is allowed.
refuses 1 "pipe.json: cannot be written: the path is a pipe without a reader" draw scan --ranks 2 -o pipe.json
ln -s /dev/null null.json
"$SEXTANT" composite "$SAMPLE" -o out.png --json=null.json >/dev/null || fails "--json to /dev/null"
[ -c /dev/null ] && [ -s out.png ] || fails "/dev/null or the picture is gone"
rm out.png
exec 3<>pipe.json 4<pipe.json # both ends are open before draw checks for a reader
cat <&4 >read 3>&- &
"$SEXTANT" draw scan --ranks 2 -o pipe.json 3>&- 4<&- || fails "a pipe with a reader"
exec 3>&- 4<&-
wait
grep -q '<svg' read || fails "the reader of a pipe got: $(head -c 100 read)"

# Numbers.
refuses 2 "--dose 4294967296: expected a number from 1e-06 to 1000000" synthesize -o out.tif --dose 4294967296
refuses 2 "--contrast 1e18: expected a number from 0 to 10" synthesize -o out.tif --contrast 1e18
refuses 2 "--detail 1e-320: expected a number from 1.5 to 1000" synthesize -o out.tif --specimen particles --detail 1e-320
refuses 2 "--blanks 4294967296: expected a whole number from 0 to 16777216" synthesize -o out.tif --blanks 4294967296
refuses 2 "--before lists 40 names, expected 16 or fewer" filter movie.npy --frame 0 -o out.npy \
    --before "$(yes smooth@2 | head -n 40 | paste -sd, -)"
refuses 2 "--before smooth@1e-320: expected a derivative or feature, @ and a sigma from 0.5 to 1000" \
    filter movie.npy --frame 0 -o out.npy --before smooth@1e-320
refuses 2 "--ci 1e-320%: expected a fraction from 0.01% to 100%" calibrate -o out.json --ci 1e-320%
refuses 2 "--budget 0x5s: expected a time from 1ms to 1440m" calibrate -o out.json --budget 0x5s
refuses 2 "--thresholds 0x1,nan: expected two numbers, LOW,HIGH, from 0 to 1e+38" \
    contours movie.npy --frame 0 -o out.svg --thresholds 0x1,nan
refuses 2 "--speedup 1e-320: expected up to 4096 numbers from 0.001 to 1000000" explain scan --speedup 1e-320
refuses 2 "--background 0x1,1,1: expected " composite "$SAMPLE" -o out.exr --background 0x1,1,1
for overhead in 1e-320 0 1; do
    "$SEXTANT" simulate --platform crossbar-12-calibrated --clock --ranks 2 --send-overhead $overhead >/dev/null ||
        fails "simulate --send-overhead $overhead"
done

# Names and texts in files with control sequences, and names that are not UTF-8.
name=$(printf 'b\377\033[31m')
cp movie.npy "$name.npy"
"$SEXTANT" info "$name.npy" --json >said.out || fails "info of a name that is not UTF-8"
grep -q '"file": "b�\\u001b\[31m.npy"' said.out || fails "info --json: $(head -n 2 said.out)"
"$SEXTANT" info "$name.npy" | grep -qF 'b\xff\x1b[31m.npy: NPY' || fails "info: $(head -n 1 said.out)"
for command in "composite $SAMPLE -o" "label movie.npy --frame 0 -o" "filter movie.npy --frame 0 -o"; do
    ending=tif
    [ "${command%% *}" = composite ] && ending=png
    "$SEXTANT" $command "$name.$ending" --json - >said.out || fails "$command NAME --json -"
    LC_ALL=C grep -q "$(printf '[\033\377]')" said.out && fails "$command NAME --json -: raw bytes"
done
refuses 1 'none\x1b[31m.npy: ' info "$(printf 'none\033[31m.npy')"
refuses 2 "unknown option '--\\x1b[31m'" info "$(printf -- '--\033[31m')"
"$SEXTANT" register movie.npy -o series >/dev/null || fails "register"
printf 'frame,x,y\n\033]0;title\007,1,2\n' >points.csv
refuses 1 'points.csv: line 2: "\x1b]0;title\x07,1,2", expected' apply series/transforms.json points.csv -o out.csv

for left in out* .sextant*; do
    [ -e "$left" ] && fails "left behind: $left"
done
exit $failed
