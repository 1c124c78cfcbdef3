// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/simulate/shapes.hpp"

#include "sextant/simulate/crossbar.hpp"
#include "sextant/simulate/fat_tree.hpp"
#include "sextant/simulate/grid.hpp"

#include <fmt/format.h>

namespace sextant::simulate {

namespace {

constexpr Shape catalogue[] = {
    {"crossbar", "one switch that never blocks", crossbar},
    {"fat tree", "switches in levels, with parallel cables and static routing", fat_tree},
    {"mesh", "hosts are routers, one dimension after another", mesh},
    {"torus", "likewise, closed to rings", torus}};

} // namespace

std::span<const Shape> shapes() {
    return catalogue;
}

std::vector<std::string> numbered_hosts(int count) {
    std::vector<std::string> names;
    for (int i = 0; i < count; ++i)
        names.push_back(fmt::format("n{}", i));
    return names;
}

} // namespace sextant::simulate
