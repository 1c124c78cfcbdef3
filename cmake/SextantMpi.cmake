# SPDX-License-Identifier: BSD-3-Clause
# Finds the MPI selected by SEXTANT_MPI: ON selects the MPI of mpicc; another VALUE selects that of
# mpicc.VALUE, which is how Debian names several installed MPIs. Used by the build and by the
# installed package, so that both use the same MPI.
if(NOT SEXTANT_MPI MATCHES "^(ON|TRUE|YES|1)$" AND NOT MPI_C_COMPILER)
    find_program(MPI_C_COMPILER "mpicc.${SEXTANT_MPI}" REQUIRED)
    find_program(MPIEXEC_EXECUTABLE "mpiexec.${SEXTANT_MPI}" REQUIRED)
endif()
find_package(MPI REQUIRED COMPONENTS C)
