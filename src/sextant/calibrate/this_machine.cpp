// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/calibrate/this_machine.hpp"

#include "sextant/calibrate/topology_here.hpp"
#include "sextant/comm/launch.hpp"
#include "sextant/core/error.hpp"

#include <array>
#include <ctime>

#include <fmt/format.h>
#include <unistd.h>

namespace sextant::calibrate {

namespace {

using HostName = std::array<char, 256>;

HostName host_name() {
    HostName name{};
    gethostname(name.data(), name.size() - 1);
    return name;
}

std::string now() {
    const std::time_t seconds = std::time(nullptr);
    std::tm utc{};
    gmtime_r(&seconds, &utc);
    std::array<char, 32> text{};
    std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &utc);
    return text.data();
}

} // namespace

machine::Profile describe_machine(const std::string& transport) {
    machine::Profile profile;
    profile.host = host_name().data();
    profile.name = fmt::format("{} {}", profile.host, transport);
    profile.topology = topology_here();
    profile.transport = transport;
    profile.cores = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
    if (transport == "mpi") {
        const std::string mpi = mpi_of_build(); // "Open MPI 4.1.4"
        const auto space = mpi.rfind(' ');
        profile.mpi = mpi.substr(0, space);
        profile.mpi_version = space == std::string::npos ? "" : mpi.substr(space + 1);
    }
    profile.origin = {now(), "executor's programs between two ranks, one launch"};
    return profile;
}

std::vector<Pair> pairs_of(const Communicator& communicator) {
    if (communicator.size() < 2) {
        throw InvalidTask(
            fmt::format("{} rank: a calibration needs two or more", communicator.size()));
    }
    if (communicator.shares_memory())
        return {{machine::Link::same_process, 1}};
    const std::vector<HostName> hosts = communicator.all_gather(host_name());
    std::vector<Pair> pairs;
    for (const bool same : {true, false}) {
        for (int rank = 1; rank < communicator.size(); ++rank) {
            if ((hosts[static_cast<std::size_t>(rank)] == hosts[0]) != same)
                continue;
            pairs.push_back({same ? machine::Link::same_node : machine::Link::other_node, rank});
            break;
        }
    }
    return pairs;
}

} // namespace sextant::calibrate
