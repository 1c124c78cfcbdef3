# SPDX-License-Identifier: BSD-3-Clause
# Precompiles the headers that nearly every file includes: once for all layers, and once more, with
# the headers of the test framework, for all tests. The preset sanitize-thread does not precompile
# headers, so that missing includes are detected.
option(SEXTANT_PRECOMPILE "Precompile common headers" OFF)

set(SEXTANT_COMMON_HEADERS
    <algorithm> <array> <bit> <cmath> <cstdint> <cstring> <filesystem> <functional> <limits> <map>
    <memory> <numeric> <optional> <span> <stdexcept> <string> <string_view> <tuple> <utility> <vector>
    <fmt/format.h>)

# Defines an empty program or library whose precompiled headers other targets reuse. Programs need
# the headers of a program (PIE), libraries those of a library. Headers precompiled with -pthread
# cannot be reused without this option, so all targets are compiled with it.
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
    sextant_precompiled_checksum(${name} "${PRECOMPILED_HEADERS}")
endfunction()

# GCC's precompiled headers are not reproducible, so ccache cannot hash them. It hashes a file next
# to the precompiled header instead, which has a checksum of the headers' text and the compiler
# options.
function(sextant_precompiled_checksum name headers)
    set(text "")
    foreach(header IN LISTS headers)
        string(APPEND text "#include ${header}\n")
    endforeach()
    set(source "${CMAKE_CURRENT_BINARY_DIR}/${name}.txt")
    file(WRITE "${source}" "${text}")
    execute_process(COMMAND "${CMAKE_CXX_COMPILER}" -std=c++20 -x c++ -E "${source}" RESULT_VARIABLE failed
                    OUTPUT_VARIABLE text ERROR_QUIET)
    set(sum "${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${name}.dir/cmake_pch.hxx.gch.sum")
    if(failed)
        file(REMOVE "${sum}")
        return()
    endif()
    string(REGEX REPLACE "# [0-9]+ \"${CMAKE_CURRENT_BINARY_DIR}[^\n]*" "" text "${text}")
    get_directory_property(options COMPILE_OPTIONS)
    string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
    string(SHA256 hash "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION} ${CMAKE_CXX_FLAGS} \
${CMAKE_CXX_FLAGS_${type}} ${options} ${text}")
    file(WRITE "${sum}" "${hash}\n")
endfunction()

# Makes a target use precompiled headers, if enabled.
function(sextant_use_precompiled target from)
    if(SEXTANT_PRECOMPILE)
        target_precompile_headers(${target} REUSE_FROM ${from})
    endif()
endfunction()
