# SPDX-License-Identifier: BSD-3-Clause
# Compiler options of the whole project.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    if(PROJECT_IS_TOP_LEVEL)
        set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
    else() # for this folder only
        set(CMAKE_BUILD_TYPE Release)
    endif()
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O3 -DNDEBUG")
set(CMAKE_CXX_FLAGS_SANITIZE "-O1 -g1") # used by the presets sanitize and sanitize-thread

# Warnings and fmt's checks of format strings do not change what is compiled, but take time.
option(SEXTANT_CHECKS "Warn, and check format strings while compiling" ON)
if(SEXTANT_CHECKS)
    add_compile_options(-Wall -Wextra -Wpedantic -Wshadow)
else()
    add_compile_options(-w)
    add_compile_definitions(FMT_CONSTEVAL=)
endif()
# GCC collects garbage only above 1 GB: compiles in 8 % less time, with up to 1.5 GB per file.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options("SHELL:--param ggc-min-heapsize=1000000")
endif()
# Fused multiply-adds would make results depend on compilers and SIMD targets.
add_compile_options(-ffp-contract=off)
if(SEXTANT_SANITIZE)
    add_compile_options(-pthread) # for all targets, because they share precompiled headers
    add_compile_options(-fsanitize=${SEXTANT_SANITIZE} -fno-omit-frame-pointer)
    # These checks take more than half of the compile time, and the address sanitizer detects most
    # of the same errors: null pointers, and pointers outside of an object or its lifetime.
    if(SEXTANT_SANITIZE MATCHES "undefined")
        add_compile_options(-fno-sanitize=null,alignment,pointer-overflow,object-size,vptr)
    endif()
    # Loops over pixels do not synchronise threads, so compiling them for one SIMD target is enough.
    if(SEXTANT_SANITIZE STREQUAL "thread")
        add_compile_definitions(HWY_COMPILE_ONLY_STATIC)
    endif()
    add_link_options(-fsanitize=${SEXTANT_SANITIZE})
endif()

# Kernels are compiled for several instruction sets, one of which is chosen when a program starts.
option(SEXTANT_NATIVE "Compile kernels only for the processor of this machine" OFF)

# Compile through ccache if it is installed. All checkouts share the user's cache, because paths
# below this folder are hashed as relative paths.
option(SEXTANT_CCACHE "Compile with ccache if it is installed" ON)
find_program(SEXTANT_CCACHE_PROGRAM ccache)
mark_as_advanced(SEXTANT_CCACHE_PROGRAM)
if(SEXTANT_CCACHE AND SEXTANT_CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    set(launcher env "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}" CCACHE_NOHASHDIR=1
        CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_PCH_EXTSUM=1
        "${SEXTANT_CCACHE_PROGRAM}")
    set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
    set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
endif()
