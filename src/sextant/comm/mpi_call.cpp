// SPDX-License-Identifier: BSD-3-Clause
#ifdef SEXTANT_WITH_MPI
#include "sextant/comm/mpi_call.hpp"

#include "sextant/core/error.hpp"

#include <string_view>

#include <fmt/format.h>
#include <sched.h>

namespace sextant {

void mpi_check(int code, const char* call) {
    if (code == MPI_SUCCESS)
        return;
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(code, text, &length);
    throw CommunicationFailed(fmt::format("{}: {}", call, std::string_view(text, length)));
}

void mpi_finish(MPI_Request& request, const char* call) {
    constexpr int patience = 8;
    for (int idle = 0, done = 0;; ++idle) {
        mpi_check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), call);
        if (done)
            return;
        if (idle >= patience)
            sched_yield();
    }
}

bool mpi_finalized() {
    int finalized = 0;
    MPI_Finalized(&finalized);
    return finalized != 0;
}

} // namespace sextant
#endif
