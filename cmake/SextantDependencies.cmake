# SPDX-License-Identifier: BSD-3-Clause
# Libraries come from the distribution; scripts/packages.sh lists the packages.
include(GNUInstallDirs)
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(fmt REQUIRED)
find_package(hwy REQUIRED)
find_package(nlohmann_json REQUIRED) # header-only
pkg_check_modules(hwloc REQUIRED IMPORTED_TARGET hwloc)
if(SEXTANT_REGISTRATION)
    find_package(Eigen3 REQUIRED)
endif()
if(SEXTANT_FORMAT)
    find_package(OpenEXR REQUIRED)
    find_package(Imath REQUIRED)
    find_package(TIFF 4.5 REQUIRED)
    find_package(JPEG REQUIRED)
    find_package(ZLIB REQUIRED)
    find_package(BZip2 REQUIRED)
    pkg_check_modules(spng REQUIRED IMPORTED_TARGET spng)
    pkg_check_modules(zstd REQUIRED IMPORTED_TARGET libzstd)
    pkg_check_modules(blosc REQUIRED IMPORTED_TARGET blosc)
    pkg_check_modules(hdf5 REQUIRED IMPORTED_TARGET hdf5-serial) # the parallel HDF5 would include mpi.h
    # libhdf5 is loaded at run time (format/hdf5/api.hpp): by its soname, or else by its path here.
    list(GET hdf5_LINK_LIBRARIES 0 hdf5_path)
    get_filename_component(hdf5_path "${hdf5_path}" REALPATH)
    execute_process(COMMAND "${CMAKE_OBJDUMP}" -p "${hdf5_path}" OUTPUT_VARIABLE hdf5_dynamic ERROR_QUIET)
    if(NOT hdf5_dynamic MATCHES "SONAME +([^ \n]+)")
        message(FATAL_ERROR "${hdf5_path} is not a shared library, which reading HDF5 files requires")
    endif()
    set(hdf5_soname "${CMAKE_MATCH_1}")
endif()
set(simgrid_FOUND FALSE) # overrides the value of an earlier configuration
set(httplib_FOUND FALSE)
if(SEXTANT_COMMAND)
    if(SEXTANT_SIMGRID STREQUAL "AUTO" AND NOT SEXTANT_SIMGRID_MPI)
        pkg_check_modules(simgrid IMPORTED_TARGET simgrid)
    elseif(SEXTANT_SIMGRID)
        pkg_check_modules(simgrid REQUIRED IMPORTED_TARGET simgrid)
    endif()
    if(SEXTANT_HTTPLIB STREQUAL "AUTO")
        pkg_check_modules(httplib IMPORTED_TARGET cpp-httplib)
    elseif(SEXTANT_HTTPLIB)
        pkg_check_modules(httplib REQUIRED IMPORTED_TARGET cpp-httplib)
    endif()
endif()
if(SEXTANT_SIMGRID_MPI)
    include(SextantSmpi)
elseif(SEXTANT_MPI)
    include(SextantMpi)
endif()

# Adds a layer's source folder with_LIBRARY if an optional library was found, else without_LIBRARY.
function(sextant_optional layer library)
    set(folder "${PROJECT_SOURCE_DIR}/src/sextant/${layer}/without_${library}")
    if(${library}_FOUND)
        set(folder "${PROJECT_SOURCE_DIR}/src/sextant/${layer}/with_${library}")
        target_link_libraries(sextant_${layer} PRIVATE PkgConfig::${library})
    endif()
    file(GLOB sources CONFIGURE_DEPENDS "${folder}/*.cpp")
    target_sources(sextant_${layer} PRIVATE ${sources})
endfunction()

# Defines macros with the paths of shipped data and programs for one source file: in the build tree,
# in the installation, and relative to the installed programs and libraries, since an installation
# may be moved.
function(sextant_places source)
    set(data "${CMAKE_INSTALL_FULL_DATADIR}/sextant")
    set(programs "${CMAKE_INSTALL_FULL_LIBEXECDIR}/sextant")
    if(CMAKE_BUILD_RPATH_USE_ORIGIN) # what is built must not depend on the path of the build tree
        set(places SEXTANT_BUILD_TREE="" SEXTANT_SOURCE_DATA="" SEXTANT_BUILD_PROGRAMS="")
    else()
        file(REAL_PATH "${CMAKE_BINARY_DIR}" build_tree)
        set(places SEXTANT_BUILD_TREE="${build_tree}" SEXTANT_SOURCE_DATA="${PROJECT_SOURCE_DIR}"
                   SEXTANT_BUILD_PROGRAMS="${PROJECT_BINARY_DIR}")
    endif()
    list(APPEND places SEXTANT_INSTALLED_DATA="${data}" SEXTANT_INSTALLED_PROGRAMS="${programs}")
    set(folder_BIN "${CMAKE_INSTALL_FULL_BINDIR}")
    set(folder_LIB "${CMAKE_INSTALL_FULL_LIBDIR}")
    set(folder_LIBEXEC "${programs}")
    set(folder_PYTHON "${folder_LIB}")
    if(SEXTANT_PYTHON_SITE)
        set(folder_PYTHON "${CMAKE_INSTALL_PREFIX}/${SEXTANT_PYTHON_SITE}/sextant")
    endif()
    foreach(from IN ITEMS BIN LIB LIBEXEC PYTHON)
        foreach(what IN ITEMS data programs)
            file(RELATIVE_PATH path "${folder_${from}}" "${${what}}")
            string(TOUPPER "${what}_FROM_${from}" name)
            list(APPEND places SEXTANT_${name}="${path}")
        endforeach()
    endforeach()
    set_source_files_properties("${source}" PROPERTIES COMPILE_DEFINITIONS "${places}")
