# SPDX-License-Identifier: BSD-3-Clause
# Uses SimGrid's MPI, for the build tree that runs the executor under smpirun. smpirun loads a copy
# of the program for each rank; -fno-gnu-unique keeps the ranks from sharing GNU unique symbols.
pkg_get_variable(simgrid_includes simgrid includedir)
find_path(SMPI_INCLUDE_DIR mpi.h PATHS "${simgrid_includes}/smpi" /usr/include/smpi REQUIRED
          NO_DEFAULT_PATH)
add_library(MPI::MPI_C INTERFACE IMPORTED)
target_include_directories(MPI::MPI_C INTERFACE "${SMPI_INCLUDE_DIR}")
add_compile_options(-fno-gnu-unique)
target_link_libraries(MPI::MPI_C INTERFACE PkgConfig::simgrid)
