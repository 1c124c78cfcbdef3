#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# An installed Sextant works from any folder: find_package finds it, small programs run with it on
# more ranks than the image has pixels, with bounds checks of vectors, and the command finds its
# data files. Only SimGrid's own program loads SimGrid's library, which defines MPI's functions.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() { echo "FAILED: $*"; exit 1; }
export XDG_CONFIG_HOME="$folder/config"
"$CMAKE" --install "$BUILD" --prefix "$folder/installed" >/dev/null
mv "$folder/installed" "$folder/moved"
moved=$folder/moved

# The example, and the same program with MPI's own target linked after and before Sextant's.
mkdir "$folder/orders"
cat >"$folder/orders/CMakeLists.txt" <<TEXT
cmake_minimum_required(VERSION 3.22)
project(orders CXX)
find_package(MPI REQUIRED COMPONENTS CXX)
find_package(sextant REQUIRED)
add_executable(mpi_last "$SOURCE/examples/embed/embed.cpp")
target_link_libraries(mpi_last sextant::sextant MPI::MPI_CXX)
add_executable(mpi_first "$SOURCE/examples/embed/embed.cpp")
target_link_libraries(mpi_first MPI::MPI_CXX sextant::sextant)
add_executable(all_libraries "$SOURCE/tests/command/programs/all_libraries.cpp")
target_link_libraries(all_libraries sextant::sextant)
TEXT
for project in "$SOURCE/examples/embed" "$folder/orders"; do
    build="$folder/build-$(basename "$project")"
    "$CMAKE" -S "$project" -B "$build" -DCMAKE_BUILD_TYPE=Release ${MPICXX:+-DMPI_CXX_COMPILER="$MPICXX"} \
        -DCMAKE_PREFIX_PATH="$moved" -DCMAKE_CXX_FLAGS=-D_GLIBCXX_ASSERTIONS >/dev/null
    "$CMAKE" --build "$build" >/dev/null
done
for program in embed/embed orders/mpi_last orders/mpi_first; do
    for ranks in 3 7; do
        said=$($MPIRUN -n $ranks "$folder/build-$program")
        echo "$program, $ranks ranks: $said"
        [ "$said" = "opacity at (250, 0): 0.875" ] || fail "expected 0.875"
    done
done

# A program that uses all libraries, and catches an exception of theirs.
"$folder/build-orders/all_libraries" "$folder" >"$folder/said" || fail "a program of all libraries: $(cat "$folder/said")"
for expected in '^[1-9][0-9]* components$' '^planes: [1-9]' '^frame 3: (' '^stored average: [1-9]' '^composited image: [1-9]' \
    "unknown operator 'under'"; do
    grep -q "$expected" "$folder/said" || fail "a program of all libraries does not print $expected: $(cat "$folder/said")"
done

# Only MPI's library may define MPI's functions.
command=$moved/bin/sextant
for program in "$command" "$folder/build-embed/embed" "$folder/build-orders/mpi_last" "$folder/build-orders/mpi_first"; do
    libraries=$(ldd "$program" | sed -n 's/.* => \(\/[^ ]*\) .*/\1/p')
    [ -n "$libraries" ] || fail "ldd names no library of $program"
    for library in $libraries; do
        case $library in *simgrid*) fail "$program loads $library" ;; */libmpi*) continue ;; esac
        ! nm -D --defined-only "$library" | grep -q ' MPI_Init$' || fail "$library of $program defines MPI_Init"
    done
done

# The compositor does not link image formats, HDF5 or registration.
if ldd "$folder/build-embed/embed" | grep -iE 'openexr|imath|tiff|jpeg|hdf5|spng|zstd|blosc'; then
    fail "the compositor needs these"
fi

