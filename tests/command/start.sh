# SPDX-License-Identifier: BSD-3-Clause
# Sourced by the tests of the command: provides $folder, which is removed at exit, and `fail`;
# disables the profile of this machine and its probe. At exit, each JSON file in $folder except wrong*.json,
# and all JSON that a command printed, must match a table of fields in docs. A test may define `before_exit`.
set -eu
folder=$(mktemp -d)
printed=$(mktemp -d)
before_exit() { :; }
finish() {
    status=$?
    before_exit
    find "$folder" -name 'wrong*.json' -delete
    [ "$status" != 0 ] || /usr/bin/python3 -B "$SOURCE/scripts/schemas.py" check "$folder" "$printed" || status=1
    rm -rf "$folder" "$printed"
    exit "$status"
}
trap finish EXIT
XDG_CONFIG_HOME=$folder/config
export XDG_CONFIG_HOME
SEXTANT_PROBE=off
export SEXTANT_PROBE
unset SEXTANT_MACHINE
fail() { echo "FAILED: $*"; exit 1; }

# $SEXTANT runs the command and keeps the JSON that it prints.
cat >"$printed/sextant.sh" <<END
#!/bin/sh
prints=no last=
for word; do
    case "\$last \$word" in "--json -"* | *" --json=-" | *" -") prints=yes ;; esac
    last=\$word
done
[ "\$last" != --json ] && [ "\$prints" = no ] && exec "$SEXTANT" "\$@"
copy=\$(mktemp "$printed/XXXXXX")
status=0
"$SEXTANT" "\$@" >"\$copy" || status=\$?
cat "\$copy"
exit "\$status"
END
chmod +x "$printed/sextant.sh"
SEXTANT=$printed/sextant.sh
