// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/agreement.hpp"
#include "sextant/comm/communicator.hpp"
#include "sextant/comm/execute.hpp"
#include "sextant/core/effects.hpp"
#include "sextant/core/image.hpp"
#include "sextant/core/operator.hpp"
#include "sextant/planner/planner.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sextant {

/// A rectangle of pixels of an image or of a display wall; row 0 is the top.
struct Rectangle {
    std::int64_t left = 0, top = 0, width = 0, height = 0;

    bool empty() const { return width <= 0 || height <= 0; }
    ImageShape shape() const { return {width, height}; }
    bool contains(std::int64_t x, std::int64_t y) const {
        return x >= left && x < left + width && y >= top && y < top + height;
    }
    bool operator==(const Rectangle&) const = default;
};

/// An image of a rank: `image` is its index among the rank's images, from 0.
struct ImageOfRank {
    int rank = 0, image = 0;

    bool operator==(const ImageOfRank&) const = default;
};

/// Options for blending partial images. Must be the same on all ranks, except `drawn`.
struct CompositeOptions {
    std::string algorithm = "auto"; ///< "auto" (predicted), or a name of compositing::catalogue()
    std::vector<int> radices = {};  ///< radices of radix-k; empty: the default
    int window = 0;                 ///< maximum number of rounds with open messages; 0: the default
    std::string blend = "over";     ///< a name of kernel::catalogue(), or "deep"
    std::optional<ElementFormat> element =
        {};                      ///< pixel format; if not set, the first format of `blend`
    int fragments = 0;           ///< for "deep": maximum number of fragments per pixel
    std::vector<int> order = {}; ///< ranks front to back; empty: rank order
    /// Premultiplied colour, blended once behind the composited image. Its channels must be finite.
    std::optional<RgbaF32> background = {};
    int root = 0; ///< rank that receives the composited image, or `distributed`
    Association association = Association::in_order;
    bool trace = false;
    int threads = 1; ///< threads per rank for blending; results do not depend on this
    /// With `auto`: the profile file for predictions (docs/machine.md). If empty: the machine's own
    /// profile, else the result of a probe, else a built-in profile. The value on rank 0 applies.
    std::string machine = {};
    /// With `auto`: `now` makes the constructor probe the machine if it has neither a profile nor a
    /// cached probe for these ranks. A probe takes a tenth of the time of all frames: 20 ms to a
    /// second.
    planner::Probing probing = planner::Probing::kept;
    /// A plan file. If the file exists on rank 0, its plan is used.
    std::string plan = {};
    /// With `auto`: the approximate number of frames to composite. If this number is large and
    /// predictions cannot distinguish the best two or three configurations, these are timed on the
    /// first frames (a race).
    int frames = 1;
    /// Skips empty pixels in messages, which does not change the result. Faster only if images are
    /// sparse and messages are copied; threads do not copy messages.
    planner::Sparse sparse = planner::Sparse::automatic;
    /// For `sparse`: the mean fraction of active pixels in an image (kernel::sampled_density); the
    /// same on all ranks.
    double density = 1;
    /// Interlaces the rows of the composited image among ranks, so that all ranks blend about the
    /// same number of active pixels. `automatic`: only if the image is collected, messages skip
    /// empty pixels, and interlacing is faster according to `drawn`. With `on`, a distributed image
    /// is in interlaced order.
    planner::Interlace interlace = planner::Interlace::automatic;
    /// For `interlace`: the fraction of active pixels in each of planner::drawn_bands bands of this
    /// rank's images (kernel::sampled_bands). May differ between ranks. Empty if unknown.
    std::vector<double> drawn = {};
    /// Disables the race, so that the plan does not depend on measured frames, and combines pixels
    /// in the same order of association in every frame.
    bool reproducible = false;
    /// Replaces `order`: all images front to back, for images of a rank that are not adjacent in
    /// the visibility order (such as the bricks of an adaptively refined mesh), or not in memory
    /// front to back. Each frame may have a different image order. Supported by direct-send,
    /// shift-based, radix-k and binary-swap; `auto` chooses among these.
    std::vector<ImageOfRank> image_order = {};

    static constexpr int distributed = compositing::Task::distributed;
};

