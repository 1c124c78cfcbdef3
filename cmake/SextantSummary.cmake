# SPDX-License-Identifier: BSD-3-Clause
message(STATUS "Sextant ${PROJECT_VERSION}: ${CMAKE_BUILD_TYPE}, MPI ${SEXTANT_MPI}, "
               "tests ${SEXTANT_TESTS}, benchmarks ${SEXTANT_BENCHMARKS}, "
               "examples ${SEXTANT_EXAMPLES}, sanitizers '${SEXTANT_SANITIZE}'")
if(SEXTANT_MPI)
    message(STATUS "Sextant: MPI ${MPI_C_VERSION} from ${MPI_C_LIBRARIES}, "
                   "launcher ${MPIEXEC_EXECUTABLE}")
endif()
if(NOT SEXTANT_COMMAND)
    message(STATUS "Sextant: the library alone, without the command")
    return()
endif()
if(simgrid_FOUND)
    message(STATUS "Sextant: SimGrid ${simgrid_VERSION}")
else()
    message(STATUS "Sextant: no SimGrid; 'sextant simulate' will say so (libsimgrid-dev)")
endif()
if(otf2_FOUND)
    message(STATUS "Sextant: OTF2 ${otf2_VERSION}")
else()
    message(STATUS "Sextant: no OTF2; '--trace FOLDER.otf2' will say so (libopen-trace-format2-dev)")
endif()
