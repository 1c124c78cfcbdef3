#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Short calibrations over threads and over MPI. The measured values are not checked, because tests
# run on busy machines.
. "$(dirname "$0")/start.sh"
code() { status=0; message=$("$@" 2>&1) || status=$?; }

# Without -o, the profile is stored in the user's configuration folder; five launches. The time
# budget is not checked.
XDG_CONFIG_HOME="$folder" "$SEXTANT" calibrate --budget 3s >"$folder/said"
threads="$folder/sextant/machines/threads.json"
[ -f "$threads" ] || fail "no profile among the user's settings"
grep -q "of 5 launches" "$folder/said" || fail "launches: $(cat "$folder/said")"
grep -q "half-width of confidence intervals" "$folder/said" || fail "the precision after 3 s is not printed"
[ "$(find "$folder/sextant" -name '.sextant-*' | wc -l)" = 0 ] || fail "left its work behind"

# A folder of settings that cannot be written is named before measuring.
code env XDG_CONFIG_HOME=/dev/null "$SEXTANT" calibrate --budget 3s
[ "$status" = 1 ] || fail "exit code $status without a folder"
case $message in *"/dev/null/sextant/machines: "*"; name another file for the profile with --output"*) ;; *) fail "$message" ;; esac

# The profile can be shown, compared and used.
"$SEXTANT" machine show "$threads" | grep -q "same process, contiguous" || fail "show"
"$SEXTANT" machine diff "$threads" "$threads" | grep -q "^all .* 1\.000 .* 0\.0 %" || fail "diff"
"$SEXTANT" predict compositing --ranks 2 --machine "$threads" --model p3pc-extended |
    grep -q "^p3pc-extended .*s" || fail "predict"

# More launches can be added, but only to a file of launches.
"$SEXTANT" calibrate --launches 1 --budget 200ms --append -o "$threads" --json >"$folder/json"
grep -q "of 6 launches" "$folder/json" || fail "append: $(cat "$folder/json")"
code "$SEXTANT" calibrate --launches 1 --append -o "$MACHINES/das.json"
[ "$status" = 1 ] || fail "exit code $status for das.json"
case $message in *"das.json: has no launches"*) ;; *) fail "$message" ;; esac

# The profile of another machine is refused, with the reason.
sed 's/"host": "[^"]*"/"host": "elsewhere"/' "$threads" >"$folder/other.json"
code "$SEXTANT" machine check "$folder/other.json"
[ "$status" = 1 ] || fail "exit code $status for another machine's profile"
case $message in *"host: elsewhere in the profile"*"sextant calibrate"*) ;; *) fail "$message" ;; esac

# So is a profile of another machine state; launches in another state are left out.
sed "/\"state_probe\"/,/]/s/[0-9][0-9.e-]*/1/" "$threads" >"$folder/slow.json"
code "$SEXTANT" machine check "$folder/slow.json"
case $message in *"state: a round trip of 64 KiB took 1000000.00 us, now it takes"*) ;; *) fail "$message" ;; esac
code "$SEXTANT" evaluate --cases 1 --launches 1 --machine "$folder/slow.json"
[ "$status" = 0 ] || fail "evaluate in any state: $message"
code "$SEXTANT" evaluate --cases 1 --launches 2 --machine "$folder/slow.json"
[ "$status" = 1 ] || fail "exit code $status if no launch was in the profile's state"
case $message in *"in every launch the machine"*) ;; *) fail "$message" ;; esac

# Wrong requests exit with code 2 and write nothing.
for wrong in "--budget 0s" "--budget soon" "--ci 2" "--launches 0" "--transport pigeons" "--seed -1"; do
    code "$SEXTANT" calibrate $wrong -o "$folder/none.json"
    [ "$status" = 2 ] || fail "exit code $status for $wrong: $message"
