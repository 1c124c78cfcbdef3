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
"$SEXTANT" composite "$SAMPLE" -o "$folder/closed.png" <&- >&- 2>&- || fails "composite with closed streams"
cmp "$folder/whole.png" "$folder/closed.png" || fails "closed streams change the picture"

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
