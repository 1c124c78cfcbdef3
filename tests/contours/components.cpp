// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/contours/components.hpp"

#include "sextant/comm/agreement.hpp"
#include "sextant/comm/threads.hpp"
#include "sextant/core/error.hpp"

#include "tests/support/component_runs.hpp"
#include <gmock/gmock.h>

namespace sextant::test {
namespace {

TEST(DistributedComponents, of_every_shape_equal_those_of_the_whole_image) {
    for (const int ranks : {2, 4, 6, 9})
        run_threads(ranks, [](Communicator communicator) {
            every_pattern_gives_the_serial_labels(communicator, {23, 19}, 43);
        });
}

TEST(DistributedComponents, of_tiny_or_empty_tiles_equal_those_of_the_whole_image) {
    for (const ImageShape image : {ImageShape{5, 4}, {1, 6}, {3, 1}, {2, 2}})
        run_threads(6, [image](Communicator communicator) {
            every_pattern_gives_the_serial_labels(communicator, image, 43);
        });
}

TEST(DistributedComponents, treat_NaN_as_background_and_count_it) {
    run_threads(2, [](Communicator communicator) {
        distributed::Image image(communicator, {4, 1, 2, 1}, gray_f32);
        auto* const samples = reinterpret_cast<float*>(image.bytes().data());
        samples[0] = samples[1] = std::numeric_limits<float>::quiet_NaN();
        const Labelled found = label_components(
            image, {kernel::Neighbours::eight, kernel::Sameness::value}, contour::catalogue()[0]);
        EXPECT_EQ(found.components, 0);
        EXPECT_EQ(found.nan, 2); // of this tile
    });
}

TEST(DistributedComponents, record_the_merging_trace_if_requested) {
    run_threads(3, [](Communicator communicator) {
        distributed::Image image(communicator, {6, 2, 3, 1}, gray_u8);
        std::fill(image.bytes().begin(), image.bytes().end(), std::byte{1});
        MergingTrace record;
        label_components(image, {}, contour::catalogue()[0], &record);
        EXPECT_GT(record.sent, 0);
        EXPECT_FALSE(record.trace.events.empty());
        for (const Event& event : record.trace.events)
            EXPECT_EQ(event.rank, communicator.rank());
    });
}

TEST(DistributedComponents, refuse_unsupported_sample_types_on_every_rank) {
    run_threads(2, [](Communicator communicator) {
        const distributed::Image image(communicator, {4, 4, 2, 1}, rgba_f32);
        EXPECT_THAT(([&] { label_components(image, {}, contour::catalogue()[0]); }),
                    testing::ThrowsMessage<AgreedFailure>(testing::HasSubstr("rgba f32")));
    });
}

TEST(DistributedComponents, are_refused_if_they_exceed_the_range_of_labels) {
    require_labels(2147483647);
    EXPECT_THROW(require_labels(2147483648), InvalidTask);
}

} // namespace
} // namespace sextant::test