done
code "$SEXTANT" calibrate --budget 1s -o "$folder/said/none.json"
[ "$status" = 1 ] || fail "exit code $status for a folder that is a file: $message"
code "$SEXTANT" calibrate --budget 1s -o "$folder/new.json/"
[ "$status" = 1 ] && [ ! -e "$folder/new.json" ] || fail "a folder was made for a profile: $message"
code "$SEXTANT" machine diff "$threads"
[ "$status" = 2 ] || fail "exit code $status for half a diff"
code "$SEXTANT" machine show "$folder/none.json"
[ "$status" = 1 ] || fail "exit code $status for a missing profile"
[ ! -e "$folder/none.json" ] || fail "something was written"

[ -n "${MPIRUN:-}" ] || exit 0
mpi="$folder/mpi.json"
"$SEXTANT" calibrate --transport mpi --launcher "$MPIRUN -n 2" --launches 2 --budget 3s -o "$mpi" \
    >"$folder/said"
grep -q "of 2 launches" "$folder/said" || fail "over MPI: $(cat "$folder/said")"
"$SEXTANT" machine show "$mpi" | grep -q "same node, contiguous" || fail "show over MPI"
$MPIRUN -n 3 "$SEXTANT" calibrate --budget 500ms --append -o "$mpi" | grep -q "of 3 launches" ||
    fail "one launch under mpirun"
code "$SEXTANT" calibrate --append -o "$mpi" --launches 1
[ "$status" = 2 ] || fail "exit code $status for threads added to MPI: $message"
code $MPIRUN -n 1 "$SEXTANT" calibrate --budget 1s -o "$folder/none.json"
[ "$status" != 0 ] || fail "one rank measured messages"
code "$SEXTANT" calibrate --transport mpi --launcher false --budget 1s -o "$folder/none.json"
[ "$status" = 1 ] || fail "exit code $status for a launcher that fails: $message"
[ ! -e "$folder/none.json" ] || fail "something was written"

# A benchmark of filters over processes compares with predictions from that profile: every
# configuration runs once, and the predicted fastest is chosen and listed first.
echo '{"cases": [{"width": 600, "height": 400, "sigma": 1, "derivatives": ["x"]}]}' >"$folder/cases.json"
SEXTANT_MACHINE="$mpi" $MPIRUN -n 2 "$SEXTANT" bench filter --cases "$folder/cases.json" --rounds 5 \
    --json="$folder/filters.json" >"$folder/said"
name=$(sed -n 's/^  *"name": "\(.*\)",$/\1/p' "$mpi" | head -1)
reason=$(sed -n 's/^ *"reason": "\(.*\)",$/\1/p' "$folder/filters.json")
case $reason in "fastest of "*" on $name"*) ;; *) fail "$reason, expected the profile of $name" ;; esac
ways=${reason#fastest of }
ways=${ways%% *}
walked=$(echo "$reason; $ways evaluated" | sed 's/^[^;]*\(; [0-9]* more may be as fast\)*; \([0-9]*\) evaluated.*/\2/')
names=$(sed -n '/"results"/,$ s/^ *"name": "\(.*\)",$/\1/p' "$folder/filters.json")
[ "$(echo "$names" | wc -l)" = "$ways" ] || fail "timed $names, expected $ways ways"
[ "$(echo "$names" | sort | uniq -d | wc -l)" = 0 ] || fail "timed twice: $names"
sed -n 's/^ *"predicted": \([0-9.e-]*\),*$/\1/p' "$folder/filters.json" >"$folder/predicted"
[ "$(wc -l <"$folder/predicted")" = "$walked" ] || fail "$(cat "$folder/predicted") of $walked walked"
LC_ALL=C sort -g -c "$folder/predicted" || fail "predictions in another order"
sed -n '/^  [^ ]/p' "$folder/said" | sed -n 1p | grep -q "  [0-9.]* .* 1\.000 \[1\.000, 1\.000\]" ||
    fail "the chosen does not come first, predicted and measured: $(cat "$folder/said")"
