// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace sextant::machine {

/// The links of a network, for predicting link contention: the route between any two ranks, and the
/// time that messages keep a link busy.
struct Wires {
    int links = 0;
    /// Appends the links from one rank to another, in the order of travel. A link may be listed
    /// several times: it then carries each byte of the message as often.
    std::function<void(int from, int to, std::vector<int>& path)> route;
    /// The time that a link is busy with `messages` concurrent messages of `bytes` bytes in total.
    std::function<Seconds(int link, double bytes, int messages)> busy;
    /// The latency of a link. Messages share links in inverse proportion to the latency of their
    /// path; evenly if this is not set.
    std::function<Seconds(int link)> latency = {};
};

/// The shape of a machine's network.
enum class Shape : std::uint8_t {
    linear_array,
    mesh,  ///< two or three dimensions
    torus, ///< two or three dimensions
    binary_tree,
    butterfly,
    shuffle_exchange,
    hypercube,
    fat_tree, ///< arity 4, processors at the leaves
    complete_graph
};

/// The names of shapes in a profile file, in enumerator order.
inline constexpr std::string_view shape_names[] = {"linear array", "mesh",      "torus",
                                                   "binary tree",  "butterfly", "shuffle-exchange",
                                                   "hypercube",    "fat tree",  "complete graph"};
std::string_view name(Shape shape);

/// A network shape and its size along each dimension; for shapes without dimensions, only the
/// number of processors. Processors are numbered with the first dimension varying fastest.
struct Topology {
    Shape shape = Shape::complete_graph;
    std::vector<int> extents;

    int processors() const;
    /// This shape with `processors` processors in one dimension.
    Topology scaled(int processors) const { return {shape, {processors}}; }
    bool operator==(const Topology&) const = default;
};

/// The network parameters of C³.
struct Wiring {
    double latency = 0;   ///< h: the mean distance over all ordered pairs, i = j included
    double bisection = 0; ///< b: the least number of links whose removal halves the machine
};

/// Returns the latency and bisection in Figure 1 of Hambrusch and Khokhar, with unspecified
/// constants taken as 1. The figure's distance for the fat tree, 4 log4 p, looks wrong: 16 at p =
/// 256, where the mean distance is 7.34. For the torus, which is not in the figure, returns the
/// exact distance.
Wiring published_wiring(const Topology& topology);

/// Returns the exact mean distance, and the bisection of Figure 1.
/// Requires  a shape other than butterfly, and a number of processors that it allows
///           (std::invalid_argument): a power of two for shuffle-exchange and hypercube, a power of
///           four for the fat tree. The last level of a binary tree may be incomplete.
/// Cost      p² steps for shuffle-exchange, otherwise at most p.
Wiring exact_wiring(const Topology& topology);

} // namespace sextant::machine
