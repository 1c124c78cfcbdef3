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

/// What is composited for a tile, the same on all ranks: the tile's pixels, formats and display.
/// Kept while frames are alike.
struct TileTask {
    Viewport tile{}; ///< in the global viewport
    IceTEnum color_format = 0, depth_format = 0, mode = 0;
    int display = 0;
    bool collects = true; ///< false: each rank keeps a piece of the image
    bool operator==(const TileTask&) const = default;

    Elements pixels() const { return Elements{tile[2]} * tile[3]; }
};

/// A rank's part of a tile, and where it is: at `readback` in planes that stay alive during the
/// frame. Empty if the rank draws nothing.
struct DrawnPart {
    const Pixels* planes = nullptr;
    Viewport readback{0, 0, 0, 0};
    Viewport part{0, 0, 0, 0}; ///< in pixels of the tile
};

/// One frame of a tile. All but `result` is the same on all ranks.
struct TileFrame {
    std::span<const Viewport> parts; ///< what each rank draws, in pixels of the tile
    std::span<const int> order;      ///< all ranks, front to back
    std::array<IceTFloat, 4> background;
    bool keeps_depth = true;
    Pixels* result; ///< receives the composited image, or this rank's piece
};

/// The pixels of the composited image that a rank has, in `result`.
struct TilePiece {
    Elements first = 0, count = 0;
};

/// How the tile is composited, for pages and diagnostics.
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

    /// Takes the part that this rank has drawn for the next frame. Not collective: called before
    /// ranks wait for each other.
    virtual void take(const DrawnPart& drawn) = 0;
    /// Composites the parts that ranks have drawn. Collective.
    virtual TilePiece composite(const TileFrame& frame) = 0;
    /// The predicted time of frames like this one, on rank 0; 0 if the machine's model cannot tell.
    /// Collective.
    virtual Seconds predict(const TileFrame& frame) = 0;
    /// The configuration that composited the last frame.
    virtual TilePlan plan() const = 0;

    /// True if the last frame was the first.
    bool is_new() const { return is_new_; }
    /// True if all ranks have set it up for their frames.
    bool is_set_up() const { return is_set_up_; }
    Bytes sent() const { return sent_; }            ///< in the last frame
    Seconds unpack_time() const { return unpack_; } ///< in the last frame

    Pixels planes; ///< for the draw callback to fill

  protected:
    const Communicator communicator_;
    const TileTask task_;
    const Composition composition_;
    bool is_new_ = false, is_set_up_ = false;
    Bytes sent_ = 0;
    Seconds unpack_ = 0;
};

/// Overlaps (overlaps.hpp): images are not copied, and only pixels that are drawn are read or sent.
std::unique_ptr<TileCompositor> make_overlap_compositor(Communicator communicator, TileTask task);
/// Pixels are packed, and composited by the algorithm that the library's planner chooses.
std::unique_ptr<TileCompositor> make_packed_compositor(Communicator communicator, TileTask task);
/// Overlaps if all ranks read each other's memory; otherwise the one of both that is predicted to
/// be faster for the first frame. Over a program's own communicator, whose messages are not
/// measured: overlaps, unless there are many ranks.
std::unique_ptr<TileCompositor> make_tile_compositor(Communicator communicator, TileTask task,
                                                     Sharing sharing);

} // namespace sextant::icet
