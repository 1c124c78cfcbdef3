#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Compares the ABI of the libraries with the stored ABI of the last release (stored/*.abi.xz): they must be compatible.
# With --store, stores the ABI instead. Leaves the installed libraries in BUILD/abi/installed for next_version.sh.
set -eu
. "$SOURCE/tests/abi/libraries.sh"
mkdir -p "$BUILD/abi"
for tool in abidiff python3 xz; do
    command -v $tool >/dev/null || { echo "$tool is not installed (scripts/packages.sh: packages_abi)"; exit 77; }
done
build_libraries "$SOURCE" "$BUILD/abi/build"
"$CMAKE" --install "$BUILD/abi/build" --prefix "$BUILD/abi/installed" >/dev/null
new=$BUILD/abi/dump old=$BUILD/abi/stored
mkdir -p "$new" "$old"
dump_abi "$BUILD/abi/installed" "$new"
stored=$SOURCE/tests/abi/stored
if [ "${1:-}" = --store ]; then
    mkdir -p "$stored"
    for library in $libraries; do xz -9c "$new/$library.abi" >"$stored/$library.abi.xz"; done
    ls -l "$stored"
    exit
fi
for library in $libraries; do xz -dc "$stored/$library.abi.xz" >"$old/$library.abi"; done
compare_abi "$old" "$new" || fail "the ABI has changed: programs built against the stored version would not run.
Keep the old form: add a new function next to the old one, and mark the old one [[deprecated]]; a new field of options
or results takes words of \`reserved\` (src/sextant/core/reserved.hpp). docs/library.md, section 'Versions', has the
rules. If the major version was raised, store the new ABI with 'sh tests/abi/store.sh', as for every release."
