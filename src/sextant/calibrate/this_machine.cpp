// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/calibrate/this_machine.hpp"

#include "sextant/comm/launch.hpp"
#include "sextant/core/error.hpp"

#include <algorithm>
#include <array>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <set>

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

/// Folders "NAME0", "NAME1" ... in a folder of /sys.
std::vector<std::filesystem::path> numbered(const std::string& folder, const std::string& name) {
    std::vector<std::filesystem::path> found;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
        const std::string own = entry.path().filename().string();
        const bool numbers = own.size() > name.size() &&
                             std::all_of(own.begin() + static_cast<std::ptrdiff_t>(name.size()),
                                         own.end(), [](char c) { return c >= '0' && c <= '9'; });
        if (own.starts_with(name) && numbers)
            found.push_back(entry.path());
    }
    return found;
}

std::string processor_name() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);) {
        const auto colon = line.find(": ");
        if (line.starts_with("model name") && colon != std::string::npos)
            return line.substr(colon + 2);
    }
    return "";
}

std::string counted(std::size_t number, const std::string& thing) {
    return fmt::format("{} {}{}", number, thing, number == 1 ? "" : "s");
}

} // namespace

std::string topology_of_this_machine() {
    std::set<std::string> sockets, cores;
    for (const auto& processor : numbered("/sys/devices/system/cpu", "cpu")) {
        std::string socket, core;
        std::getline(std::ifstream(processor / "topology/physical_package_id"), socket);
        std::getline(std::ifstream(processor / "topology/core_id"), core);
        sockets.insert(socket);
        cores.insert(fmt::format("{}/{}", socket, core));
    }
    const std::size_t nodes = numbered("/sys/devices/system/node", "node").size();
    std::string text = fmt::format("{}, {}, {}", counted(sockets.size(), "socket"),
                                   counted(cores.size(), "core"), counted(nodes, "NUMA node"));
    if (const std::string processor = processor_name(); !processor.empty())
        text += ", " + processor;
    return text;
}

machine::Profile describe_machine(const std::string& transport) {
    machine::Profile profile;
    profile.host = host_name().data();
    profile.name = fmt::format("{} {}", profile.host, transport);
    profile.topology = topology_of_this_machine();
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
