#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A program that calls IceT's functions finds the installed libraries as a component of Sextant, as the package IceT,
# and with pkg-config, in an installation that was moved.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() { echo "FAILED: $*"; exit 1; }
export SEXTANT_PROBE=off
"$CMAKE" --install "$BUILD" --prefix "$folder/installed" >/dev/null
mv "$folder/installed" "$folder/moved"
mkdir "$folder/as_component" "$folder/as_icet"
cat >"$folder/program.c" <<'C'
#include <IceT.h>
#include <IceTMPI.h>
#include <stdio.h>
int main(int argc, char** argv) {
    static IceTFloat pixels[8 * 8 * 4];
    const IceTFloat background[] = {0, 0, 0, 0};
    const IceTInt order[] = {1, 0};
    int rank, i;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    IceTCommunicator ranks = icetCreateMPICommunicator(MPI_COMM_WORLD);
    IceTContext context = icetCreateContext(ranks);
    icetAddTile(0, 0, 8, 8, 0);
    icetStrategy(ICET_STRATEGY_SEQUENTIAL);
    icetSetColorFormat(ICET_IMAGE_COLOR_RGBA_FLOAT);
    icetSetDepthFormat(ICET_IMAGE_DEPTH_NONE);
    icetCompositeMode(ICET_COMPOSITE_MODE_BLEND);
    icetEnable(ICET_ORDERED_COMPOSITE);
    icetCompositeOrder(order);
    for (i = 0; i < 8 * 8; ++i)
        pixels[4 * i + rank] = pixels[4 * i + 3] = 0.5f; /* rank 1 is green, and in front of red */
    const IceTImage image = icetCompositeImage(pixels, NULL, NULL, NULL, NULL, background);
    if (rank == 0) {
        const IceTFloat* pixel = icetImageGetColorcf(image);
        printf("%g %g %g %g\n", pixel[0], pixel[1], pixel[2], pixel[3]);
    }
    icetDestroyContext(context);
    icetDestroyMPICommunicator(ranks);
    MPI_Finalize();
    return 0;
}
C
cat >"$folder/as_component/CMakeLists.txt" <<'TEXT'
cmake_minimum_required(VERSION 3.22)
project(program C)
find_package(sextant REQUIRED COMPONENTS icet)
add_executable(program ../program.c)
target_link_libraries(program sextant::icet)
TEXT
cat >"$folder/as_icet/CMakeLists.txt" <<'TEXT'
cmake_minimum_required(VERSION 3.22)
project(program C)
find_package(IceT 2.1 REQUIRED)
if(NOT ICET_VERSION STREQUAL "2.2.0" OR NOT ICET_USE_MPI OR NOT EXISTS "${ICET_INCLUDE_DIRS}/IceT.h")
    message(FATAL_ERROR "IceT ${ICET_VERSION}, MPI ${ICET_USE_MPI}, headers in ${ICET_INCLUDE_DIRS}")
endif()
include_directories(${ICET_INCLUDE_DIRS} ${ICET_MPI_INCLUDE_PATH})
add_executable(program ../program.c)
target_link_libraries(program ${ICET_MPI_LIBS} ${ICET_CORE_LIBS} ${ICET_MPI_LIBRARY})
TEXT
for project in as_component as_icet; do
    "$CMAKE" -S "$folder/$project" -B "$folder/$project/build" -DCMAKE_PREFIX_PATH="$folder/moved" >"$folder/log" 2>&1 ||
        { cat "$folder/log"; fail "$project does not configure"; }
    "$CMAKE" --build "$folder/$project/build" >"$folder/log" 2>&1 || { cat "$folder/log"; fail "$project does not build"; }
done
mkdir -p "$folder/with_pkg_config/build"
package=$(find "$folder/moved" -name sextant-icet.pc)
[ -n "$package" ] || fail "sextant-icet.pc is not installed"
flags=$(PKG_CONFIG_PATH=$(dirname "$package") pkg-config --cflags --libs sextant-icet)
$MPICC "$folder/program.c" $flags -o "$folder/with_pkg_config/build/program"
export LD_LIBRARY_PATH="$(dirname "$(find "$folder/moved" -name libsextant-icet.so)")"
for project in as_component as_icet with_pkg_config; do
    said=$($MPIRUN -n 2 "$folder/$project/build/program")
    [ "$said" = "0.25 0.5 0 0.75" ] || fail "$project: $said"
done
