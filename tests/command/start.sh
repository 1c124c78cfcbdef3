# SPDX-License-Identifier: BSD-3-Clause
# Sourced by the tests of the command: provides $folder, which is removed at exit, and `fail`;
# disables the profile of this machine and its probe.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
XDG_CONFIG_HOME=$folder/config
export XDG_CONFIG_HOME
SEXTANT_PROBE=off
export SEXTANT_PROBE
unset SEXTANT_MACHINE
fail() { echo "FAILED: $*"; exit 1; }
