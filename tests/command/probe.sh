#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A machine without a profile is probed once for each number of ranks, and not at all if that is
# disabled.
. "$(dirname "$0")/start.sh"
unset SEXTANT_PROBE
cache=$folder/cache
XDG_CACHE_HOME=$cache
export XDG_CACHE_HOME
probes=$cache/sextant/probes
plan=$folder/plan.txt

blend() {
    "$SEXTANT" composite "$SAMPLE" -o "$folder/frame.png" "$@" >"$plan" 2>&1 || fail "composite $*: $(cat "$plan")"
}
probed() { grep -q 'on this machine (probed on .*, provisional: run sextant calibrate to measure it)' "$plan"; }
built_in() { grep -q 'on a built-in machine' "$plan"; }
count() { find "$1" -type f 2>/dev/null | wc -l; }
# until_probed COMMAND...: repeats the command until it probes the machine. If the processor is busy,
# the probe may run out of time, which is reported; the next one has twice the time.
seconds=1
until_probed() {
    while :; do
        SEXTANT_PROBE=$seconds "$@" >"$plan" 2>&1 || fail "$*: $(cat "$plan")"
        probed && return
        built_in || fail "neither probed nor built in: $(cat "$plan")"
        [ "$(grep -c "could not be probed in $seconds s," "$plan")" = 1 ] || fail "no reason given: $(cat "$plan")"
        [ "$seconds" -lt 100 ] || fail "never probed: $(cat "$plan")"
        seconds=$((2 * seconds))
    done
}
blend_probed() { until_probed "$SEXTANT" composite "$SAMPLE" -o "$folder/frame.png"; }

# Options that disable the probe or make it unnecessary.
blend --no-probe
built_in || fail "--no-probe: $(cat "$plan")"
SEXTANT_PROBE=off blend
built_in || fail "SEXTANT_PROBE=off: $(cat "$plan")"
blend --algorithm direct-send
# If the time is too short, this is reported.
SEXTANT_PROBE=1e-6 blend
built_in && grep -q 'could not be probed in 1e-06 s,' "$plan" || fail "probed in 1 us: $(cat "$plan")"
[ "$(count "$cache")" = 0 ] || fail "stored without a probe: $(find "$cache")"

# Once for each number of ranks: the second run reads the file.
blend_probed
[ "$(count "$probes")" = 1 ] || fail "not one file: $(ls "$probes")"
file=$(find "$probes" -type f)
case $file in */threads-8-*.json) ;; *) fail "8 threads are stored as $file" ;; esac
before=$(ls -i "$file")
blend
probed || fail "not used again: $(cat "$plan")"
[ "$(ls -i "$file")" = "$before" ] || fail "measured again"
"$SEXTANT" explain --ranks 8 --transport threads >"$plan"
probed || fail "explain does not use the stored probe: $(cat "$plan")"
"$SEXTANT" explain --ranks 7 --transport threads >"$plan"
built_in || fail "7 ranks are planned by a probe of 8: $(cat "$plan")"
blend --no-probe
built_in || fail "--no-probe uses the stored probe: $(cat "$plan")"

# A file that is damaged, of another version or of another machine is replaced by a new probe.
cp "$file" "$folder/whole"
again() {
    blend_probed
    cmp -s "$file" "$folder/spoilt" && fail "$1: accepted"
    grep -q '"probe"' "$file" || fail "$1: not stored again"
}
head -c 300 "$folder/whole" >"$file"
cp "$file" "$folder/spoilt"
again "a part of a file"
sed '/"probe"/,$s/"version": 1/"version": 99/' "$folder/whole" >"$file"
cmp -s "$file" "$folder/whole" && fail "no version to change"
cp "$file" "$folder/spoilt"
again "another version"
sed 's/ranks by threads; /&elsewhere/' "$folder/whole" >"$file"
cmp -s "$file" "$folder/whole" && fail "no host to change"
cp "$file" "$folder/spoilt"
again "another host"
# A symbolic link is replaced, not written through.
echo precious >"$folder/precious"
ln -sf "$folder/precious" "$file"
blend_probed
[ "$(cat "$folder/precious")" = precious ] || fail "a probe is written through a link"
[ ! -L "$file" ] || fail "a link to a probe remains"
rm "$file"
mkdir "$file"
blend
[ -d "$file" ] || fail "a folder was replaced"

# It is not an error if the result cannot be stored.
: >"$folder/file"
XDG_CACHE_HOME=$folder/file blend
[ -f "$folder/file" ] || fail "a file was replaced"
env -u HOME -u XDG_CACHE_HOME "$SEXTANT" composite "$SAMPLE" -o "$folder/frame.png" >"$plan" 2>&1 ||
    fail "without a home: $(cat "$plan")"

# Two concurrent writers leave one complete file.
XDG_CACHE_HOME=$folder/both
export XDG_CACHE_HOME
for run in 1 2; do
    "$SEXTANT" composite "$SAMPLE" -o "$folder/frame$run.png" >"$folder/run$run" 2>&1 || : >"$folder/failed" &
done
wait
[ ! -e "$folder/failed" ] || fail "one of two at once: $(cat "$folder/run1" "$folder/run2")"
blend_probed
[ "$(count "$folder/both")" = 1 ] || fail "two at once left $(find "$folder/both")"

# Processes are probed over the same transport that the run uses.
if [ -n "${MPIRUN:-}" ]; then
    XDG_CACHE_HOME=$folder/processes
    # shellcheck disable=SC2086 # options
    until_probed $MPIRUN -n 2 "$SEXTANT" composite "$SAMPLE" -o "$folder/frame.png" --shared-memory off
    case $(ls "$folder/processes/sextant/probes") in mpi-2-*.json) ;; *) fail "2 processes are stored as $(ls -R "$folder/processes")" ;; esac
fi