# Each chapter of docs/library.md exists, compiles on its own and is a component; an unknown
# component is refused.
mkdir "$folder/chapters"
grep -o '^| `sextant/[a-z]*\.hpp`' "$SOURCE/docs/library.md" | sed 's/.*`\(.*\)`/\1/' >"$folder/chapters/list"
[ "$(wc -l <"$folder/chapters/list")" = "$(ls "$moved/include/sextant"/*.hpp | wc -l)" ] || fail "chapters of docs/library.md"
{
    echo 'cmake_minimum_required(VERSION 3.22)'
    echo 'project(chapters CXX)'
    while read -r header; do
        name=$(basename "$header" .hpp)
        printf '#include <%s>\nint main() {}\n' "$header" >"$folder/chapters/$name.cpp"
        # The program of its section, if it includes the chapter's header.
        sed -n '/^```cpp$/,/^```$/p' "$SOURCE/docs/library.md" |
            awk -v include="#include <$header>" '
                /^```cpp$/ { text = ""; found = 0; next }
                /^```$/ { if (found && text ~ /{/) printf "%s", text; next }
                { text = text $0 "\n"; if ($0 == include) found = 1 }' >>"$folder/chapters/$name.cpp"
        echo "find_package(sextant REQUIRED COMPONENTS $name)"
        echo "add_executable($name $name.cpp)"
        echo "target_link_libraries($name sextant::$name)"
    done <"$folder/chapters/list"
} >"$folder/chapters/CMakeLists.txt"
"$CMAKE" -S "$folder/chapters" -B "$folder/build-chapters" -DCMAKE_PREFIX_PATH="$moved" >/dev/null
"$CMAKE" --build "$folder/build-chapters" >/dev/null
# Under C++17, each of them gives one error, which names the standard that is needed.
while read -r header; do
    printf '#include <%s>\nint main() {}\n' "$header" >"$folder/chapters/17.cpp"
    said=$(LC_ALL=C c++ -std=c++17 -fsyntax-only -I"$moved/include" "$folder/chapters/17.cpp" 2>&1) && fail "$header compiles as C++17"
    [ "$(echo "$said" | grep -c 'error: ')" = 1 ] || fail "$header under C++17: $said"
    case $said in *"$header needs C++20: compile with -std=c++20"*) ;; *) fail "$header under C++17: $said" ;; esac
done <"$folder/chapters/list"
mkdir "$folder/unknown"
printf 'cmake_minimum_required(VERSION 3.22)\nproject(unknown CXX)\nfind_package(sextant REQUIRED COMPONENTS volumes)\n' >"$folder/unknown/CMakeLists.txt"
said=$("$CMAKE" -S "$folder/unknown" -B "$folder/build-unknown" -DCMAKE_PREFIX_PATH="$moved" 2>&1) && fail "an unknown component is found"
case $said in *"no component 'volumes'"*) ;; *) fail "an unknown component: $said" ;; esac
"$command" --version

# Installed data files are found from any working directory.
cd /
"$command" explain composite --ranks 4 --machine das >/dev/null || fail "no machine is found"
"$command" simulate --ranks 4 --platform crossbar-12-calibrated >"$folder/simulated" 2>"$folder/warned" ||
    fail "no platform is found"
if [ -x "$moved/libexec/sextant/sextant-papers" ]; then
    "$command" reproduce scan >/dev/null || fail "no table of a paper is found"
    mv "$moved/libexec/sextant/sextant-papers" "$folder"
    PATH=$folder:$PATH "$command" reproduce scan >/dev/null || fail "sextant-papers is not found on the PATH"
    status=0
    said=$("$command" reproduce scan 2>&1) || status=$?
    case "$status $said" in "1 "*"reproduce is a command of sextant-papers, which is not installed"*"-DSEXTANT_PAPERS=ON"*) ;; *) fail "without the papers: $status $said" ;; esac
fi
ln -s "$command" "$folder/sextant"
"$folder/sextant" explain composite --ranks 4 --machine das >/dev/null || fail "no machine is found by a link"
if [ -x "$moved/libexec/sextant/sextant-simgrid" ]; then
    ldd "$moved/libexec/sextant/sextant-simgrid" | grep -q simgrid || fail "SimGrid's program does not load it"
    [ ! -s "$folder/warned" ] || fail "$(cat "$folder/warned")"
    "$command" simulate --ranks 4 --platform dragonfly-864 >/dev/null || fail "SimGrid's own platform is refused"
    "$moved/libexec/sextant/sextant-simgrid" </dev/null 2>&1 | grep -q "must be started by Sextant" ||
        fail "a simulator started by hand prints no error"
    rm "$moved/libexec/sextant/sextant-simgrid"
fi

# If a part is missing, the command names the paths it searched.
"$command" simulate --ranks 4 --platform crossbar-12-calibrated >"$folder/clocked" 2>"$folder/warned"
grep -q "own simulator.*sextant-simgrid is not in $moved/libexec/sextant or " "$folder/warned" ||
    fail "no word of the missing simulator: $(cat "$folder/warned")"
status=0
said=$("$command" simulate --ranks 4 --platform dragonfly-864 2>&1) || status=$?
case "$status $said" in "1 "*"libsimgrid-dev"*) ;; *) fail "without SimGrid: $status $said" ;; esac
rm "$moved/libexec/sextant/sextant-lab"
status=0
said=$("$command" bench 2>&1) || status=$?
case "$status $said" in "1 "*"bench is a command of sextant-lab, which is not installed"*) ;; *) fail "without the laboratory: $status $said" ;; esac
mv "$moved/share" "$folder/away-share"
status=0
said=$("$command" explain composite --ranks 4 --machine das 2>&1) || status=$?
case "$status $said" in
"2 "*"unknown machine or platform 'das'; none is installed in $moved/share/sextant/machines or "*) ;;
*) fail "without data: $status $said" ;;
esac
