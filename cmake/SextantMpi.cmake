# SPDX-License-Identifier: BSD-3-Clause
# Finds the MPI that SEXTANT_MPI names: ON for that of mpicc, another VALUE for that of mpicc.VALUE,
# as Debian names them if several are installed. Used by the build and by the installed package, so
# that both use the same MPI.
if(NOT SEXTANT_MPI MATCHES "^(ON|TRUE|YES|1)$" AND NOT MPI_C_COMPILER)
    find_program(MPI_C_COMPILER "mpicc.${SEXTANT_MPI}" REQUIRED)
    find_program(MPIEXEC_EXECUTABLE "mpiexec.${SEXTANT_MPI}" REQUIRED)
endif()
find_package(MPI REQUIRED COMPONENTS C)
