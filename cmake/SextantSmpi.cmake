# SPDX-License-Identifier: BSD-3-Clause
# Uses SimGrid's MPI instead of another, for the build tree that runs the executor under smpirun. It
# loads a copy of the program for each rank, but GNU unique symbols would still be shared by all.
pkg_get_variable(simgrid_includes simgrid includedir)
find_path(SMPI_INCLUDE_DIR mpi.h PATHS "${simgrid_includes}/smpi" /usr/include/smpi REQUIRED
          NO_DEFAULT_PATH)
add_library(MPI::MPI_C INTERFACE IMPORTED)
target_include_directories(MPI::MPI_C INTERFACE "${SMPI_INCLUDE_DIR}")
add_compile_options(-fno-gnu-unique)
target_link_libraries(MPI::MPI_C INTERFACE PkgConfig::simgrid)
