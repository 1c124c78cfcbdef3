// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/region.hpp"
#include "sextant/core/units.hpp"
#include "sextant/schedule/builder.hpp"
#include "sextant/schedule/program.hpp"

#include <span>
#include <string>
#include <vector>

namespace sextant::compositing {

/// What is asked: blend the images that ranks hold, front to back, into one.
///
/// Algorithms know only visibility positions 0 … positions() − 1, front to back. Ranks that hold no
/// image have no position; the catalogue turns positions into ranks.
struct Task {
    int ranks = 1;           ///< of the communicator
    Elements elements = 0;   ///< pixels of one image
    std::vector<int> order;  ///< order[i]: the rank at position i
    std::vector<int> layers; ///< layers[i] >= 1: how many images it holds, themselves front to back
    int root = distributed;  ///< the rank that gets the whole picture, or `distributed`

    static constexpr int distributed = -1;

    int positions() const { return static_cast<int>(order.size()); }
    int layers_at(int position) const { return layers[static_cast<std::size_t>(position)]; }
    int all_layers() const;
    /// Where a rank's image lies in the order; -1 where it holds none.
    int position_of(int rank) const;

    bool operator==(const Task&) const = default;
};

/// One image a rank, in rank order.
Task one_image_each(int ranks, Elements elements, int root = Task::distributed);

/// The freedom an algorithm leaves; each uses what it has a use for.
struct Tuning {
    std::vector<int> radices; ///< Radix-k: k_1, k_2, ... with product `positions`
    int window = 0;           ///< rounds of messages that may be open at once; 0 for any number
    /// Of how many pixels blocks are that are dealt to the positions in turn, so that all blend as
    /// much of what was drawn (interlace.hpp); 0: pieces are as they lie.
    Elements interlace = 0;

    bool operator==(const Tuning&) const = default;
};

/// "radices 4,2, window 1, interlace 2048"; "" where nothing is set.
std::string to_text(const Tuning& tuning);

/// Which pixels of the picture a position ends up with.
struct Piece {
    Elements first = 0, count = 0;
};

/// Part i of the picture, cut into as many nearly equal parts as there are positions.
Piece equal_part(const Task& task, int i);

/// Throws InvalidTask unless the task makes sense: order names ranks that exist, none twice, each
/// with at least one layer, and the root exists.
void check(const Task& task);

/// The same pixels of each of a rank's layers, which follow one another in its input: one region, a
/// run a layer. `pixels` lies in the first layer.
Region in_all_layers(const Region& pixels, Elements image, int layers);

/// Appends each run of a region as a region of its own, as the operands of a fold.
void append_runs(std::vector<Region>& operands, const Region& region);

/// The pixels of a region in one layer: folded into scratch where there are several.
Region blended(ProgramBuilder& builder, const Region& region);

} // namespace sextant::compositing