endfunction()

# Compiles the kernels for one instruction set, the best one of this machine.
function(sextant_native_kernels)
    if(NOT DEFINED SEXTANT_NATIVE_SET)
        set(source "${PROJECT_BINARY_DIR}/native.cpp")
        # AVX3_DL: not used by default either (HWY_WANT_AVX3_DL).
        file(WRITE "${source}" "#define HWY_COMPILE_ONLY_STATIC
#define HWY_DISABLED_TARGETS HWY_AVX3_DL
#include <cstdio>
#include <hwy/detect_targets.h>
int main() { std::printf(\"%lldLL\", static_cast<long long>(HWY_STATIC_TARGET)); }
")
        try_run(failed compiled "${PROJECT_BINARY_DIR}/native" "${source}" COMPILE_DEFINITIONS -march=native
                LINK_LIBRARIES hwy::hwy RUN_OUTPUT_VARIABLE set)
        if(NOT compiled OR failed)
            message(WARNING "Sextant: the instruction sets of this machine are unknown; compiling for all")
            return()
        endif()
        set(SEXTANT_NATIVE_SET "${set}" CACHE INTERNAL "Highway's instruction set for SEXTANT_NATIVE")
    endif()
    target_compile_definitions(sextant_kernel PRIVATE HWY_COMPILE_ONLY_STATIC
                                                      HWY_BASELINE_TARGETS=${SEXTANT_NATIVE_SET})
endfunction()

# Links each layer with its libraries, as PRIVATE so that they do not become dependencies of users.
function(sextant_use_libraries)
    get_property(layers GLOBAL PROPERTY SEXTANT_LAYERS)
    foreach(layer IN LISTS layers)
        target_link_libraries(sextant_${layer} PRIVATE fmt::fmt)
    endforeach()
    target_link_libraries(sextant_core PRIVATE nlohmann_json::nlohmann_json)
    target_link_libraries(sextant_kernel PRIVATE hwy::hwy)
    if(SEXTANT_NATIVE AND CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64") # others have one set
        sextant_native_kernels()
    endif()
    target_link_libraries(sextant_comm PUBLIC Threads::Threads)
    if(SEXTANT_MPI)
        # PRIVATE, so that the other layers are compiled in the same way for every MPI.
        target_link_libraries(sextant_comm PRIVATE MPI::MPI_C)
        target_compile_definitions(sextant_comm PRIVATE SEXTANT_WITH_MPI OMPI_SKIP_MPICXX
                                                        MPICH_SKIP_MPICXX)
    endif()
    target_link_libraries(sextant_machine PRIVATE nlohmann_json::nlohmann_json)
    target_link_libraries(sextant_calibrate PRIVATE nlohmann_json::nlohmann_json PkgConfig::hwloc)
    target_link_libraries(sextant_planner PRIVATE nlohmann_json::nlohmann_json)
    if(SEXTANT_REGISTRATION)
        target_link_libraries(sextant_registration PRIVATE Eigen3::Eigen)
        target_link_libraries(sextant_mosaic PRIVATE Eigen3::Eigen)
    endif()
    if(SEXTANT_FORMAT)
        target_link_libraries(sextant_format PRIVATE nlohmann_json::nlohmann_json OpenEXR::OpenEXR
                                                     PkgConfig::spng PkgConfig::zstd PkgConfig::blosc TIFF::TIFF
                                                     JPEG::JPEG ZLIB::ZLIB BZip2::BZip2 Threads::Threads
                                                     ${CMAKE_DL_LIBS})
        target_include_directories(sextant_format SYSTEM PRIVATE ${hdf5_INCLUDE_DIRS})
        set_source_files_properties("${PROJECT_SOURCE_DIR}/src/sextant/format/hdf5/api.cpp" PROPERTIES
            COMPILE_DEFINITIONS "SEXTANT_HDF5_SONAME=\"${hdf5_soname}\";SEXTANT_HDF5_PATH=\"${hdf5_path}\"")
    endif()
    if(SEXTANT_COMMAND)
        sextant_optional(serve httplib) # serve/live_server.hpp
        target_link_libraries(sextant_report PRIVATE nlohmann_json::nlohmann_json)
        target_link_libraries(sextant_command PRIVATE nlohmann_json::nlohmann_json)
    endif()
    sextant_places("${PROJECT_SOURCE_DIR}/src/sextant/machine/installation.cpp")
    set_source_files_properties("${PROJECT_SOURCE_DIR}/src/sextant/simulate/simulator_process.cpp"
        PROPERTIES COMPILE_DEFINITIONS SEXTANT_VERSION="${PROJECT_VERSION}")
    target_compile_definitions(sextant_comm PRIVATE SEXTANT_VERSION="${PROJECT_VERSION}")
    if(SEXTANT_LAB)
        target_link_libraries(sextant_lab PRIVATE nlohmann_json::nlohmann_json)
        if(SEXTANT_MPI) # only these files include mpi.h; the others are the same for every MPI
            set_source_files_properties("${PROJECT_SOURCE_DIR}/src/sextant/lab/mpi_baselines.cpp"
                "${PROJECT_SOURCE_DIR}/src/sextant/lab/mpi_collectives.cpp"
                "${PROJECT_SOURCE_DIR}/src/sextant/lab/mpi_algorithms.cpp" PROPERTIES
                INCLUDE_DIRECTORIES "${MPI_C_INCLUDE_DIRS}"
                COMPILE_DEFINITIONS "SEXTANT_WITH_MPI;OMPI_SKIP_MPICXX;MPICH_SKIP_MPICXX")
            target_link_libraries(sextant_lab PRIVATE "$<LINK_ONLY:MPI::MPI_C>")
        endif()
    endif()
endfunction()
