// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/threads.hpp"

#include <stdexcept>

#include "tests/support/counting_new.hpp"
#include "tests/support/flight_cases.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/order_cases.hpp"

namespace sextant::test {
namespace {

const bool flights_added = add_cases("FramesInFlightOnThreads", flight_cases(), on_threads);

void flights_on_threads(void (*body)(const Communicator&)) {
    for (const int ranks : {1, 2, 3, 4, 7})
        run_threads(ranks, body);
}

/// Rank 0 fails while a frame is in flight; the other ranks wait for this frame or for one another.
TEST(FramesInFlightOnThreads, a_rank_that_fails_with_frames_in_flight_ends_all_ranks) {
    for (const bool others_wait_for_the_frame : {true, false}) {
        const auto body = [&](const Communicator& communicator) {
            FramesInFlight frames(communicator, flight_shape, 1, 2);
            const FlightImage image = image_in_flight(communicator.rank(), 0);
            PendingFrame first = frames.start(std::span<const RgbaF32>(image));
            if (communicator.rank() == 0)
                throw std::runtime_error("drawing failed");
            PendingFrame second = frames.start(std::span<const RgbaF32>(image));
            if (others_wait_for_the_frame)
                second.wait();
            else
                communicator.barrier();
        };
        EXPECT_EQ(test::message_of<std::runtime_error>([&] { run_threads(3, body); }),
                  "drawing failed");
    }
}

TEST(FramesInFlightOnThreads, nothing_is_allocated_after_each_frame_was_used_twice) {
    run_threads(3, [](const Communicator& communicator) {
        CompositeOptions options;
        options.algorithm = "direct-send";
        FramesInFlight frames(communicator, flight_shape, 1, 2, options);
        std::vector<FlightImage> images{image_in_flight(communicator.rank(), 0),
                                        image_in_flight(communicator.rank(), 1),
                                        image_in_flight(communicator.rank(), 2)};
        FlightImage picture(
            static_cast<std::size_t>(communicator.rank() == 0 ? flight_shape.elements() : 0));
        const auto frame = [&](std::size_t i) { // images change slots between frames
            return frames.start(std::span<const RgbaF32>(images[i % images.size()]),
                                std::span(picture));
        };
        const auto pass = [&](std::size_t count) {
            PendingFrame before = frame(0);
            for (std::size_t i = 1; i < count; ++i) {
                PendingFrame next = frame(i);
                before.wait();
                before = std::move(next);
            }
            before.wait();
        };
        pass(7);
        communicator.barrier();
        const long before = allocations.load();
        communicator.barrier();
        pass(20);
        communicator.barrier();
        EXPECT_EQ(allocations.load() - before, 0);
        communicator.barrier();
    });
}

TEST(ChangingOrderOnThreads, nothing_is_allocated_after_each_rank_had_each_position_twice) {
    for (const char* algorithm : {"direct-send", "radix-k", "binary-tree"}) {
        for (const int ranks : {2, 4, 7}) {
            CompositeOptions options;
            options.algorithm = algorithm;
            run_threads(ranks, [&](const Communicator& communicator) {
                EXPECT_EQ(allocations_of_turning_frames(communicator, options,
                                                        [] { return allocations.load(); }),
                          0)
                    << algorithm << " on " << ranks;
            });
        }
    }
}

TEST(ImageOrdersOnThreads, nothing_is_allocated_after_each_order_was_used_twice) {
    for (const bool is_drawn : {false, true}) {
        for (const char* algorithm : {"direct-send", "radix-k"}) {
            CompositeOptions options;
            options.algorithm = algorithm;
            run_threads(4, [&](const Communicator& communicator) {
                EXPECT_EQ(
                    allocations_of_turning_frames(
                        communicator, options, [] { return allocations.load(); }, true, is_drawn),
                    0)
                    << algorithm << (is_drawn ? ", drawn" : "");
            });
        }
    }
}

TEST(FramesInFlightOnThreads, a_frame_stays_valid_after_its_frames_in_flight_are_destroyed) {
    flights_on_threads([](const Communicator& communicator) {
        const FlightImage image = image_in_flight(communicator.rank(), 0);
        CompositeOptions options;
        options.algorithm = "direct-send";
        const FlightImage expected = one_by_one(communicator, 1, options).front();
        std::optional<FramesInFlight> frames;
        frames.emplace(communicator, flight_shape, 1, 2, options);
        PendingFrame pending = frames->start(std::span<const RgbaF32>(image));
        frames.reset();
        const Frame frame = pending.wait();
        const std::vector<FlightImage> others(8, FlightImage(expected.size(), {7, 7, 7, 7}));
        EXPECT_EQ(flown_pixels(frame), expected) << "the memory of the frame was reused";
        EXPECT_TRUE(pending.ready());
        EXPECT_THROW(pending.wait(), InvalidTask);
    });
}

} // namespace
} // namespace sextant::test
