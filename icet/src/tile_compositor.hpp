// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"

#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "planes.hpp"

namespace sextant::icet {

/// The properties of a tile's frames that are the same on all ranks: the tile's pixels, formats and
/// display. A compositor is kept while they do not change.
struct TileTask {
    Viewport tile{}; ///< in the global viewport
    IceTEnum color_format = 0, depth_format = 0, mode = 0;
    int display = 0;
    bool collects = true; ///< if false, each rank keeps a piece of the image
    bool operator==(const TileTask&) const = default;

    Elements pixels() const { return Elements{tile[2]} * tile[3]; }
};

/// A rank's part of a tile and its position, `readback`, in planes that stay alive during the
/// frame. Empty if the rank draws nothing.
struct DrawnPart {
    const Pixels* planes = nullptr;
    Viewport readback{0, 0, 0, 0};
    Viewport part{0, 0, 0, 0}; ///< in pixels of the tile
};

/// One frame of a tile. All fields but `result` are the same on all ranks.
struct TileFrame {
    std::span<const Viewport> parts; ///< the part that each rank draws, in pixels of the tile
    std::span<const int> order;      ///< all ranks, front to back
    std::array<IceTFloat, 4> background;
    bool keeps_depth = true;
    Pixels* result; ///< receives the composited image, or this rank's piece
};

/// The pixels of the composited image that a rank has in `result`.
struct TilePiece {
    Elements first = 0, count = 0;
};

/// A description of how the tile is composited, for pages and diagnostics.
struct TilePlan {
    std::string text, reason;
};

/// Composites the frames of one tile on one rank.
class TileCompositor {
  public:
    TileCompositor(Communicator communicator, const TileTask& task)
        : communicator_(std::move(communicator)),
          task_(task),
          composition_(composition_of(task.color_format, task.depth_format, task.mode)) {}
    virtual ~TileCompositor() = default;
    TileCompositor(const TileCompositor&) = delete;
    TileCompositor& operator=(const TileCompositor&) = delete;

    const TileTask& task() const { return task_; }

    /// Takes the part that this rank has drawn for the next frame. Not collective: ranks have not
    /// waited for each other yet.
    virtual void take(const DrawnPart& drawn) = 0;
    /// Composites the parts that ranks have drawn. Collective.
    virtual TilePiece composite(const TileFrame& frame) = 0;
    /// The predicted time of such frames, on rank 0; 0 if the machine's model has no prediction.
    /// Collective.
    virtual Seconds predict(const TileFrame& frame) = 0;
    /// The configuration that composited the last frame.
    virtual TilePlan plan() const = 0;

    /// True if the last frame was the first.
    bool is_new() const { return is_new_; }
    /// True if all ranks have set up the compositor for its frames.
    bool is_set_up() const { return is_set_up_; }
    Bytes sent() const { return sent_; }            ///< bytes sent in the last frame
    Seconds unpack_time() const { return unpack_; } ///< time in the last frame

    Pixels planes; ///< planes for the draw callback to fill

  protected:
    const Communicator communicator_;
    const TileTask task_;
    const Composition composition_;
    bool is_new_ = false, is_set_up_ = false;
    Bytes sent_ = 0;
    Seconds unpack_ = 0;
};

/// A compositor by overlaps (overlaps.hpp): images are not copied, and only drawn pixels are read
/// or sent.
std::unique_ptr<TileCompositor> make_overlap_compositor(Communicator communicator, TileTask task);
/// A compositor that packs pixels and composites them by the algorithm that the library's planner
/// chooses.
std::unique_ptr<TileCompositor> make_packed_compositor(Communicator communicator, TileTask task);
/// A compositor by overlaps if all ranks read each other's memory; otherwise the one that is
/// predicted to be faster for the first frame. With a program's own communicator, whose messages
/// are not measured: overlaps, unless there are many ranks.
std::unique_ptr<TileCompositor> make_tile_compositor(Communicator communicator, TileTask task,
                                                     Sharing sharing);

} // namespace sextant::icet
