# SPDX-License-Identifier: BSD-3-Clause
# Finds the MPI that SEXTANT_MPI names: ON takes the one of mpicc, another value the one of
# mpicc.VALUE, as Debian names them where several are installed. Used by the build and by what finds
# the installed package, so that both take the same.
if(NOT SEXTANT_MPI MATCHES "^(ON|TRUE|YES|1)$" AND NOT MPI_C_COMPILER)
    find_program(MPI_C_COMPILER "mpicc.${SEXTANT_MPI}" REQUIRED)
    find_program(MPIEXEC_EXECUTABLE "mpiexec.${SEXTANT_MPI}" REQUIRED)
endif()
find_package(MPI REQUIRED COMPONENTS C)
