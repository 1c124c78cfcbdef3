#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Standard streams and limits set by a shell: a failed write is an error, and nothing is written to
# the wrong file.
set -u
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export SEXTANT_PROBE=off XDG_CONFIG_HOME="$folder/config" XDG_CACHE_HOME="$folder/cache" # as in start.sh
unset SEXTANT_MACHINE
failed=0
fails() { echo "FAILED: $*"; failed=1; }

# Text that could not be written.
if [ -w /dev/full ]; then
    for command in "list" "--help" "composite --help" "draw scan -o -" "composite $SAMPLE -o $folder/full.png --json -"; do
        said=$("$SEXTANT" $command 2>&1 >/dev/full)
        [ $? = 1 ] || fails "$command > /dev/full does not end with 1"
        case $said in
        "sextant: standard output: cannot be written"*) ;;
        *) fails "$command > /dev/full says: $said" ;;
        esac
    done
    [ -s "$folder/full.png" ] || fails "the picture is gone with the text"
fi

# The first opened file would get the number of a closed stream.
"$SEXTANT" composite "$SAMPLE" -o "$folder/whole.png" >/dev/null || fails "composite"
"$SEXTANT" composite "$SAMPLE" -o "$folder/closed.png" <&- >&- 2>&- && fails "composite without a place for its text"
cmp "$folder/whole.png" "$folder/closed.png" || fails "closed streams change the picture"


# Standard output that is closed cannot be written, whatever should go there.
"$SEXTANT" synthesize -o "$folder/image.npy" --frames 1 --width 32 --height 32 >/dev/null || fails "synthesize"
cd "$folder" || exit 1
for command in "list" "--version" "--help" "label --help" "draw scan -o -" "info image.npy" "info image.npy --json" \
    "label image.npy -o labels.npy" "label image.npy -o labels.npy --json" "filter image.npy -o out.npy --json" \
    "contours image.npy -o out.csv --json" "measure labels.npy -o -" "machine show $MACHINES/das.json" \
    "predict --machine $MACHINES/das.json --model p3pc"; do
    for where in closed full; do
        [ -w /dev/full ] || [ $where = closed ] || continue
        case $where in
        closed) said=$(exec 3>&1; "$SEXTANT" $command 2>&3 3>&- >&-) ;;
        full) said=$("$SEXTANT" $command 2>&1 >/dev/full) ;;
        esac
        [ $? = 1 ] || fails "$command with standard output $where does not end with 1"
        case $said in
        *"sextant: standard output: cannot be written"*) ;;
        *) fails "$command with standard output $where says: $said" ;;
        esac
    done
done

# A limit on the size of files.
mkdir "$folder/limited"
said=$(ulimit -f 8 && "$SEXTANT" composite "$SAMPLE" -o "$folder/limited/out.exr" 2>&1 >/dev/null)
[ $? = 1 ] || fails "a file too large does not end with 1"
case $said in
"sextant: $folder/limited/out.exr: cannot be written: File too large") ;;
*) fails "a file too large: $said" ;;
esac
[ -z "$(ls -A "$folder/limited")" ] || fails "left behind: $(ls -A "$folder/limited")"

exit $failed
