# SPDX-License-Identifier: BSD-3-Clause
# Installs the libraries, their public headers (chapters), the command, and package files for
# find_package and pkg-config.
include(CMakePackageConfigHelpers)
install(EXPORT sextant-targets NAMESPACE sextant::
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/sextant)

if(SEXTANT_COMMAND)
    install(TARGETS sextant_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
    install(DIRECTORY "${PROJECT_BINARY_DIR}/manuals/man1" DESTINATION ${CMAKE_INSTALL_MANDIR} OPTIONAL)
    install(FILES "${PROJECT_BINARY_DIR}/manuals/bash/sextant"
            DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions OPTIONAL)
    install(FILES "${PROJECT_BINARY_DIR}/manuals/zsh/_sextant"
            DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions OPTIONAL)
endif()
if(SEXTANT_LAB)
    install(TARGETS sextant_laboratory RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/sextant)
endif()
if(SEXTANT_PAPERS)
    install(TARGETS sextant_papers_program RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/sextant)
    install(DIRECTORY papers/data papers/platforms DESTINATION ${CMAKE_INSTALL_DATADIR}/sextant/papers)
endif()
if(simgrid_FOUND)
    install(TARGETS sextant_simgrid RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/sextant)
endif()

# Install the public headers (chapters), and under detail/ the headers that they include.
install(CODE "set(without \"${SEXTANT_CHAPTERS_WITHOUT}\")
              set(source \"${PROJECT_SOURCE_DIR}/src/sextant\")
              set(to \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_INCLUDEDIR}/sextant\")")
install(SCRIPT cmake/install_headers.cmake)
install(DIRECTORY machines platforms DESTINATION ${CMAKE_INSTALL_DATADIR}/sextant)
sextant_install_schemas(${CMAKE_INSTALL_DATADIR}/sextant/schemas)
get_property(SEXTANT_COMPONENTS GLOBAL PROPERTY SEXTANT_COMPONENTS)
configure_package_config_file(cmake/sextant-config.cmake.in
    "${PROJECT_BINARY_DIR}/sextant-config.cmake"
    INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/sextant)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/sextant-config-version.cmake"
    COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/sextant-config.cmake"
              "${PROJECT_BINARY_DIR}/sextant-config-version.cmake"
              "${PROJECT_SOURCE_DIR}/cmake/SextantMpi.cmake"
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/sextant)
file(RELATIVE_PATH SEXTANT_PREFIX_FROM_PC "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig"
     "${CMAKE_INSTALL_PREFIX}")
if(SEXTANT_MPI)
    set(SEXTANT_PC_FLAGS " -DSEXTANT_WITH_MPI")
endif()
configure_file(cmake/sextant.pc.in "${PROJECT_BINARY_DIR}/sextant.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/sextant.pc" DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
