// SPDX-License-Identifier: BSD-3-Clause
#include "papers/intrepid.hpp"

#include "sextant/core/text.hpp"
#include "sextant/machine/installation.hpp"

#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace sextant::papers {

std::string text(const Extents& extents) {
    return fmt::format("{}", fmt::join(extents, "x"));
}

IntrepidPartition intrepid_partition(int nodes) {
    constexpr Extents shapes[] = {
        {4, 4, 2},   {4, 4, 4},   {4, 4, 8},    {8, 4, 8},    {8, 8, 8},    {8, 8, 16},  {8, 8, 32},
        {8, 16, 32}, {8, 32, 32}, {16, 32, 32}, {24, 32, 32}, {32, 32, 32}, {40, 32, 32}};
    for (const Extents& shape : shapes) {
        const IntrepidPartition partition{shape};
        if (partition.nodes() >= nodes)
            return {shape, partition.nodes() >= 512};
    }
    throw std::invalid_argument(fmt::format("{} nodes, expected at most 40960", nodes));
}

simulate::Platform intrepid(const IntrepidPartition& partition, double injection) {
    const std::string path = machine::shared_file(simulate::platforms, "torus-8x8x8");
    nlohmann::json json = nlohmann::json::parse(read_text(path, 1 << 20));
    json["network"]["shape"] = partition.torus ? "torus" : "mesh";
    json["network"]["extents"] = partition.extents;
    if (injection > 0)
        json["network"]["injection"] = injection;
    return simulate::parse_platform(json.dump(), path);
}

simulate::Platform half_duplex(simulate::Platform platform, const Extents& extents) {
    // A host has the links X up, X down, Y up, Y down, Z up, Z down. The down link of a host is the
    // up link of its neighbour.
    platform.network.route = [route = platform.network.route, extents](int from, int to,
                                                                       std::vector<int>& path) {
        const std::size_t before = path.size();
        route(from, to, path);
        for (std::size_t i = before; i < path.size(); ++i) {
            const int host = path[i] / 6, dimension = path[i] % 6 / 2;
            if (path[i] % 2 == 0)
                continue;
            int stride = 1;
            for (int d = 0; d < dimension; ++d)
                stride *= extents[static_cast<std::size_t>(d)];
            const int extent = extents[static_cast<std::size_t>(dimension)];
            const int at = host / stride % extent, below = (at + extent - 1) % extent;
            path[i] = 6 * (host + (below - at) * stride) + 2 * dimension;
        }
    };
    return platform;
}

namespace {

using Corner = std::array<int, 3>;

/// Calls `visit` with the corner of each block of a box, in XYZ order.
template <class Visit>
void for_each_block(const Corner& corner, const Extents& box, const Extents& block, Visit&& visit) {
    for (int z = 0; z < box[2]; z += block[2]) {
        for (int y = 0; y < box[1]; y += block[1]) {
            for (int x = 0; x < box[0]; x += block[0])
                visit(Corner{corner[0] + x, corner[1] + y, corner[2] + z});
        }
    }
}

} // namespace

std::vector<simulate::OrderedHost> in_blocks(const Extents& extents, const Extents& block,
                                             bool nested) {
    std::vector<simulate::OrderedHost> hosts;
    const auto fill = [&](const auto& self, const Corner& corner, const Extents& box) -> void {
        Extents inner{1, 1, 1};
        for (std::size_t d = 0; d < 3 && nested; ++d)
            inner[d] = std::max(1, box[d] / 2);
        for_each_block(corner, box, inner, [&](const Corner& at) {
            if (inner == Extents{1, 1, 1})
                hosts.push_back(
                    {fmt::format("n{}", at[0] + extents[0] * (at[1] + extents[1] * at[2]))});
            else
                self(self, at, inner);
        });
    };
    for_each_block({}, extents, block, [&](const Corner& at) { fill(fill, at, block); });
    return hosts;
}

} // namespace sextant::papers
