// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/compositor/frames_in_flight.hpp"
#include "sextant/core/error.hpp"

#include <utility>
#include <vector>

#include "tests/support/blending.hpp"
#include "tests/support/group_cases.hpp"
#include <gmock/gmock.h>

// Tests of FramesInFlight on any communicator, used over threads and over MPI. Each function is
// collective.
namespace sextant::test {

using FlightImage = std::vector<RgbaF32>;

constexpr ImageShape flight_shape{37, 11};

/// The image that a rank contributes to a frame.
inline FlightImage image_in_flight(int rank, int frame) {
    return layers(100 * frame + rank, 1, flight_shape.elements());
}

inline FlightImage flown_pixels(const Frame& frame) {
    const auto pixels = frame.pixels<RgbaF32>();
    return {pixels.begin(), pixels.end()};
}

/// The composited frames, computed one by one.
inline std::vector<FlightImage> one_by_one(const Communicator& communicator, int frames,
                                           const CompositeOptions& options) {
    Compositor compositor(communicator, flight_shape, 1, options);
    std::vector<FlightImage> pictures;
    for (int frame = 0; frame < frames; ++frame) {
        const FlightImage image = image_in_flight(communicator.rank(), frame);
        pictures.push_back(flown_pixels(compositor.composite(std::span<const RgbaF32>(image))));
    }
    return pictures;
}

/// Ranks wait for the three frames in flight in different orders.
inline void frames_in_flight_equal_frames_composited_one_by_one(const Communicator& communicator) {
    constexpr int most = 3, turns = 3;
    const int ranks = communicator.size(), rank = communicator.rank();
    for (const auto& algorithm : compositing::catalogue()) {
        if (algorithm.tunings(ranks).empty())
            continue;
        CompositeOptions options;
        options.algorithm = algorithm.name;
        options.root = static_cast<int>(algorithm.name.size()) % ranks;
        const std::vector<FlightImage> expected = one_by_one(communicator, most * turns, options);
        FramesInFlight frames(communicator, flight_shape, 1, most, options);
        std::vector<FlightImage> images(most);
        for (int turn = 0; turn < turns; ++turn) {
            std::vector<PendingFrame> pending;
            for (int i = 0; i < most; ++i) {
                auto& image = images[static_cast<std::size_t>(i)];
                image = image_in_flight(rank, most * turn + i);
                pending.push_back(frames.start(std::span<const RgbaF32>(image)));
            }
            for (int i = 0; i < most; ++i) {
                const int which = (i * (1 + rank % 2) + rank) % most;
                const Frame frame = pending[static_cast<std::size_t>(which)].wait();
                EXPECT_EQ(flown_pixels(frame),
                          expected[static_cast<std::size_t>(most * turn + which)])
                    << algorithm.name << " on " << ranks;
            }
        }
    }
}

inline void each_handle_can_be_waited_for_only_once(const Communicator& communicator) {
    const FlightImage image = image_in_flight(communicator.rank(), 0);
    const std::span<const RgbaF32> pixels(image);
    CompositeOptions options;
    options.algorithm = "direct-send";
    const FlightImage expected = one_by_one(communicator, 1, options).front();
    FramesInFlight frames(communicator, flight_shape, 1, 2, options);
    PendingFrame first = frames.start(pixels);
    PendingFrame second = frames.start(pixels);
    EXPECT_THROW(frames.start(pixels), InvalidTask) << "two are in flight";
    EXPECT_EQ(flown_pixels(first.wait()), expected);
    EXPECT_THROW(first.wait(), InvalidTask);
    first = std::move(second);
    EXPECT_THROW(second.wait(), InvalidTask) << "moved away";
    while (!first.ready()) {
    }
    EXPECT_EQ(flown_pixels(first.wait()), expected);
    for (int i = 0; i < 5; ++i)
        frames.start(pixels); // this frame is discarded
    EXPECT_EQ(flown_pixels(frames.start(pixels).wait()), expected) << "after five discarded frames";
}

inline void a_failed_frame_does_not_affect_other_frames(const Communicator& communicator) {
    const int ranks = communicator.size(), rank = communicator.rank();
    CompositeOptions options;
    options.algorithm = "direct-send"; // each rank receives from all others
    const std::vector<FlightImage> expected = one_by_one(communicator, 3, options);
    FramesInFlight frames(communicator, flight_shape, 1, 3, options);
    for (int turn = 0; turn < 2; ++turn) {
        std::vector<FlightImage> images;
        for (int frame = 0; frame < 3; ++frame)
            images.push_back(image_in_flight(rank, frame));
        if (rank == ranks - 1)
            images[1].pop_back();
        std::vector<PendingFrame> pending;
        for (const FlightImage& image : images)
            pending.push_back(frames.start(std::span<const RgbaF32>(image)));
        EXPECT_EQ(flown_pixels(pending[2].wait()), expected[2]);
        if (rank == ranks - 1) {
            EXPECT_THROW(pending[1].wait(), InvalidTask);
        } else {
            EXPECT_THROW(pending[1].wait(), PeerFailed);
        }
        EXPECT_EQ(flown_pixels(pending[0].wait()), expected[0]);
    }
}

inline void frames_of_a_batch_are_written_to_their_destinations(const Communicator& communicator) {
    constexpr int count = 7;
    const int rank = communicator.rank(), root = communicator.size() - 1;
    for (const bool background : {false, true}) {
        CompositeOptions options;
        options.root = root;
        options.algorithm = "direct-send";
        if (background)
            options.background = RgbaF32{.1f, .2f, .3f, 1};
        const std::vector<FlightImage> expected = one_by_one(communicator, count, options);
        FramesInFlight frames(communicator, flight_shape, 1, 2, options);
        std::vector<FlightImage> images, pictures;
        std::vector<FramesInFlight::Item> batch;
        for (int frame = 0; frame < count; ++frame) {
            images.push_back(image_in_flight(rank, frame));
            const bool wants = rank == root && frame != 3; // one frame has no destination
            pictures.emplace_back(static_cast<std::size_t>(wants ? flight_shape.elements() : 0));
        }
        for (std::size_t frame = 0; frame < images.size(); ++frame) {
            batch.push_back({std::as_bytes(std::span(images[frame])),
                             std::as_writable_bytes(std::span(pictures[frame]))});
        }
        frames.composite(batch);
        for (std::size_t frame = 0; rank == root && frame < images.size(); ++frame) {
            if (frame != 3) {
                EXPECT_EQ(pictures[frame], expected[frame]) << frame;
            }
        }
        FlightImage small(3);
        PendingFrame pending = frames.start(std::span<const RgbaF32>(images[0]),
                                            std::span(small).first(rank == root ? 3 : 0));
        if (rank == root) { // the other ranks discard it
            EXPECT_THROW(pending.wait(), InvalidTask) << "no space for the image";
        }
    }
}

/// Two FramesInFlight share a Flight; ranks wait for their frames in different orders.
inline void different_compositors_may_share_a_flight(const Communicator& communicator) {
    const int rank = communicator.rank();
    CompositeOptions options;
    options.algorithm = "direct-send";
    const std::vector<FlightImage> expected = one_by_one(communicator, 2, options);
    const auto flight = std::make_shared<Flight>();
    FramesInFlight a(communicator, flight_shape, 1, 1, options, flight),
        b(communicator, flight_shape, 1, 1, options, flight);
    for (int turn = 0; turn < 3; ++turn) {
        const FlightImage first = image_in_flight(rank, 0), second = image_in_flight(rank, 1);
        PendingFrame of_a = a.start(std::span<const RgbaF32>(first));
        PendingFrame of_b = b.start(std::span<const RgbaF32>(second));
        if (rank % 2 == 0) {
            EXPECT_EQ(flown_pixels(of_b.wait()), expected[1]);
        }
        EXPECT_EQ(flown_pixels(of_a.wait()), expected[0]);
        if (rank % 2 == 1) {
            EXPECT_EQ(flown_pixels(of_b.wait()), expected[1]);
        }
    }
}

inline void frames_of_a_new_shape_may_be_in_flight(const Communicator& communicator) {
    CompositeOptions options;
    options.algorithm = "direct-send";
    const std::vector<FlightImage> expected = one_by_one(communicator, 2, options);
    FramesInFlight frames(communicator, {8, 8}, 1, 2, options);
    const FlightImage small(64);
    PendingFrame pending = frames.start(std::span<const RgbaF32>(small));
    EXPECT_THROW(frames.resize(flight_shape), Error) << "a frame is in flight";
    pending.wait();
    EXPECT_THROW(frames.resize({-1, 8}), Error);
    frames.start(std::span<const RgbaF32>(small)).wait(); // keeps its shape
    frames.resize(flight_shape);
    const FlightImage first = image_in_flight(communicator.rank(), 0),
                      second = image_in_flight(communicator.rank(), 1);
    pending = frames.start(std::span<const RgbaF32>(first));
    PendingFrame next = frames.start(std::span<const RgbaF32>(second));
    EXPECT_THROW(frames.set_drawn({}), Error) << "frames are in flight";
    EXPECT_EQ(flown_pixels(pending.wait()), expected[0]);
    EXPECT_EQ(flown_pixels(next.wait()), expected[1]);
    const Rectangle whole{0, 0, flight_shape.width, flight_shape.height};
    const Rectangle outside{1, 0, flight_shape.width, flight_shape.height};
    frames.set_drawn({&whole, 1});
    EXPECT_THROW(frames.set_drawn({&outside, 1}), Error);
    pending = frames.start(std::span<const RgbaF32>(first));
    next = frames.start(std::span<const RgbaF32>(second));
    EXPECT_EQ(flown_pixels(next.wait()), expected[1]);
    EXPECT_EQ(flown_pixels(pending.wait()), expected[0]);
}

inline void differing_numbers_of_frames_fail_on_all_ranks(const Communicator& communicator) {
    const bool odd = communicator.rank() == communicator.size() - 1;
    EXPECT_THROW(FramesInFlight(communicator, flight_shape, 1, odd ? 0 : 1), Error);
    if (communicator.size() > 1) {
        EXPECT_THROW(FramesInFlight(communicator, flight_shape, 1, odd ? 3 : 2), Error);
    }
}

inline std::vector<GroupCase> flight_cases() {
    return {
        GROUP_CASE(frames_in_flight_equal_frames_composited_one_by_one),
        GROUP_CASE(each_handle_can_be_waited_for_only_once),
        GROUP_CASE(a_failed_frame_does_not_affect_other_frames),
        GROUP_CASE(frames_of_a_batch_are_written_to_their_destinations),
        GROUP_CASE(frames_of_a_new_shape_may_be_in_flight),
        GROUP_CASE(different_compositors_may_share_a_flight),
        GROUP_CASE(differing_numbers_of_frames_fail_on_all_ranks),
    };
}

} // namespace sextant::test
