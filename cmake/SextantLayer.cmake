# SPDX-License-Identifier: BSD-3-Clause
# A layer is a folder of src/sextant and a target of its own, so that an upward dependency does not
# link. Source files are found by globbing: adding an algorithm edits no build file. A large layer
# has subfolders (ROOMS); files outside them are common to all.
# COLD: the layer has no loops that take time, so it is optimised less, which compiles faster.
# UNITY: several of its files can be compiled at a time (SEXTANT_UNITY), because names are unique.
option(SEXTANT_UNITY "Compile several files at a time; for building once, not for development" OFF)
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
