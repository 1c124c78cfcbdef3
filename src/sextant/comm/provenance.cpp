// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/provenance.hpp"

#include "sextant/comm/launch.hpp"

#include <ctime>

#include <unistd.h>

namespace sextant {

std::string host() {
    char name[256] = "";
    gethostname(name, sizeof name - 1);
    return name;
}

std::string transport_of(const Communicator& communicator) {
    return communicator.shares_memory() ? "threads" : mpi_of_build();
}

int cores_of_host() {
    return static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
}

std::string version() {
    return SEXTANT_VERSION;
}

std::string date() {
    const std::time_t now = std::time(nullptr);
    std::tm utc{};
    gmtime_r(&now, &utc);
    char text[32] = "";
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    return text;
}

} // namespace sextant
