// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/compositor/frames_in_flight.hpp"

#include "sextant/comm/agreement.hpp"
#include "sextant/comm/scope.hpp"
#include "sextant/compositor/compositor_run.hpp"
#include "sextant/core/error.hpp"

#include <exception>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace sextant {

/// The compositor for one frame in flight. It has its own communicator.
struct PendingFrame::Slot {
    Slot(Communicator all, ImageShape shape, int layers, CompositeOptions options,
         std::shared_ptr<Flight> shared)
        : communicator(std::move(all)),
          flight(std::move(shared)),
          compositor(communicator.split(0, communicator.rank()), shape, layers,
                     std::move(options)) {}

    const Communicator communicator;
    const std::shared_ptr<Flight> flight;
    Compositor compositor;
    bool under_way = false;
};

PendingFrame::PendingFrame(std::shared_ptr<Slot> slot)
    : slot_(std::move(slot)), exceptions_(std::uncaught_exceptions()) {}

PendingFrame::PendingFrame(PendingFrame&& other) noexcept
    : slot_(std::exchange(other.slot_, nullptr)),
      waited_(other.waited_),
      exceptions_(other.exceptions_) {}

PendingFrame& PendingFrame::operator=(PendingFrame&& other) noexcept {
    if (this != &other) {
        drop();
        slot_ = std::exchange(other.slot_, nullptr);
        waited_ = other.waited_;
        exceptions_ = other.exceptions_;
    }
    return *this;
}

PendingFrame::~PendingFrame() {
    drop();
}

Frame PendingFrame::wait() {
    if (!slot_ || waited_)
        throw InvalidTask("wait() was already called for this frame, or the frame was moved");
    waited_ = true;
    slot_->under_way = false;
    return slot_->compositor.wait(*slot_->flight);
}

bool PendingFrame::ready() {
    return !slot_ || waited_ || slot_->compositor.ready(*slot_->flight);
}

void PendingFrame::drop() noexcept {
    const std::shared_ptr<Slot> slot = std::exchange(slot_, nullptr);
    if (!slot || waited_)
        return;
    slot->under_way = false;
    try {
        if (std::uncaught_exceptions() > exceptions_) {
            fail(slot->communicator, "an exception destroyed its PendingFrame");
            slot->compositor.abandon(*slot->flight);
        } else {
            slot->compositor.wait(*slot->flight);
        }
    } catch (...) { // the frame and its error are discarded
    }
}

FramesInFlight::FramesInFlight(const Communicator& of_program, ImageShape shape, int layers,
                               int most, CompositeOptions options, std::shared_ptr<Flight> flight) {
    const Communicator communicator = scope_of(of_program, "FramesInFlight");
    const std::vector<int> all = communicator.all_gather(most);
    agree(communicator, [&] {
        for (std::size_t rank = 0; rank < all.size(); ++rank) {
            if (all[rank] < 1 || all[rank] != all[0]) {
                throw InvalidTask(
                    fmt::format("rank {} requests {} frames in flight, rank 0 requests {}; "
                                "expected 1 or more, the same on all ranks",
                                rank, all[rank], all[0]));
            }
        }
    });
    options.frames = 1; // a race cannot have several frames in flight
    for (int i = 0; i < most; ++i) {
        slots_.push_back(
            std::make_shared<PendingFrame::Slot>(communicator, shape, layers, options, flight));
        // All other slots use the plan of the first one.
        const auto& [algorithm, tuning, sparse] = compositor().plan().configuration;
        options.algorithm = algorithm->name;
        options.radices = tuning.radices;
        options.window = tuning.window;
        options.interlace = tuning.interlace > 0 ? planner::Interlace::on : planner::Interlace::off;
        options.plan.clear();
    }
    batch_.resize(slots_.size());
}

PendingFrame FramesInFlight::start(std::span<const std::byte> images, std::span<std::byte> picture,
                                   const FrameOptions& frame) {
    const auto& slot = slots_[started_ % slots_.size()];
    if (slot->under_way) {
        throw InvalidTask(fmt::format(
            "frame {} cannot start before wait() for frame {}: at most {} frames may be in flight",
            started_, started_ - slots_.size(), slots_.size()));
    }
    slot->compositor.start(images, *slot->flight, picture, frame);
    slot->under_way = true;
    ++started_;
    return PendingFrame(slot);
}

void FramesInFlight::composite(std::span<const Item> batch) {
    for (const auto& slot : slots_) {
        if (slot->under_way)
            throw InvalidTask("a batch cannot begin before wait() has been called for all frames");
    }
    std::exception_ptr failure;
    const auto end = [&](std::size_t i) {
        auto& frame = batch_[i % batch_.size()];
        if (!frame)
            return;
        try {
            frame->wait();
        } catch (...) { // rethrown when the other frames have ended
            if (!failure)
                failure = std::current_exception();
        }
        frame.reset();
    };
    for (std::size_t i = 0; i < batch.size(); ++i) {
        end(i);
        batch_[i % batch_.size()] = start(batch[i].images, batch[i].picture, batch[i].frame);
    }
    for (std::size_t i = batch.size(); i < batch.size() + batch_.size(); ++i)
        end(i);
    if (failure)
        std::rethrow_exception(failure);
}

namespace {

/// Throws AgreedFailure, on all ranks, if a frame is in flight on any rank.
template <class Slots>
void require_none_in_flight(const Slots& slots, const char* what) {
    agree(slots.front()->communicator, [&] {
        for (const auto& slot : slots) {
            if (slot->under_way)
                throw InvalidTask(fmt::format("{} cannot change while a frame is in flight", what));
        }
    });
}

} // namespace

void FramesInFlight::set_drawn(std::span<const Rectangle> drawn) {
    require_none_in_flight(slots_, "the rectangles of images");
    const std::vector<Rectangle> before = compositor().run_->drawn();
    try {
        for (const auto& slot : slots_)
            slot->compositor.set_drawn(drawn);
    } catch (...) { // all ranks throw the same exception
        for (const auto& slot : slots_)
            slot->compositor.set_drawn(before);
        throw;
    }
}

void FramesInFlight::resize(ImageShape shape) {
    require_none_in_flight(slots_, "the shape of images");
    const ImageShape before = compositor().run_->shape();
    const auto resize_all = [&](ImageShape to) {
        slots_.front()->compositor.resize(to);
        const planner::CompositingPlan plan = compositor().plan(); // all other slots use this plan
        for (std::size_t i = 1; i < slots_.size(); ++i)
            slots_[i]->compositor.run_->resize(to, &plan);
    };
    try {
        resize_all(shape);
    } catch (...) { // all ranks throw the same exception
        resize_all(before);
        throw;
    }
}

void FramesInFlight::fail(const std::string& text) {
    sextant::fail(slots_.front()->communicator, text);
}

const Compositor& FramesInFlight::compositor() const {
    return slots_.front()->compositor;
}

} // namespace sextant
