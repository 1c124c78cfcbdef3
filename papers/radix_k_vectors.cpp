// SPDX-License-Identifier: BSD-3-Clause
// Figures 6 and 7 of the Radix-k paper: the choice of radices.
#include "sextant/compositing/swap_algorithms.hpp"
#include "sextant/machine/installation.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>

#include "papers/intrepid.hpp"
#include "papers/radix_k.hpp"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sextant::papers {

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

/// All vectors of radices, or some of them: those that the text names, and the ends of the axis.
std::vector<std::vector<int>> vectors(Extent extent) {
    if (extent == Extent::whole)
        return compositing::factorisations(256);
    return {{2, 2, 2, 2, 2, 2, 2, 2}, {4, 4, 4, 4}, {8, 8, 2, 2}, {8, 8, 4}, {16, 16}, {32, 8}};
}

const Measured& best(const std::vector<Measured>& all, std::size_t machine) {
    return *std::ranges::min_element(all, {},
                                     [&](const Measured& each) { return each.times[machine]; });
}

/// The mean of one machine's time relative to another's, over the vectors that `chosen` selects.
template <class Chosen>
double mean_ratio(const std::vector<Measured>& all, std::size_t machine, std::size_t other,
                  const Chosen& chosen) {
    double sum = 0;
    int count = 0;
    for (const Measured& each : all) {
        if (!chosen(each.radices))
            continue;
        sum += each.times[machine] / each.times[other];
        ++count;
    }
    return sum / count;
}

