# SPDX-License-Identifier: BSD-3-Clause
# What tests of the command begin with, to be read by them: $folder, which goes with them; no profile
# of this machine, which is not probed either; and `fail`.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
XDG_CONFIG_HOME=$folder/config
export XDG_CONFIG_HOME
SEXTANT_PROBE=off
export SEXTANT_PROBE
unset SEXTANT_MACHINE
fail() { echo "FAILED: $*"; exit 1; }
