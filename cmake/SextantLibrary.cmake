# SPDX-License-Identifier: BSD-3-Clause
# Defines the libraries for users: three shared libraries (static with BUILD_SHARED_LIBS=OFF), so that a
# program that composites images does not depend on image format libraries. Each public header (chapter) is a
# component, for example sextant::compositor; sextant::sextant links all of them. The programs of this project
# link the layers instead.
option(BUILD_SHARED_LIBS "Build shared libraries" ON)
# Until 1.0, each minor version has its own soname: libsextant.so.0.9.
set(SEXTANT_SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set(SEXTANT_SYMBOLS "${PROJECT_BINARY_DIR}/libsextant.map")
configure_file(cmake/libsextant.map.in "${SEXTANT_SYMBOLS}" @ONLY)

# Defines a library that consists of these layers.
function(sextant_library name)
    cmake_parse_arguments(LIBRARY "" "OUTPUT" "LAYERS;LINKS" ${ARGN})
    set(objects)
    foreach(layer IN LISTS LIBRARY_LAYERS)
        list(APPEND objects "$<TARGET_OBJECTS:sextant_${layer}>")
    endforeach()
    add_library(${name} ${objects})
    set_target_properties(${name} PROPERTIES OUTPUT_NAME ${LIBRARY_OUTPUT} LINKER_LANGUAGE CXX
        VERSION ${PROJECT_VERSION} SOVERSION ${SEXTANT_SOVERSION}
        INSTALL_RPATH "$ORIGIN")
    target_link_libraries(${name} PRIVATE ${LIBRARY_LINKS} fmt::fmt)
    target_compile_features(${name} INTERFACE cxx_std_20)
    target_include_directories(${name} INTERFACE
        "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>" "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
    if(BUILD_SHARED_LIBS)
        target_link_options(${name} PRIVATE "-Wl,--version-script=${SEXTANT_SYMBOLS}" -Wl,-Bsymbolic-functions)
        set_target_properties(${name} PROPERTIES LINK_DEPENDS "${SEXTANT_SYMBOLS}")
    endif()
    if(SEXTANT_INSTALL)
        install(TARGETS ${name} EXPORT sextant-targets DESTINATION ${CMAKE_INSTALL_LIBDIR})
    endif()
endfunction()

# The public headers (chapters) that are not installed because their library is not built.
set(SEXTANT_CHAPTERS_WITHOUT "")
foreach(part IN ITEMS FORMAT REGISTRATION)
    if(NOT SEXTANT_${part})
        string(TOLOWER "${part}.hpp" header)
        list(APPEND SEXTANT_CHAPTERS_WITHOUT "${header}")
    endif()
endforeach()

# Defines a component: a target with the name of its public header (chapter).
function(sextant_component name library)
    add_library(sextant_component_${name} INTERFACE)
    add_library(sextant::${name} ALIAS sextant_component_${name})
    set_target_properties(sextant_component_${name} PROPERTIES EXPORT_NAME ${name})
    target_link_libraries(sextant_component_${name} INTERFACE ${library})
    if(SEXTANT_INSTALL)
        install(TARGETS sextant_component_${name} EXPORT sextant-targets)
    endif()
    set_property(GLOBAL APPEND PROPERTY SEXTANT_COMPONENTS ${name})
endfunction()

sextant_library(sextant_base OUTPUT sextant
    LAYERS core array kernel schedule compositing scan collective halo filtering contour comm prefix machine
           model planner calibrate compositor collectives tiles filter contours label
    LINKS hwy::hwy PkgConfig::hwloc Threads::Threads)
target_link_libraries(sextant_base PRIVATE "$<BUILD_INTERFACE:nlohmann_json::nlohmann_json>")
if(SEXTANT_MPI)
    target_link_libraries(sextant_base PUBLIC MPI::MPI_C)
    target_compile_definitions(sextant_base INTERFACE SEXTANT_WITH_MPI OMPI_SKIP_MPICXX
                                                      MPICH_SKIP_MPICXX)
endif()
add_library(sextant_all INTERFACE)
add_library(sextant::sextant ALIAS sextant_all)
set_target_properties(sextant_all PROPERTIES EXPORT_NAME sextant)
target_link_libraries(sextant_all INTERFACE sextant_base)
if(SEXTANT_INSTALL)
    install(TARGETS sextant_all EXPORT sextant-targets)
endif()
foreach(chapter IN ITEMS communicator compositor scan filter label contours schedule collective machine)
    sextant_component(${chapter} sextant_base)
endforeach()
if(SEXTANT_REGISTRATION)
    sextant_library(sextant_registration_library OUTPUT sextant-registration LAYERS registration)
    target_link_libraries(sextant_registration_library PUBLIC sextant_base)
    sextant_component(registration sextant_registration_library)
    target_link_libraries(sextant_all INTERFACE sextant_registration_library)
endif()
if(SEXTANT_FORMAT)
    sextant_library(sextant_format_library OUTPUT sextant-format LAYERS format
        LINKS "$<BUILD_INTERFACE:nlohmann_json::nlohmann_json>" OpenEXR::OpenEXR PkgConfig::spng PkgConfig::zstd
              PkgConfig::blosc TIFF::TIFF
              JPEG::JPEG ZLIB::ZLIB BZip2::BZip2 ${CMAKE_DL_LIBS})
    target_link_libraries(sextant_format_library PUBLIC sextant_base)
    sextant_component(format sextant_format_library)
    target_link_libraries(sextant_all INTERFACE sextant_format_library)
endif()
