// SPDX-License-Identifier: BSD-3-Clause
// Figures 6 and 7 of the Radix-k paper: the choice of radices.
#include "sextant/compositing/swap_algorithms.hpp"
#include "sextant/lab/intrepid.hpp"
#include "sextant/lab/reproduce_radix_k.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sextant::lab {

namespace {

std::string name_of(const std::vector<int>& radices) {
    return fmt::format("{}", fmt::join(radices, ","));
}

// Figure 6 of the Radix-k paper.

struct NamedMachine {
    const char* name;
    simulate::Platform platform;
    std::vector<simulate::OrderedHost> order = {};
};

/// The times of one vector of radices on each machine, in milliseconds.
struct Measured {
    std::vector<int> radices;
    std::vector<double> times;
};

/// All vectors, or some of them: those that the text names, and the ends of the axis.
std::vector<std::vector<int>> vectors(Extent extent) {
    if (extent == Extent::whole)
        return compositing::factorisations(256);
    return {{2, 2, 2, 2, 2, 2, 2, 2}, {4, 4, 4, 4}, {8, 8, 2, 2}, {8, 8, 4}, {16, 16}, {32, 8}};
}

const Measured& best(const std::vector<Measured>& all, std::size_t machine) {
    return *std::ranges::min_element(all, {},
                                     [&](const Measured& each) { return each.times[machine]; });
}

Result figure_6(Extent extent) {
    // The torus is half of a partition of 512 nodes, as in the paper.
    const IntrepidPartition mesh = intrepid_partition(256), torus = intrepid_partition(512);
    const NamedMachine machines[] = {
        {"mesh", intrepid(mesh)},
        {"torus", intrepid(torus)},
        {"torus, 2x2x2 blocks", intrepid(torus), in_blocks(torus.extents, {2, 2, 2})},
        {"torus, 4x4x4 blocks", intrepid(torus), in_blocks(torus.extents, {4, 4, 4})}};
    enum : std::size_t { on_mesh, on_torus, in_eights, in_sixty_fours };
    Result result{"milliseconds, 2 Mpx on 256 nodes", {}, {}, {}};
    for (const NamedMachine& machine : machines)
        result.columns.push_back(machine.name);
    std::vector<Measured> all;
    for (const std::vector<int>& radices : vectors(extent)) {
        all.push_back({radices, {}});
        for (const NamedMachine& machine : machines)
            all.back().times.push_back(
                radix_k_milliseconds(radices, 2 * mega, machine.platform, {machine.order}));
        if (std::ranges::is_sorted(radices, std::greater<>()))
            result.rows.push_back({name_of(radices), {}, all.back().times});
    }
    return result;
}

// Figure 7 of the Radix-k paper.

std::vector<int> ascending_primes(int number) {
    std::vector<int> primes;
    for (int prime = 2; number > 1; ++prime) {
        for (; number % prime == 0; number /= prime)
            primes.push_back(prime);
    }
    return primes;
}

/// The group to which Figure 7 of the paper assigns a number of ranks.
std::string group_of(int ranks) {
    for (const int factor : {4, 3, 5}) {
        if (ranks % factor == 0)
            return fmt::format("multiples of {}", factor);
    }
    return "the rest";
}

struct Point {
    int ranks = 0;
    double milliseconds = 0;
};

/// The straight line with the least sum of squared distances from the points.
struct Line {
    double at_zero = 0, slope = 0;

    double at(double ranks) const { return at_zero + slope * ranks; }
};

Line fitted(const std::vector<Point>& points) {
    double n = 0, x = 0, y = 0, xx = 0, xy = 0;
    for (const Point& point : points) {
        n += 1;
        x += point.ranks;
        y += point.milliseconds;
        xx += double(point.ranks) * point.ranks;
        xy += point.ranks * point.milliseconds;
    }
    const double slope = (n * xy - x * y) / (n * xx - x * x);
    return {(y - slope * x) / n, slope};
}

using Groups = std::map<std::string, std::vector<Point>>;

Groups myrinet_points(Extent extent) {
    Groups groups;
    for (int ranks = 4; ranks <= 96; ranks += extent == Extent::whole ? 1 : 7) {
        groups[group_of(ranks)].push_back(
            {ranks, 1e3 * composite("radix-k", ranks, 2 * mega, {"myrinet-100"},
                                    ascending_primes(ranks))});
    }
    return groups;
}

Result figure_7(Extent extent) {
    Result result{"milliseconds, 2 Mpx; best-fit lines of the groups", {"simulated"}, {}, {}};
    const Groups groups = myrinet_points(extent);
    std::map<std::string, Line> lines;
    for (const auto& [group, points] : groups)
        lines[group] = fitted(points);
    const auto add = [&](std::string label, std::optional<double> theirs, double ours) {
        result.rows.push_back({std::move(label), theirs, {ours}});
    };
    for (const auto& [group, line] : lines) {
        const bool printed = group == "multiples of 4";
        add(group + ", 4 nodes", printed ? std::optional(60.) : std::nullopt, line.at(4));
        add(group + ", 96 nodes", printed ? std::optional(80.) : std::nullopt, line.at(96));
        add(group + ", slope, us per node", printed ? std::optional(20e3 / 92) : std::nullopt,
            1e3 * line.slope);
    }
    return result;
}

Result figure_7_points(Extent extent) {
    Result result{"milliseconds, 2 Mpx", {"simulated"}, {}, {}};
    const Groups groups = myrinet_points(extent);
    for (const auto& [group, points] : groups) {
        for (const Point& point : points)
            result.rows.push_back({fmt::format("{}: {} nodes, {}", group, point.ranks,
                                               name_of(ascending_primes(point.ranks))),
                                   {},
                                   {point.milliseconds}});
    }
    return result;
}

constexpr Experiment vectors_experiments[] = {
    {"radix-k", "Figure 6", "radices at 256 nodes: mesh, torus, mapping", blue_gene_assumptions, "",
     figure_6},
    {"radix-k", "Figure 7", "a Myrinet cluster, ascending primes", "", "", figure_7},
    {"radix-k", "Figure 7: points", "a Myrinet cluster, ascending primes", "", "",
     figure_7_points}};

} // namespace

std::span<const Experiment> radix_k_vectors() {
    return vectors_experiments;
}

} // namespace sextant::lab
