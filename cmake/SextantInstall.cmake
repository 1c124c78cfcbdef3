# SPDX-License-Identifier: BSD-3-Clause
# `find_package(sextant)` defines the target sextant::sextant, and one target per layer.
include(CMakePackageConfigHelpers)
add_library(sextant_all INTERFACE)
add_library(sextant::sextant ALIAS sextant_all)
set_target_properties(sextant_all PROPERTIES EXPORT_NAME sextant)
get_property(layers GLOBAL PROPERTY SEXTANT_INSTALLED_LAYERS)
foreach(layer IN LISTS layers)
    target_link_libraries(sextant_all INTERFACE sextant_${layer})
    install(TARGETS sextant_${layer} EXPORT sextant-targets
            ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endforeach()
if(SEXTANT_MPI) # for sextant/comm/mpi.hpp
    target_link_libraries(sextant_all INTERFACE MPI::MPI_C)
    target_compile_definitions(sextant_all INTERFACE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
endif()
install(TARGETS sextant_all EXPORT sextant-targets)
install(TARGETS sextant_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
if(SEXTANT_LAB)
    install(TARGETS sextant_laboratory RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/sextant)
endif()
if(simgrid_FOUND)
    install(TARGETS sextant_simgrid RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/sextant)
endif()
install(DIRECTORY src/sextant DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp"
        PATTERN lab EXCLUDE)
install(DIRECTORY data machines platforms DESTINATION ${CMAKE_INSTALL_DATADIR}/sextant)
install(EXPORT sextant-targets NAMESPACE sextant::
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/sextant)
configure_package_config_file(cmake/sextant-config.cmake.in
    "${PROJECT_BINARY_DIR}/sextant-config.cmake"
    INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/sextant)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/sextant-config-version.cmake"
    COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/sextant-config.cmake"
              "${PROJECT_BINARY_DIR}/sextant-config-version.cmake"
              "${PROJECT_SOURCE_DIR}/cmake/SextantMpi.cmake"
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/sextant)
