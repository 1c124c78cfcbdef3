# SPDX-License-Identifier: BSD-3-Clause
# How everything here is compiled.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O3 -DNDEBUG")
set(CMAKE_CXX_FLAGS_SANITIZE "-O1 -g1") # the presets sanitize and sanitize-thread

# Contraction to fused multiply-adds would change pictures between compilers and SIMD targets.
add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -ffp-contract=off)
if(SEXTANT_SANITIZE)
    add_compile_options(-pthread) # everywhere, since common headers are compiled once
    add_compile_options(-fsanitize=${SEXTANT_SANITIZE} -fno-omit-frame-pointer)
    # These take more than half of the time to compile; the address sanitizer sees what they would be
    # used for: null pointers, those that left their object, objects that are smaller or gone.
    if(SEXTANT_SANITIZE MATCHES "undefined")
        add_compile_options(-fno-sanitize=null,alignment,pointer-overflow,object-size,vptr)
    endif()
    # Threads meet outside the loops over pixels, which are compiled for one kind of processor then.
    if(SEXTANT_SANITIZE STREQUAL "thread")
        add_compile_definitions(HWY_COMPILE_ONLY_STATIC)
    endif()
    add_link_options(-fsanitize=${SEXTANT_SANITIZE})
endif()

# Where ccache is installed it compiles only what no build tree, in whatever folder, has compiled before:
# its cache lies in the user's cache folder, and paths below this folder are hashed relative to it.
option(SEXTANT_CCACHE "Compile with ccache where it is installed" ON)
find_program(SEXTANT_CCACHE_PROGRAM ccache)
mark_as_advanced(SEXTANT_CCACHE_PROGRAM)
if(SEXTANT_CCACHE AND SEXTANT_CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    set(launcher env "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}" CCACHE_NOHASHDIR=1
        CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_PCH_EXTSUM=1
        "${SEXTANT_CCACHE_PROGRAM}")
    set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
    set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
endif()
