// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/kernel/edge/canny.hpp"
#include "sextant/kernel/label/labels.hpp"

#include <cstdint>
#include <span>
#include <vector>

// Edges that hang together, of a tile whose codes (edge_code.hpp) a Labeller has labelled last.
namespace sextant::kernel {

/// Which components have a strong point: [label − 1], 0 or 1.
/// Cost      O(pixels / lanes + runs).
std::vector<std::uint8_t> strong_components(const EdgeView& edges, const Labeller& labeller,
                                            Label components);

/// Edges of the components whose [label − 1] is 0 are taken away, the others become weak ones.
/// Cost      as strong_components().
void keep_components(const EdgePlane& edges, const Tile& tile, const Labeller& labeller,
                     std::span<const std::uint8_t> kept);

} // namespace sextant::kernel
