// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/execute.hpp"
#include "sextant/compositor/compositor.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sextant {

/// A frame in flight. Call `wait` once to get the frame's result. Movable, not copyable.
///
/// If `wait` was not called, the destructor waits and discards the frame and its errors; the images
/// may be freed afterwards. If an exception on this rank destroys the object, the destructor does
/// not wait but ends the frames on all ranks, because other ranks may never start the frame. Ranks
/// that wait then throw PeerFailed (FramesInFlight::fail).
class PendingFrame {
  public:
    PendingFrame(PendingFrame&& other) noexcept;
    PendingFrame& operator=(PendingFrame&& other) noexcept;
    ~PendingFrame();

    /// Output    the same as Compositor::composite. Valid until `most` later frames have been
    ///           started (FramesInFlight), and while this object or the FramesInFlight lives.
    /// Throws    InvalidTask if called a second time; otherwise the same as Compositor::composite.
    Frame wait();
    /// Advances the frames in flight without blocking. Returns true if `wait` would return at once.
    bool ready();

  private:
    friend class FramesInFlight;
    struct Slot;
    explicit PendingFrame(std::shared_ptr<Slot> slot);
    void drop() noexcept;

    std::shared_ptr<Slot> slot_; // kept after wait(), because the slot holds the image
    bool waited_ = false;
    int exceptions_ = 0; // std::uncaught_exceptions() at construction
};

/// Blends several frames at once: while one is in flight, the next is drawn and started. Planned
/// once; each frame in flight has its own buffers and messages.
///
///     FramesInFlight frames(communicator, shape, 1, 2);
///     PendingFrame before = frames.start(draw(0));
///     for (int i = 1; i < count; ++i) {
///         PendingFrame next = frames.start(draw(i)); // keep the images unchanged until wait()
///         show(before.wait());
///         before = std::move(next);
///     }
///
/// Allocates nothing once every slot for a frame in flight has been used twice.
class FramesInFlight {
  public:
    /// Input     the same as Compositor; `most`: the maximum number of frames in flight at once,
    ///           the same on all ranks. There is no race (CompositeOptions::frames). `flight`:
    ///           shared by all FramesInFlight objects that have frames in flight at the same time
    ///           on this rank.
    /// Throws    AgreedFailure.
    /// Collective.
    FramesInFlight(const Communicator& communicator, ImageShape shape, int layers, int most,
                   CompositeOptions options = {},
                   std::shared_ptr<Flight> flight = std::make_shared<Flight>());

    /// Starts a frame. Returns without waiting for other ranks.
    /// Input     this rank's images, as for Compositor::composite; they must not change before
    ///           PendingFrame::wait() returns. `picture`: memory at the root for the composited
    ///           image (shape.elements() pixels), or none.
    /// Throws    InvalidTask if `wait` has not been called for the frame started `most` frames
    ///           earlier. Errors in the images are thrown by `wait`.
    /// Collective: all ranks start frames in the same order; they may wait in any order.
    PendingFrame start(std::span<const std::byte> images, std::span<std::byte> picture = {},
                       const FrameOptions& frame = {});

    template <class Pixel>
    PendingFrame start(std::span<const Pixel> images, std::span<Pixel> picture = {},
                       const FrameOptions& frame = {}) {
        return start(std::as_bytes(images), std::as_writable_bytes(picture), frame);
    }

    /// A frame of a batch: its images, and the memory for the result at the root.
    struct Item {
        std::span<const std::byte> images;
        std::span<std::byte> picture;
        FrameOptions frame = {};
    };
    /// Blends all frames of a batch, with up to `most` in flight. No other frame may be in flight.
    /// Throws    the error of the first frame that failed, once all frames have ended.
    /// Collective.
    void composite(std::span<const Item> batch);

    /// The same as Compositor::resize, for all later frames. No frame may be in flight.
    /// Collective.
    void resize(ImageShape shape);
    /// The same as Compositor::set_drawn, for all later frames. No frame may be in flight.
    /// Collective.
    void set_drawn(std::span<const Rectangle> drawn);

    /// Ends the use of this object on all ranks; see Compositor::fail. Not collective.
    void fail(const std::string& text);

    /// The compositor of the first frame in flight. The compositors of the other frames have the
    /// same plan.
    const Compositor& compositor() const;

  private:
    std::vector<std::shared_ptr<PendingFrame::Slot>> slots_;
    std::vector<std::optional<PendingFrame>> batch_; // frames of a batch in flight
    std::size_t started_ = 0;
};

} // namespace sextant
