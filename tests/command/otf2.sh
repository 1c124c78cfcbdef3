#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Traces as OTF2: archives where its library was there when this was built, else what to install.
. "$(dirname "$0")/start.sh"
predict() { "$SEXTANT" predict --algorithm radix-k --ranks 4 --machine "$MACHINES/ddr-infiniband.json" --model hockney "$@"; }
refused() {
    code=$1 expected=$2 status=0
    shift 2
    message=$("$@" 2>&1) || status=$?
    [ "$status" = "$code" ] || fail "exit code $status for $*: $message"
    case $message in *"$expected"*) ;; *) fail "'$expected' is not in: $message" ;; esac
}
archive=$folder/run.otf2

if predict --trace "$archive" 2>&1 | grep -q "install libopen-trace-format2-dev"; then
    [ "$(ls -A "$folder")" = "" ] || fail "something was left without the library"
    refused 1 "run.otf2: this build cannot write OTF2" "$SEXTANT" composite "$SAMPLE" -o "$folder/p.exr" --trace "$archive"
    [ "$(ls -A "$folder")" = "" ] || fail "the picture was made before the library was missed"
    exit 0
fi

# What was predicted above, then what ran in its place: an anchor, definitions, and a file a rank.
predict --trace "$archive" >/dev/null
[ "$(ls "$archive/traces" | grep -c 'evt$')" = 4 ] || fail "no prediction of four ranks"
"$SEXTANT" composite "$SAMPLE" -o "$folder/p.exr" --trace "$archive/" >/dev/null
[ -s "$archive/traces.otf2" ] && [ -s "$archive/traces.def" ] || fail "no archive of a run"
if [ -n "${MPIRUN:-}" ]; then
    $MPIRUN -n 3 "$SEXTANT" composite "$SAMPLE" -o "$folder/p.exr" --trace "$archive" >/dev/null
    [ "$(ls "$archive/traces" | grep -c 'evt$')" = 3 ] || fail "no trace of three processes"
fi
"$SEXTANT" simulate --ranks 5 --platform crossbar-12-calibrated --clock --trace "$archive" >/dev/null
[ "$(ls "$archive/traces" | grep -c 'evt$')" = 5 ] || fail "no simulation of five ranks"
[ "$(ls "$folder" | tr '\n' ' ')" = "p.exr run.otf2 " ] || fail "more was left: $(ls -A "$folder")"

# What cannot be written is refused before anything runs.
rm "$folder/p.exr"
refused 1 "none does not exist" "$SEXTANT" composite "$SAMPLE" -o "$folder/p.exr" --trace "$folder/none/run.otf2"
refused 2 "is named for two outputs" "$SEXTANT" composite "$SAMPLE" -o "$folder/p.exr" --trace "$archive" --json "$archive"
echo mine >"$archive/diary"
refused 1 "also holds 'diary', which would be lost" "$SEXTANT" composite "$SAMPLE" -o "$folder/p.exr" --trace "$archive"
[ ! -e "$folder/p.exr" ] || fail "a picture was made whose trace could not be"
# Other outputs are no archives whatever they are called, and archives are not read.
refused 1 "it is a folder" "$SEXTANT" composite "$SAMPLE" -o "$folder/p.exr" --json "$archive"
refused 2 "OTF2 is only written; expected a trace in JSON" "$SEXTANT" report "$archive" -o "$folder/page.html"
