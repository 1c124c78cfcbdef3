#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The library builds alone: without the folders of the command and the laboratory, without image formats and
# registration, as static libraries, in a project that adds it as a subfolder and keeps its own flags. An
# installation of it runs the embedding example, and says how to get the components that it lacks.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() { echo "FAILED: $*"; exit 1; }
source=$folder/source build=$folder/source/build/above
mkdir "$source" "$folder/above"
(cd "$SOURCE" && cp -r CMakeLists.txt cmake data machines platforms src "$source")
(cd "$source/src/sextant" && rm -r lab command report simulate)

cp "$SOURCE/examples/embed/embed.cpp" "$folder/above"
cat >"$folder/above/CMakeLists.txt" <<TEXT
cmake_minimum_required(VERSION 3.22)
project(above CXX)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(BUILD_SHARED_LIBS OFF)
set(SEXTANT_FORMAT OFF)
set(SEXTANT_REGISTRATION OFF)
set(SEXTANT_PRECOMPILE ON)
add_subdirectory($source sextant)
add_executable(embed embed.cpp)
target_link_libraries(embed sextant::compositor)
install(TARGETS embed)
TEXT
configure() { # BUILD [OPTION...]
    "$CMAKE" -S "$folder/above" -B "$@" ${MPICXX:+-DMPI_CXX_COMPILER="$MPICXX"} >"$folder/log" 2>&1 ||
        { cat "$folder/log"; fail "does not configure"; }
}
configure "$folder/default"
! grep -q 'file(INSTALL' "$folder/default/sextant/cmake_install.cmake" || fail "the project installs Sextant"
grep -q '^CMAKE_BUILD_TYPE:STRING=$' "$folder/default/CMakeCache.txt" || fail "the build type of the project is set"
grep '"command".*above/embed.cpp' "$folder/default/compile_commands.json" >"$folder/flags" || fail "no flags"
! grep -qE -- '-Wshadow|-O3|-ffp-contract' "$folder/flags" || fail "Sextant changes the flags: $(cat "$folder/flags")"
grep '"command".*compositor.cpp' "$folder/default/compile_commands.json" | grep -q -- -O3 || fail "Sextant is not optimised"

configure "$build" -DSEXTANT_INSTALL=ON -DCMAKE_BUILD_TYPE=Release
"$CMAKE" --build "$build" >"$folder/log" 2>&1 || { tail -30 "$folder/log"; fail "does not build"; }
said=$($MPIRUN -n 3 "$build/embed")
[ "$said" = "opacity at (250, 0): 0.875" ] || fail "as a subfolder, expected 0.875: $said"
"$CMAKE" --install "$build" --prefix "$folder/installed" >/dev/null
[ ! -e "$folder/installed/include/sextant/format.hpp" ] || fail "a header of the formats is installed"

"$CMAKE" -S "$SOURCE/examples/embed" -B "$folder/embed" -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_PREFIX_PATH="$folder/installed" >"$folder/log" 2>&1 || { cat "$folder/log"; fail "is not found"; }
"$CMAKE" --build "$folder/embed" >"$folder/log" 2>&1 || { cat "$folder/log"; fail "does not link"; }
said=$($MPIRUN -n 3 "$folder/embed/embed")
[ "$said" = "opacity at (250, 0): 0.875" ] || fail "expected 0.875: $said"
! ldd "$folder/embed/embed" | grep sextant || fail "a shared library of Sextant is loaded"

mkdir "$folder/formats"
printf 'cmake_minimum_required(VERSION 3.22)\nproject(formats CXX)\nfind_package(sextant REQUIRED COMPONENTS format)\n' \
    >"$folder/formats/CMakeLists.txt"
said=$("$CMAKE" -S "$folder/formats" -B "$folder/build-formats" -DCMAKE_PREFIX_PATH="$folder/installed" 2>&1) &&
    fail "a component that was not built is found"
case $(echo $said) in
*"no component 'format'"*"-DSEXTANT_FORMAT=ON"*) ;;
*) fail "a component that was not built: $said" ;;
esac
