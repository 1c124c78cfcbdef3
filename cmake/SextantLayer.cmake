# SPDX-License-Identifier: BSD-3-Clause
# Defines a layer: a folder of src/sextant with its own target, so that a dependency on a higher
# layer fails to link. Sources are found by globbing, so adding an algorithm requires no change to a
# build file. A large layer has subfolders (ROOMS).
# COLD: the layer has no expensive loops, so it is optimised less, which compiles faster.
# UNITY: with SEXTANT_UNITY, several files of the layer are compiled as one; their names are unique.
option(SEXTANT_UNITY "Compile several files as one; for single builds, not for development" OFF)
function(sextant_layer name)
    cmake_parse_arguments(LAYER "COLD;UNITY" "" "ROOMS;DEPENDS" ${ARGN})
    set(folder "${PROJECT_SOURCE_DIR}/src/sextant/${name}")
    set(patterns "${folder}/*.cpp")
    foreach(room IN LISTS LAYER_ROOMS)
        list(APPEND patterns "${folder}/${room}/*.cpp")
    endforeach()
    file(GLOB sources CONFIGURE_DEPENDS ${patterns})
    add_library(sextant_${name} STATIC ${sources})
    sextant_use_precompiled(sextant_${name} sextant_common)
    target_compile_features(sextant_${name} PUBLIC cxx_std_20)
    if(LAYER_COLD)
        target_compile_options(sextant_${name} PRIVATE $<$<CONFIG:Release>:-O1>)
    endif()
    if(LAYER_UNITY AND SEXTANT_UNITY)
        set_target_properties(sextant_${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
    endif()
    target_include_directories(sextant_${name} PUBLIC "${PROJECT_SOURCE_DIR}/src")
    foreach(below IN LISTS LAYER_DEPENDS)
        target_link_libraries(sextant_${name} PUBLIC sextant_${below})
    endforeach()
    set_property(GLOBAL APPEND PROPERTY SEXTANT_LAYERS ${name})
    set_property(GLOBAL PROPERTY SEXTANT_LAYER_${name} "${LAYER_DEPENDS}")
endfunction()
