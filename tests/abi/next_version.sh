#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A program that was built with this version runs with the next minor version, which has one more field in an options
# struct and in a result, and prints the same. Built with the next version, it can set the new field. Requires the
# installation that check.sh leaves.
set -eu
. "$SOURCE/tests/abi/libraries.sh"
installed=$BUILD/abi/installed
[ -e "$installed/include/sextant/label.hpp" ] || { echo "check.sh has left no installation"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export SEXTANT_PROBE=off XDG_CONFIG_HOME="$folder/config"

# build_program PREFIX TO [FLAGS]: builds program.cpp against an installation.
build_program() {
    "$CMAKE" -S "$SOURCE/tests/abi/program" -B "$2" -DCMAKE_PREFIX_PATH="$1" -DCMAKE_CXX_FLAGS="${3:-}" \
        >"$folder/log" 2>&1 && "$CMAKE" --build "$2" >>"$folder/log" 2>&1 ||
        { tail -n 20 "$folder/log"; fail "the program does not compile"; }
}
# loaded PROGRAM: prints the file names of the libraries that the program loads.
loaded() { ldd "$1" | sed -n 's/.* => \(.*libsextant[^ ]*\) .*/\1/p' | xargs -n 1 readlink -f | sed 's|.*/||' | sort; }

cp -R "$installed" "$folder/installed"
build_program "$folder/installed" "$folder/program"
"$folder/program/program" "$folder" >"$folder/before" || fail "the program fails: $(cat "$folder/before")"
loaded "$folder/program/program" >"$folder/loaded-before"

# The next minor version.
next=$folder/next
mkdir "$next"
(cd "$SOURCE" && cp -R CMakeLists.txt cmake data machines platforms src python "$next")
version=$(sed -n 's/^project(sextant VERSION \([0-9.]*\).*/\1/p' "$next/CMakeLists.txt")
major=${version%%.*} minor=${version#*.}
next_version=$major.$((${minor%%.*} + 1)).0
sed -i "s/^project(sextant VERSION $version/project(sextant VERSION $next_version/" "$next/CMakeLists.txt"
header=$next/src/sextant/label/tiled_labelling.hpp
code=$next/src/sextant/label/tiled_labelling.cpp
sed -i '/^struct LabelOptions {/,/^};/ s/    Reserved<> reserved/    alignas(8) bool only_four = false;\n    Reserved<7> reserved/
        /^struct LabelResult {/,/^};/ s/    Reserved<7> reserved/    alignas(8) Elements rows = 0;\n    Reserved<6> reserved/' "$header"
sed -i 's/return {options.neighbours,/return {options.only_four ? kernel::Neighbours::four : options.neighbours,/
        s/^        result_.grid = grid_of/        result_.rows = shape.height;\n&/' "$code"
for text in 'only_four' 'Elements rows'; do grep -q "$text" "$header" || fail "$header has no $text"; done
for text in 'only_four' 'result_.rows'; do grep -q "$text" "$code" || fail "$code has no $text"; done
# The build folder has the same path relative to the sources, so that ccache finds the objects of this version.
case $BUILD in "$SOURCE"/*) next_build=$next/${BUILD#"$SOURCE"/}/abi/build ;; *) next_build=$next/build ;; esac
mkdir -p "$(dirname "$next_build")"
build_libraries "$next" "$next_build"

# Replaces the libraries, like an upgrade of the packages.
"$CMAKE" --install "$next_build" --prefix "$folder/installed" >/dev/null
"$folder/program/program" "$folder" >"$folder/after" || fail "with $next_version, the program fails: $(cat "$folder/after")"
loaded "$folder/program/program" >"$folder/loaded-after"
[ "$(grep -c "\.so\.$next_version\$" "$folder/loaded-after")" = 3 ] ||
    fail "$next_version is not loaded: $(cat "$folder/loaded-after")"
[ "$(grep -c "\.so\.$version\$" "$folder/loaded-before")" = 3 ] || fail "loaded: $(cat "$folder/loaded-before")"
diff "$folder/before" "$folder/after" || fail "with $next_version, the program prints something else"
cat "$folder/after"

# The comparison of ABIs accepts the new fields.
mkdir "$folder/dump"
dump_abi "$folder/installed" "$folder/dump"
compare_abi "$BUILD/abi/dump" "$folder/dump" || fail "fields in reserved space are reported as incompatible"

build_program "$folder/installed" "$folder/newer" -DNEXT_VERSION
"$folder/newer/program" "$folder" >"$folder/set" || fail "the new program fails"
! diff "$folder/before" "$folder/set" >"$folder/difference" || fail "the new option has no effect"
cat "$folder/difference"
