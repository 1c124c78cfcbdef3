// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/execute.hpp"
#include "sextant/compositor/compositor.hpp"

#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace sextant {

/// A frame on its way: to be waited for once. Moves, does not copy.
///
/// Dropped without having been waited for, it waits, and what became of the frame is lost: its
/// images may go afterwards. Dropped because this rank is failing (an exception unwinds it), it
/// ends the frame for all ranks instead, who may never come to it: with threads they throw
/// PeerFailed; over MPI the program must end.
class PendingFrame {
  public:
    PendingFrame(PendingFrame&& other) noexcept;
    PendingFrame& operator=(PendingFrame&& other) noexcept;
    ~PendingFrame();

    /// Output    as Compositor::composite; valid until as many frames have been started after it as
    ///           may be in flight, and while this or the FramesInFlight lives.
    /// Throws    InvalidTask where it has been waited for; else as Compositor::composite.
    Frame wait();
    /// Moves what is in flight, without waiting; whether wait would return at once.
    bool ready();

  private:
    friend class FramesInFlight;
    struct Slot;
    explicit PendingFrame(std::shared_ptr<Slot> slot);
    void drop() noexcept;

    std::shared_ptr<Slot> slot_; // also of a frame that was waited for: it holds the picture
    bool waited_ = false;
    int exceptions_ = 0; // under way when it was made
};

/// Blends several frames at once: while one is on its way the next is drawn and started. Planned
/// once; each frame in flight has buffers and messages of its own.
///
///     FramesInFlight frames(communicator, shape, 1, 2);
///     PendingFrame before = frames.start(draw(0));
///     for (int i = 1; i < count; ++i) {
///         PendingFrame next = frames.start(draw(i)); // images stay as they are until waited for
///         show(before.wait());
///         before = std::move(next);
///     }
///
/// Nothing is allocated once each of them has been used twice.
class FramesInFlight {
  public:
    /// Input     as Compositor; the most frames that may be in flight at once, the same on all
    ///           ranks. No race is held (CompositeOptions::frames).
    ///           `flight`: where this rank has frames of several FramesInFlight under way at once,
    ///           they are given the same.
    /// Throws    AgreedFailure.
    /// Collective.
    FramesInFlight(const Communicator& communicator, ImageShape shape, int layers, int most,
                   CompositeOptions options = {},
                   std::shared_ptr<Flight> flight = std::make_shared<Flight>());

    /// Starts a frame; returns without waiting for other ranks.
    /// Input     this rank's images, as Compositor::composite; they must not change until the frame
    ///           has been waited for. `picture`: where the root wants it (shape.elements() pixels),
    ///           or none.
    /// Throws    InvalidTask where the frame that was started `most` frames before has not been
    ///           waited for. What is wrong with the images is thrown by wait.
    /// Collective: all ranks start frames in the same order; they may wait in any.
    PendingFrame start(std::span<const std::byte> images, std::span<std::byte> picture = {},
                       const FrameOptions& frame = {});

    template <class Pixel>
    PendingFrame start(std::span<const Pixel> images, std::span<Pixel> picture = {},
                       const FrameOptions& frame = {}) {
        return start(std::as_bytes(images), std::as_writable_bytes(picture), frame);
    }

    /// A frame of a batch: its images, and where its picture goes at the root.
    struct Item {
        std::span<const std::byte> images;
        std::span<std::byte> picture;
        FrameOptions frame = {};
    };
    /// Blends all of them, as many at once as may be in flight; none may be when it begins.
    /// Throws    what the first frame that failed threw, once all have ended.
    /// Collective.
    void composite(std::span<const Item> batch);

    /// How frames are blended.
    const Compositor& compositor() const;

  private:
    std::vector<std::shared_ptr<PendingFrame::Slot>> slots_;
    std::vector<std::optional<PendingFrame>> batch_; // under way, of a batch
    std::size_t started_ = 0;
};

} // namespace sextant
