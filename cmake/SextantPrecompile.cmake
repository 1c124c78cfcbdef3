# SPDX-License-Identifier: BSD-3-Clause
# Headers that nearly every file includes are compiled once for all layers, and once more with those
# of the test framework for all tests. The preset mpich compiles without, so that a file that does not
# include what it uses fails there.
option(SEXTANT_PRECOMPILE "Compile common headers once" OFF)

set(SEXTANT_COMMON_HEADERS
    <algorithm> <array> <bit> <cmath> <cstdint> <cstring> <filesystem> <functional> <limits> <map>
    <memory> <numeric> <optional> <span> <stdexcept> <string> <string_view> <tuple> <utility> <vector>
    <fmt/format.h>)

# A program that does nothing, whose precompiled headers others take: programs those of one that is
# position-independent as programs are, libraries those of another. Headers compiled with -pthread are
# of no use to what is compiled without, so all is.
function(sextant_precompiled name)
    if(NOT SEXTANT_PRECOMPILE)
        return()
    endif()
    cmake_parse_arguments(PRECOMPILED "" "KIND" "HEADERS;LIBRARIES" ${ARGN})
    set(source "${PROJECT_BINARY_DIR}/precompiled.cpp")
    if(NOT EXISTS "${source}")
        file(WRITE "${source}" "int main() {}\n")
    endif()
    if(PRECOMPILED_KIND STREQUAL "PROGRAM")
        add_executable(${name} "${source}")
    else()
        add_library(${name} OBJECT "${source}")
    endif()
    target_compile_features(${name} PRIVATE cxx_std_20)
    target_link_libraries(${name} PRIVATE ${PRECOMPILED_LIBRARIES})
    target_precompile_headers(${name} PRIVATE ${PRECOMPILED_HEADERS})
endfunction()

# Lets a target use them, where they are precompiled.
function(sextant_use_precompiled target from)
    if(SEXTANT_PRECOMPILE)
        target_precompile_headers(${target} REUSE_FROM ${from})
    endif()
endfunction()