Result figure_6(Extent extent) {
    // The torus is half of a partition of 512 nodes, as in the paper.
    const IntrepidPartition mesh = intrepid_partition(256), torus = intrepid_partition(512);
    const Extents &extents = torus.extents, eight = {2, 2, 2}, sixty_four = {4, 4, 4};
    const NamedMachine machines[] = {
        {"mesh", intrepid(mesh)},
        {"torus", intrepid(torus)},
        {"torus, 2x2x2 blocks", intrepid(torus), in_blocks(extents, eight)},
        {"torus, 4x4x4 blocks in XYZ order", intrepid(torus), in_blocks(extents, sixty_four)},
        {"torus, 4x4x4 blocks of 2x2x2 blocks", intrepid(torus),
         in_blocks(extents, sixty_four, true)}};
    enum : std::size_t { on_mesh, on_torus, in_eights, in_xyz, nested };
    Result result{"milliseconds, 2 Mpx on 256 nodes", {}};
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
    std::ranges::reverse(result.rows); // Binary-Swap first, as in the paper
    const auto highest = [](const std::vector<int>& radices) { return std::ranges::max(radices); };
    const auto high = [&](const std::vector<int>& radices) { return highest(radices) >= 16; };
    const auto low = [&](const std::vector<int>& radices) { return highest(radices) <= 4; };
    const auto any = [](const std::vector<int>&) { return true; };
    const Measured &unmapped = best(all, on_torus), &mapped = best(all, in_eights);
    const double high_loss = mean_ratio(all, on_mesh, on_torus, high);
    const double low_loss = mean_ratio(all, on_mesh, on_torus, low);
    const auto gain = [&](const char* blocks, std::size_t machine) {
        const double ratio = mean_ratio(all, on_torus, machine, any);
        result.claims.push_back({fmt::format("mapping to blocks of {} is faster", blocks),
                                 ratio > 1.02, fmt::format("{:.2f} times on average", ratio)});
    };
    result.claims = {
        {"unmapped, the best vectors have fairly large radices such as 16 or 32",
         std::ranges::count(unmapped.radices, 16) + std::ranges::count(unmapped.radices, 32) > 0,
         name_of(unmapped.radices)},
        {"mapped to blocks of 2x2x2, the best vectors include the radix 8",
         std::ranges::count(mapped.radices, 8) > 0, name_of(mapped.radices)},
        {"wrap-around links matter, most for large radices",
         high_loss > 1.3 && high_loss > low_loss,
         fmt::format("{:.2f} times with a radix of 16 or more, {:.2f} times with "
                     "radices of 2 and 4",
                     high_loss, low_loss)}};
    gain("2x2x2", in_eights);
    gain("4x4x4 in XYZ order", in_xyz);
    gain("4x4x4 that consist of blocks of 2x2x2", nested);
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

/// A least-squares line through points.
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

Groups myrinet_points(Extent extent, const simulate::Platform& platform) {
    Groups groups;
    for (int ranks = 4; ranks <= 96; ranks += extent == Extent::whole ? 1 : 7) {
        groups[group_of(ranks)].push_back(
            {ranks, radix_k_milliseconds(ascending_primes(ranks), 2 * mega, platform)});
    }
    return groups;
}

simulate::Platform myrinet() {
    return simulate::read_platform(machine::shared_file(simulate::platforms, "myrinet-100"));
}

constexpr const char* lines_of_figure_7[] = {"multiples of 4", "multiples of 3", "multiples of 5"};

/// The values that the text states about Figure 7, computed for one set of assumptions.
std::vector<double> read_off(const Groups& groups) {
    std::vector<double> found;
    std::map<std::string, Line> lines;
    for (const auto& [group, points] : groups)
        lines[group] = fitted(points);
    for (const char* group : lines_of_figure_7) {
        const Line& line = lines.at(group);
        found.insert(found.end(), {line.at(4), line.at(96), 1e3 * line.slope});
    }
    double apart = 0;
    for (const double ranks : {4., 96.}) {
        double lowest = std::numeric_limits<double>::infinity(), highest = 0;
        for (const char* group : lines_of_figure_7) {
            lowest = std::min(lowest, lines.at(group).at(ranks));
            highest = std::max(highest, lines.at(group).at(ranks));
        }
        apart = std::max(apart, 100 * (highest / lowest - 1));
    }
    found.push_back(apart);
    return found;
}

Result figure_7(Extent extent) {
    Result result{"milliseconds, 2 Mpx", {}};
    std::vector<std::vector<double>> found;
    const auto add = [&](const char* name, const simulate::Platform& platform) {
        result.columns.push_back(name);
        found.push_back(read_off(myrinet_points(extent, platform)));
    };
    const simulate::Platform usual = myrinet();
    simulate::Platform fluid = usual, lossy = usual, lossiest = usual, costly = usual, slow = usual;
    fluid.loss = {};
    lossy.loss.per_doubling *= 5;
    lossiest.loss.per_doubling *= 10;
    costly.costs.send_overhead = costly.costs.receive_overhead = 500e-6;
    slow.costs.seconds_per_application *= 2;
    add("no loss on shared links", fluid);
    add("five times the loss", lossy);
    add("ten times the loss", lossiest);
    add("500 us per message", costly);
    add("half the blending rate", slow);
    add("as assumed", usual);
    std::vector<std::pair<std::string, std::optional<double>>> labels;
    for (const std::string group : lines_of_figure_7) {
        const bool printed = group == "multiples of 4";
        const auto value = [&](double number) {
            return printed ? std::optional(number) : std::nullopt;
        };
        labels.emplace_back(group + ", line at 4 nodes", value(60));
        labels.emplace_back(group + ", line at 96 nodes", value(80));
        labels.emplace_back(group + ", slope, us per node", value(20e3 / 92));
    }
    labels.emplace_back("from the lowest to the highest of the three lines, at most, %", 33);
    for (std::size_t i = 0; i < labels.size(); ++i) {
        Row row{labels[i].first, labels[i].second, {}};
        for (const std::vector<double>& column : found)
            row.ours.push_back(column[i]);
        if (i + 1 == labels.size())
            row.match = Match::at_most;
        result.rows.push_back(row);
    }
    const Groups groups = myrinet_points(extent, usual);
    std::map<std::string, double> means;
    for (const auto& [group, points] : groups) {
        for (const Point& point : points)
            means[group] += point.milliseconds / static_cast<double>(points.size());
    }
    result.claims = {
        {"multiples of 4 are fastest, then multiples of 3, then multiples of 5, then the rest",
         means["multiples of 4"] < means["multiples of 3"] &&
             means["multiples of 3"] < means["multiples of 5"] &&
             means["multiples of 5"] < means["the rest"],
         fmt::format("{:.0f}, {:.0f}, {:.0f}, {:.0f} ms on average", means["multiples of 4"],
                     means["multiples of 3"], means["multiples of 5"], means["the rest"])}};
    return result;
}

Result figure_7_points(Extent extent) {
    Result result{"milliseconds, 2 Mpx", {"best-fit line", "simulated"}};
    for (const auto& [group, points] : myrinet_points(extent, myrinet())) {
        const Line line = fitted(points);
        for (const Point& point : points) {
            result.rows.push_back({fmt::format("{}: {} nodes, {}", group, point.ranks,
                                               name_of(ascending_primes(point.ranks))),
                                   {},
                                   {line.at(point.ranks), point.milliseconds}});
        }
    }
    return result;
}

constexpr std::string_view myrinet_assumptions =
    "1.1 GB/s, 3 us per message and the loss of capacity of fat-tree-144-calibrated are assumed; "
    "the blending rate is fitted to 0.06 s at 4 ranks";

constexpr Experiment vectors_experiments[] = {
    {"radix-k", "Figure 6", "radices at 256 nodes: mesh, torus, mapping",
     "Blue Gene/P as for Figure 3; the mesh is a partition of 256 nodes, the torus half of one of "
     "512, as in the paper. With --whole, the statements are judged on all 128 vectors of radices, "
     "of which the table shows those in descending order. The paper plots the curves without "
     "numbers: times, and which vectors it shows, cannot be known",
     "the paper does not state the order of ranks within a block of 4x4x4. In XYZ order its rows "
     "have 4 nodes and no wrap-around link; a block that consists of blocks of 2x2x2 gains as much "
     "as these",
     figure_6},
    {"radix-k", "Figure 7", "a Myrinet cluster, ascending primes", myrinet_assumptions,
     "the loss on shared links is that of another network. Five times this loss gives the printed "
     "slope, and ten times the printed distance between the lines; a larger overhead per message "
     "or slower blending changes the slopes, but not the distance. The text prints no other line",
     figure_7, Basis::fitted},
    {"radix-k", "Figure 7: points", "every number of nodes",
     "as for Figure 7. The paper plots the points without numbers: their values cannot be known",
     "", figure_7_points}};

} // namespace

constinit const std::span<const Experiment> radix_k_vectors = vectors_experiments;

} // namespace sextant::papers
