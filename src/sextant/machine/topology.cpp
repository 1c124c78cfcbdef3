// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/machine/topology.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>

namespace sextant::machine {

namespace {

int longest(const Topology& topology) {
    return *std::max_element(topology.extents.begin(), topology.extents.end());
}

/// Returns the number of links between the two halves of an array that is cut across its longest
/// side.
double cut_across(const Topology& topology) {
    return static_cast<double>(topology.processors()) / longest(topology);
}

[[noreturn]] void refuse(const Topology& topology, const char* wanted) {
    throw std::invalid_argument(std::string(name(topology.shape)) + " of " +
                                std::to_string(topology.processors()) + " processors: expected " +
                                wanted);
}

void require_power_of(int base, const Topology& topology, const char* wanted) {
    int p = topology.processors();
    while (p > 1 && p % base == 0)
        p /= base;
    if (p != 1)
        refuse(topology, wanted);
}

/// The mean distances on a line and on a ring of n processors.
double mean_on_line(int n) {
    return (static_cast<double>(n) * n - 1) / (3.0 * n);
}
double mean_on_ring(int n) {
    return n % 2 == 0 ? n / 4.0 : (static_cast<double>(n) * n - 1) / (4.0 * n);
}

/// Sums the distances of all pairs by counting how often each link of the tree is crossed.
double mean_in_binary_tree(int p) {
    std::vector<double> below(static_cast<std::size_t>(p) + 1, 1);
    double crossings = 0;
    for (int node = p; node >= 2; --node) {
        const double size = below[static_cast<std::size_t>(node)];
        below[static_cast<std::size_t>(node / 2)] += size;
        crossings += 2 * size * (p - size);
    }
    return crossings / (static_cast<double>(p) * p);
}

/// Two leaves whose paths meet j levels up are 2j apart; each leaf has 3 · 4^(j−1) partners at this
/// distance.
double mean_in_fat_tree(int p) {
    double sum = 0;
    double parting = 3;
    for (int j = 1, size = 4; size <= p; size *= 4, ++j, parting *= 4)
        sum += 2 * j * parting;
    return sum / p;
}

double mean_in_shuffle_exchange(int p) {
    const int bits = std::countr_zero(static_cast<unsigned>(p));
    const auto rotate = [&](int v, int by) {
        return bits == 0 ? v : ((v << by) | (v >> (bits - by))) & (p - 1);
    };
    double sum = 0;
    for (int from = 0; from < p; ++from) {
        std::vector<int> distance(static_cast<std::size_t>(p), -1), queue{from};
        distance[static_cast<std::size_t>(from)] = 0;
        for (std::size_t head = 0; head < queue.size(); ++head) {
            const int v = queue[head], d = distance[static_cast<std::size_t>(v)];
            sum += d;
            for (int next : {v ^ (p > 1 ? 1 : 0), rotate(v, 1), rotate(v, bits - 1)}) {
                int& known = distance[static_cast<std::size_t>(next)];
                if (known >= 0)
                    continue;
                known = d + 1;
                queue.push_back(next);
            }
        }
    }
    return sum / (static_cast<double>(p) * p);
}

double sum_over_sides(const Topology& topology, double (*mean)(int)) {
    return std::accumulate(topology.extents.begin(), topology.extents.end(), 0.0,
                           [&](double sum, int n) { return sum + mean(n); });
}

double exact_latency(const Topology& topology) {
    const int p = topology.processors();
    switch (topology.shape) {
    case Shape::linear_array:
    case Shape::mesh:
        return sum_over_sides(topology, mean_on_line);
    case Shape::torus:
        return sum_over_sides(topology, mean_on_ring);
    case Shape::binary_tree:
        return mean_in_binary_tree(p);
    case Shape::butterfly:
        refuse(topology, "another shape, because the paper defines no distances in a butterfly");
    case Shape::shuffle_exchange:
        require_power_of(2, topology, "a power of two");
        return mean_in_shuffle_exchange(p);
    case Shape::hypercube:
        require_power_of(2, topology, "a power of two");
        return std::log2(p) / 2;
    case Shape::fat_tree:
        require_power_of(4, topology, "a power of four");
        return mean_in_fat_tree(p);
    case Shape::complete_graph:
        return (p - 1.0) / p;
    }
    return 0;
}

} // namespace

std::string_view name(Shape shape) {
    return shape_names[static_cast<std::size_t>(shape)];
}

int Topology::processors() const {
    return std::accumulate(extents.begin(), extents.end(), 1, std::multiplies<>());
}

Wiring published_wiring(const Topology& topology) {
    const double p = topology.processors();
    switch (topology.shape) {
    case Shape::linear_array:
        return {p / 3, 1};
    case Shape::mesh:
        if (topology.extents.size() > 2)
            return {std::cbrt(p), std::pow(p, 2.0 / 3)};
        // A row or column is a linear array. An oblong mesh gets the distance of a square mesh with
        // its longer side.
        if (cut_across(topology) == 1)
            return {p / 3, 1};
        return {2.0 / 3 * longest(topology), cut_across(topology)};
    case Shape::torus:
        return {exact_latency(topology), 2 * cut_across(topology)};
    case Shape::binary_tree:
        return {std::log2(p), 1};
    case Shape::butterfly:
    case Shape::shuffle_exchange:
        return {std::log2(p), std::max(1.0, p / std::max(1.0, std::log2(p)))};
    case Shape::hypercube:
        return {std::log2(p) / 2, std::max(1.0, p / 2)};
    case Shape::fat_tree:
        return {4 * std::log(p) / std::log(4), p};
    case Shape::complete_graph:
        return {1, std::max(1.0, p * p / 4)};
    }
    return {};
}

Wiring exact_wiring(const Topology& topology) {
    return {exact_latency(topology), published_wiring(topology).bisection};
}

} // namespace sextant::machine
