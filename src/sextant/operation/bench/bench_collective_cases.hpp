// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/collective.hpp"
#include "sextant/core/grid.hpp"
#include "sextant/core/units.hpp"

#include <string>
#include <vector>

namespace sextant::operation {

/// A collective to time at several sizes; docs/bench.md has its fields.
struct CollectiveCase {
    std::string name;
    Collective what = Collective::scatter;
    bool tiles = false; ///< nearly square tiles of an image, which lie in it in rows
    std::vector<Bytes> sizes = {0,    1,       4,       16,      64,      256,
                                1024, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20};
    std::vector<std::string> algorithms; ///< empty: all
};

/// Reads cases from a JSON file. Throws InvalidFile, naming case, field, value and expectation.
std::vector<CollectiveCase> read_collective_cases(const std::string& path);

/// Every collective with its usual sizes, and those that deal tiles with tiles too.
std::vector<CollectiveCase> usual_collective_cases();

/// The image, in bytes, of a case at one size: that of the block that each rank has, or has for
/// each other rank, or, of a broadcast, of all. Blocks are rows of the image, so that each lies in
/// one piece on any grid of processors.
Grid grid_of(const CollectiveCase& what, Bytes size, int ranks);

} // namespace sextant::operation