/// Options that may change from frame to frame. Must be the same on all ranks with images and on
/// the root.
struct FrameOptions {
    std::span<const int> order = {}; ///< ranks front to back; empty: CompositeOptions::order
    std::optional<RgbaF32> background =
        {}; ///< premultiplied; if not set, CompositeOptions::background
    /// All images front to back; if empty, CompositeOptions::image_order. Allowed only if
    /// CompositeOptions::image_order is set.
    alignas(8) std::span<const ImageOfRank> image_order = {};
};

/// Returns a record of all options except `drawn` and `image_order`.
Record record_of(CompositeOptions& options);
Effects effects_of(const CompositeOptions& options);

/// The operator named by the options. Throws InvalidTask if it does not exist.
Operator operator_of(const CompositeOptions& options);

/// A rank's part of the composited image: pixels [first, first + count), row by row. If the image
/// is distributed and interlaced, pixels are numbered in interlaced order (Compositor::pixel).
/// Valid until the next frame, and while the compositor lives. If only one image is composited,
/// without a background, `bytes` may refer to the caller's own memory instead of a copy.
struct Frame {
    Elements first = 0, count = 0;
    std::span<const std::byte> bytes;

    template <class Pixel>
    std::span<const Pixel> pixels() const {
        return {reinterpret_cast<const Pixel*>(bytes.data()), bytes.size() / sizeof(Pixel)};
    }
};

class CompositorRun;

/// Blends the images of all ranks of a communicator into one. Planned once and used for any number
/// of frames, in any visibility order.
///
/// When a rank first has a position in the visibility order, it creates the program for this
/// position and caches it. So a new order needs neither planning nor communication about the plan.
/// With an image order, or with rectangles of images, the rank creates a program for each order. If
/// a rank's order or background changes, the rank compares it with the other ranks before the frame
/// begins (comm/agreement.hpp): ceil(log2(ranks)) small messages per rank. A frame with unchanged
/// options costs nothing extra.
///
/// In a race (CompositeOptions::frames) all ranks switch configurations at the same frame. Each
/// frame of a race is correct, but frames may differ in their last digits if configurations combine
/// colours in different orders of association, and a rank's piece of a distributed image may
/// change. Each frame of the race begins with a barrier. The scratch of all competing
/// configurations is kept until the race ends, and each configuration allocates memory in its first
/// two frames.
class Compositor {
  public:
    /// Input     the image shape; the number of this rank's images, front to back (may be 0).
    /// Requires  the same shape and options on all ranks; an order that names every rank with
    ///           images.
    /// Throws    AgreedFailure on every rank if any rank fails; it names the rank and the value.
    /// Collective.
    Compositor(Communicator communicator, ImageShape shape, int layers,
               CompositeOptions options = {});
    Compositor(Compositor&& other) noexcept;
    Compositor& operator=(Compositor&& other) noexcept;
    ~Compositor();

    /// Blends one frame.
    /// Input     this rank's images, one after another: layers * shape.elements() pixels of the
    ///           operator's format. They are only read, and must not change until composite()
    ///           returns. If processes of a node share memory (share_nodes.hpp), images in
    ///           `Communicator::memory` are not copied.
    /// Output    the composited image at the root and nothing elsewhere; or, if distributed, each
    ///           rank's piece.
    /// Throws    InvalidTask if the size of `images` is not the planned one, and then PeerFailed on
    ///           ranks that wait for this one; the next frame may succeed. CommunicationFailed.
    ///           AgreedFailure, on every rank with images and on the root, if frame options differ
    ///           between ranks; the message names two of the ranks. A rank whose options changed
    ///           has not started the frame. A rank whose options did not change has started it; if
    ///           there is such a rank, the communicator can no longer be used.
    /// Collective.
    /// Cost      allocates nothing once this rank has been at each of its positions in the order
    ///           twice; with image orders or rectangles, once this rank has had each order twice.
    Frame composite(std::span<const std::byte> images, const FrameOptions& frame = {});

    template <class Pixel>
    Frame composite(std::span<const Pixel> images, const FrameOptions& frame = {}) {
        return composite(std::as_bytes(images), frame);
    }

