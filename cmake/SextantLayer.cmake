# SPDX-License-Identifier: BSD-3-Clause
# A layer is a folder of src/sextant and a target of its own, so that an upward dependency does not
# link. Source files are found by globbing: adding an algorithm edits no build file. A large layer
# has subfolders (ROOMS); files outside them serve all. NOT_INSTALLED layers are only for programs
# of this project.
function(sextant_layer name)
    cmake_parse_arguments(LAYER "NOT_INSTALLED" "" "ROOMS;DEPENDS" ${ARGN})
    set(folder "${PROJECT_SOURCE_DIR}/src/sextant/${name}")
    set(patterns "${folder}/*.cpp")
    foreach(room IN LISTS LAYER_ROOMS)
        list(APPEND patterns "${folder}/${room}/*.cpp")
    endforeach()
    file(GLOB sources CONFIGURE_DEPENDS ${patterns})
    add_library(sextant_${name} STATIC ${sources})
    add_library(sextant::${name} ALIAS sextant_${name})
    set_target_properties(sextant_${name} PROPERTIES EXPORT_NAME ${name})
    sextant_use_precompiled(sextant_${name} sextant_common)
    target_compile_features(sextant_${name} PUBLIC cxx_std_20)
    target_include_directories(sextant_${name} PUBLIC
        "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>"
        "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
    foreach(below IN LISTS LAYER_DEPENDS)
        target_link_libraries(sextant_${name} PUBLIC sextant_${below})
    endforeach()
    set_property(GLOBAL APPEND PROPERTY SEXTANT_LAYERS ${name})
    if(NOT LAYER_NOT_INSTALLED)
        set_property(GLOBAL APPEND PROPERTY SEXTANT_INSTALLED_LAYERS ${name})
    endif()
    set_property(GLOBAL PROPERTY SEXTANT_LAYER_${name} "${LAYER_DEPENDS}")
endfunction()
