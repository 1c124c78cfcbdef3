#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Traces as OTF2: archives if Sextant was built with its library, otherwise a message that names the
# package.
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
    [ "$(ls -A "$folder")" = "" ] || fail "files remain without the library"
    refused 1 "run.otf2: this build cannot write OTF2" "$SEXTANT" composite "$SAMPLE" -o "$folder/p.exr" --trace "$archive"
    [ "$(ls -A "$folder")" = "" ] || fail "the image was written before the library was missed"
    exit 0
fi

# First a predicted trace, then a measured one in its place: an anchor file, definitions, and a file
# per rank.
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
[ "$(ls "$folder" | tr '\n' ' ')" = "p.exr run.otf2 " ] || fail "additional files: $(ls -A "$folder")"

# Outputs that cannot be written are refused before the run.
rm "$folder/p.exr"
refused 1 "none does not exist" "$SEXTANT" composite "$SAMPLE" -o "$folder/p.exr" --trace "$folder/none/run.otf2"
refused 2 "is given for two outputs" "$SEXTANT" composite "$SAMPLE" -o "$folder/p.exr" --trace "$archive" --json="$archive"
echo mine >"$archive/diary"
refused 1 "folder holds 'diary', which would be lost" "$SEXTANT" composite "$SAMPLE" -o "$folder/p.exr" --trace "$archive"
[ ! -e "$folder/p.exr" ] || fail "an image was written although its trace could not be"
# Other outputs are not archives, whatever their names, and archives cannot be read.
refused 1 "the path is a folder" "$SEXTANT" composite "$SAMPLE" -o "$folder/p.exr" --json="$archive"
refused 2 "OTF2 cannot be read; expected a trace in JSON" "$SEXTANT" report "$archive" -o "$folder/page.html"
