// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/region.hpp"
#include "sextant/core/units.hpp"
#include "sextant/schedule/builder.hpp"
#include "sextant/schedule/program.hpp"

#include <span>
#include <string>
#include <vector>

namespace sextant {
class Record;
}

namespace sextant::compositing {

/// A compositing task: blend the partial images that ranks hold, front to back, into one image.
///
/// Algorithms use only visibility positions 0 … positions() − 1, front to back. Ranks without an
/// image have no position; the catalogue translates positions to ranks.
struct Task {
    int ranks = 1;           ///< ranks of the communicator
    Elements elements = 0;   ///< pixels per image
    std::vector<int> order;  ///< order[i]: the rank at position i
    std::vector<int> layers; ///< layers[i] >= 1: the number of images at position i, front to back
    int root = distributed;  ///< the rank that gets the composited image, or `distributed`

    static constexpr int distributed = -1;

    int positions() const { return static_cast<int>(order.size()); }
    int layers_at(int position) const { return layers[static_cast<std::size_t>(position)]; }
    int all_layers() const;
    /// The position of a rank's image; -1 if it holds none.
    int position_of(int rank) const;

    bool operator==(const Task&) const = default;
};

/// An image, identified by its position and its index in that position's memory.
struct PlacedImage {
    int position = 0, image = 0;

    bool operator==(const PlacedImage&) const = default;
};

/// All images of a task, front to back, for tasks in which the images of a position are not
/// adjacent or are in memory in another order. If empty, the images of each position are adjacent,
/// and in memory front to back.
using ImageOrder = std::span<const PlacedImage>;

/// Throws InvalidTask unless the order names each image of the task once.
void check(const Task& task, ImageOrder images);

/// Adjacent images of a visibility order: [first, last).
struct ImageRun {
    int first = 0, last = 0;
};

/// The maximal runs of adjacent images that belong to positions [from, to), front to back. Without
/// an image order, images are numbered by position, so that there is one run.
std::vector<ImageRun> runs_of(ImageOrder images, int from, int to);

/// A task with one image per rank, in rank order.
Task one_image_each(int ranks, Elements elements, int root = Task::distributed);

/// The parameters of an algorithm; each algorithm uses those that apply to it.
struct Tuning {
    std::vector<int> radices; ///< Radix-k: k_1, k_2, ..., whose product is positions()
    int window = 0;           ///< rounds of messages that may be open at once; 0 for no limit
    /// The block size, in pixels, of the round-robin distribution over positions that balances
    /// active pixels (interlace.hpp); 0 for contiguous pieces.
    Elements interlace = 0;

    bool operator==(const Tuning&) const = default;
};

/// Declares the parameters of algorithms as fields "radices" and "window" of a record.
void declare_tuning(Record& record, std::vector<int>& radices, int& window);

/// Text such as "radices 4,2, window 1, interlace 2048"; "" for the default tuning.
std::string to_text(const Tuning& tuning);

/// A range of pixels of the composited image.
struct Piece {
    Elements first = 0, count = 0;
};

/// Part i of the image, divided into one nearly equal part per position.
Piece equal_part(const Task& task, int i);

/// Throws InvalidTask unless the task is valid: the order names existing ranks, each once and with
/// at least one layer, and the root exists.
void check(const Task& task);

/// Returns `pixels`, a range of a rank's first layer, in all its layers: one region with a run per
/// layer. The layers follow one another in the rank's input.
Region in_all_layers(const Region& pixels, Elements image, int layers);

/// Appends each run of a region as a separate region, for the operands of a fold.
void append_runs(std::vector<Region>& operands, const Region& region);

/// Returns the pixels of a region as one layer. Several layers are folded into scratch.
Region blended(ProgramBuilder& builder, const Region& region);

} // namespace sextant::compositing
