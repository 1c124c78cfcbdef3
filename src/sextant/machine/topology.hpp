// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace sextant::machine {

/// The links of a network, for who asks where messages meet: which of them lie between two nodes,
/// and for how long one is busy.
struct Wires {
    int links = 0;
    /// Appends the links from one node to another, or to itself, in the order of travel.
    std::function<void(int from, int to, std::vector<int>& path)> route;
    /// How long a link needs for so many bytes of so many messages at once.
    std::function<Seconds(int link, double bytes, int messages)> busy;
    /// Of each link. Messages share links in inverse proportion to the latency of their ways;
    /// evenly where this is not given.
    std::function<Seconds(int link)> latency = {};
};

/// How the processors of a machine are wired.
enum class Shape : std::uint8_t {
    linear_array,
    mesh,  ///< of two or three dimensions
    torus, ///< likewise
    binary_tree,
    butterfly,
    shuffle_exchange,
    hypercube,
    fat_tree, ///< of arity 4, processors at the leaves
    complete_graph
};

std::string_view name(Shape shape);

/// A wiring and its size along each dimension; one number where it has none. Processors are
/// numbered along the first dimension first.
struct Topology {
    Shape shape = Shape::complete_graph;
    std::vector<int> extents;

    int processors() const;
    /// The same wiring on so many processors, in one dimension.
    Topology scaled(int processors) const { return {shape, {processors}}; }
    bool operator==(const Topology&) const = default;
};

/// What C³ knows of a network, and how it says it.
struct Wiring {
    double latency = 0;   ///< h: the mean distance of all ordered pairs, i = j included
    double bisection = 0; ///< b: links whose removal halves the machine
};

/// Figure 1 of Hambrusch and Khokhar, with 1 for the constants that it leaves open. Its fat tree,
/// 4 log4 p, looks wrong: 16 at p = 256, where the mean distance is 7.34. The torus, which it
/// lacks, has its exact distance.
Wiring published_wiring(const Topology& topology);

/// The mean distance counted out, and the bisection of Figure 1.
/// Requires  a number of processors that the wiring takes (std::invalid_argument): a power of two
///           for shuffle-exchange, hypercube and butterfly, one less than that for the binary tree
///           or fewer, as far as the last level goes; a power of four for the fat tree.
/// Cost      p² steps for shuffle-exchange, otherwise at most p.
Wiring exact_wiring(const Topology& topology);

} // namespace sextant::machine