    /// `start` and `wait` together do the same as `composite`, for several frames in flight at once
    /// (frames_in_flight.hpp, tile_wall.hpp). Each compositor then needs its own communicator. Not
    /// allowed during a race.
    /// Input     `picture`: memory at the root for the composited image (shape.elements() pixels),
    ///           or none. The image is collected there without a copy. `wait` throws the errors in
    ///           the arguments.
    void start(std::span<const std::byte> images, Flight& flight, std::span<std::byte> picture = {},
               const FrameOptions& frame = {});
    bool ready(Flight& flight);
    Frame wait(Flight& flight);
    /// See Execution::abandon.
    void abandon(Flight& flight);

    /// Changes the shape of the images of all later frames. Keeps everything that does not depend
    /// on the shape: communicators, visibility order and background, threads, the machine profile.
    /// The plan for the new shape is chosen by prediction. The plan of an earlier shape, or the
    /// winner of its race, is kept and reused. An unfinished race ends, and no other race begins.
    /// The number of images of each rank stays the same; the rectangles of set_drawn() are removed.
    /// Requires  the same shape on all ranks; no frame in flight (`start`).
    /// Throws    AgreedFailure on every rank if any rank fails, in the same cases as the
    ///           constructor; frames then keep the previous shape.
    /// Collective.
    /// Cost      three small all-gathers for a shape that was used before, else a prediction on
    ///           rank 0 and its broadcast. The memory for the new shape is allocated in the next
    ///           two frames.
    void resize(ImageShape shape);

    /// Sets the bounding rectangles of active pixels in all later frames. Outside its rectangle, an
    /// image counts as empty, whatever its memory contains. These pixels need not be cleared, and
    /// are neither read nor sent. Frames are then composited by a Direct-Send of rectangles, for
    /// any plan and any order, bit-identical to the serial fold. A race ends. A rank's piece of a
    /// distributed image then consists of whole rows.
    /// Input     one rectangle for each of this rank's images, inside the image; empty if the image
    ///           has no active pixels. If all ranks pass none, the rectangles are removed.
    /// Throws    AgreedFailure on every rank if a rank's rectangles are invalid (names the rank and
    ///           the rectangle), for deep images, and in the same cases as the constructor; frames
    ///           then keep the previous rectangles.
    /// Collective.
    /// Cost      an all-gather of the rectangles. If any have changed, also a new schedule, whose
    ///           cost grows with the cube of the number of images in the worst case; its memory is
    ///           allocated in the next two frames.
    void set_drawn(std::span<const Rectangle> drawn);

    /// Ends the use of this object on all ranks, because this rank cannot continue. Other ranks
    /// that wait for this rank, now or in a later call, throw PeerFailed with this rank and `text`;
    /// so do this rank's later calls. Returns at once, and throws nothing. An exception that
    /// destroys the object has the same effect. Normal destruction does not notify other ranks, so
    /// a rank that stops earlier than others must call fail() first. Afterwards a new object may be
    /// made on the communicator, unless processes share memory (share_nodes.hpp). Not collective.
    void fail(const std::string& text);

    /// The plan of the last frame and the reason for it. Only the plan on rank 0 lists the
    /// alternatives.
    const planner::CompositingPlan& plan() const;
    /// Predicts a frame with this plan on the machine for which it was planned, with a timeline of
    /// all ranks. Only on rank 0; nullopt if the machine's model cannot describe the plan.
    /// Collective.
    std::optional<model::Prediction> prediction() const;
    /// True if the next frame may use a different plan from the last. The same on all ranks.
    bool racing() const;
    /// Warnings for the user about the plan; only on rank 0.
    const std::vector<std::string>& warnings() const;
    /// The task, with the visibility order of the last frame.
    const compositing::Task& task() const;
    const Operator& blend() const;
    /// Returns the index in the composited image of pixel i of a frame.
    Elements pixel(const Frame& frame, Elements i) const;
    const Program& program() const;
    /// This rank's trace of the last frame.
    const Trace& trace() const;
    /// The data that this rank sent for the last frame.
    const Sent& sent() const;

  private:
    friend class FramesInFlight;
    std::unique_ptr<CompositorRun>
        run_; // hides the data members, so that the layout of this class never changes
};

/// Blends one frame. Returns the composited image at rank `options.root` and an empty image
/// elsewhere. For more than one frame, use a Compositor.
/// Requires  options.root to be a rank. Throws InvalidTask if it is `distributed`.
/// Collective.
Image composite(const Image& image, const Communicator& communicator,
                const CompositeOptions& options = {});

} // namespace sextant
