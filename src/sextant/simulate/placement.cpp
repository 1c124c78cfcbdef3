// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/simulate/placement.hpp"

#include "sextant/core/error.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

namespace sextant::simulate {

namespace {

std::vector<int> chosen(std::span<const Room> rooms, std::span<const OrderedHost> order,
                        const std::string& platform) {
    std::vector<int> hosts(rooms.size());
    std::iota(hosts.begin(), hosts.end(), 0);
    if (order.empty())
        return hosts;
    std::unordered_map<std::string, int> unused;
    for (const int host : hosts)
        unused.emplace(rooms[static_cast<std::size_t>(host)].host, host);
    hosts.clear();
    for (const auto& [name, named_by] : order) {
        const auto found = unused.find(name);
        if (found == unused.end())
            throw InvalidTask(
                fmt::format("{} names '{}', expected a host of {}", named_by, name, platform));
        if (found->second < 0)
            throw InvalidTask(
                fmt::format("{} names '{}' again, expected each host once", named_by, name));
        hosts.push_back(std::exchange(found->second, -1));
    }
    return hosts;
}

/// Letters, then the number at the end.
std::tuple<std::string, std::string::size_type, std::string> natural(const std::string& name) {
    const auto end = name.find_last_not_of("0123456789") + 1;
    const std::string digits = name.substr(end);
    const auto significant = std::min(digits.find_first_not_of('0'), digits.size());
    return {name.substr(0, end), digits.size() - significant, digits.substr(significant)};
}

} // namespace

std::vector<Room> rooms_of(const Network& network) {
    std::vector<Room> rooms;
    for (const std::string& host : network.hosts)
        rooms.push_back({host, network.cores});
    return rooms;
}

std::vector<int> place(std::span<const Room> rooms, std::span<const OrderedHost> order, int ranks,
                       const std::string& platform) {
    std::vector<int> host_of;
    const std::vector<int> hosts = chosen(rooms, order, platform);
    for (const int host : hosts) {
        const int cores = rooms[static_cast<std::size_t>(host)].cores;
        host_of.insert(host_of.end(), static_cast<std::size_t>(cores), host);
    }
    if (static_cast<int>(host_of.size()) < ranks) {
        throw InvalidTask(fmt::format("{} ranks, but {} has {} cores on {} hosts{}", ranks,
                                      platform, host_of.size(), hosts.size(),
                                      order.empty() ? "" : " that the order names"));
    }
    host_of.resize(static_cast<std::size_t>(ranks));
    return host_of;
}

void sort_naturally(std::vector<Room>& rooms) {
    std::sort(rooms.begin(), rooms.end(), [](const Room& a, const Room& b) {
        return std::pair(natural(a.host), a.host) < std::pair(natural(b.host), b.host);
    });
}

} // namespace sextant::simulate
