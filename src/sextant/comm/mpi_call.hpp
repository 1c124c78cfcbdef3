// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

namespace sextant {

/// Throws CommunicationFailed with the text of MPI's error code, unless it is MPI_SUCCESS.
void mpi_check(int code, const char* call);

/// Completes a request without blocking inside MPI, which may spin: lets others run meanwhile.
void mpi_finish(MPI_Request& request, const char* call);

/// Whether MPI has been shut down: nothing of it may be freed then.
bool mpi_finalized();

} // namespace sextant
