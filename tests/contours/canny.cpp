// SPDX-License-Identifier: BSD-3-Clause
// Edges of images in tiles, over threads, must equal those of the whole image.
#include "sextant/contours/canny.hpp"

#include "sextant/comm/agreement.hpp"
#include "sextant/comm/threads.hpp"

#include "tests/support/canny_runs.hpp"
#include "tests/support/random.hpp"
#include <gmock/gmock.h>

namespace sextant::test {
namespace {

TEST(DistributedCanny, finds_the_same_edges_as_on_the_whole_image) {
    for (const int ranks : {1, 2, 4, 6, 9})
        run_threads(ranks, [](Communicator communicator) {
            every_pattern_gives_the_serial_edges(communicator, {37, 29}, 5);
            every_pattern_gives_the_serial_edges(communicator, {11, 40}, 5, 3);
        });
}

TEST(DistributedCanny, finds_edges_in_tiles_smaller_than_the_thinning_margin) {
    for (const ImageShape shape : {ImageShape{7, 9}, {1, 11}, {5, 1}, {3, 3}})
        run_threads(6, [shape](Communicator communicator) {
            every_pattern_gives_the_serial_edges(communicator, shape, 5);
        });
}

TEST(DistributedCanny, derives_thresholds_from_gradients_of_the_whole_image) {
    for (const int ranks : {1, 2, 6})
        run_threads(ranks, [](Communicator communicator) {
            quantiles_are_those_of_the_whole_image(communicator, {37, 29}, 1);
            quantiles_are_those_of_the_whole_image(communicator, {11, 40}, 3);
        });
}

TEST(DistributedCanny, follows_a_weak_edge_from_a_strong_point_through_all_tiles) {
    // A vertical step edge whose gradient is largest at the upper end.
    const GradientField step = field_of("step", {9, 40}, [](float i, float j) {
        const float height = 3 - j / 20;
        return std::pair(i < 4 ? 0 : i > 4 ? height : height / 2, 0.F);
    });
    run_threads(8, [&](Communicator communicator) {
        const distributed::Image image = plane_in_tiles(communicator, {9, 40, 1, 8}, step.x);
        const auto points = [&](double high) -> Elements {
            const sextant::Image found = distributed::gather(
                edge_directions(image, 1, {.2, high}, always(contour::catalogue()[2])));
            if (communicator.rank() != 0)
                return 0;
            const auto codes = found.pixels<kernel::Direction>();
            return 9 * 40 - std::count(codes.begin(), codes.end(), kernel::no_edge);
        };
        const auto followed = points(1), alone = points(4);
        if (communicator.rank() == 0) {
            EXPECT_EQ(followed, 40);
            EXPECT_EQ(alone, 0);
        }
    });
}

TEST(DistributedCanny, computes_exact_quantiles_for_any_distribution_of_values) {
    for (const int ranks : {1, 3, 4}) {
        run_threads(ranks, [ranks](Communicator communicator) {
            std::vector<float> own;
            for (int i = communicator.rank(); i < 101; i += ranks)
                own.push_back(static_cast<float>(i * i) / 7);
            if (communicator.rank() == 0)
                own.push_back(std::numeric_limits<float>::quiet_NaN());
            EXPECT_THAT(quantiles(communicator, own, {0, .01, .5, .99, 1}),
                        testing::ElementsAre(0, 1 / 7.F, 2500 / 7.F, 9801 / 7.F, 10000 / 7.F));
            EXPECT_THAT(quantiles(communicator, {}, {.5}), testing::ElementsAre(0)) << "of nothing";
        });
    }
}

/// Edge directions of an image whose samples are multiplied by `scale`, with thresholds from
/// quantiles.
std::vector<kernel::Direction> edges_at_scale(const std::vector<float>& samples, ImageShape shape,
                                              float scale) {
    std::vector<float> scaled;
    for (const float sample : samples)
        scaled.push_back(sample * scale);
    std::vector<kernel::Direction> all;
    run_threads(3, [&](const Communicator& communicator) {
        const distributed::Image image =
            plane_in_tiles(communicator, {shape.width, shape.height, 1, 3}, scaled);
        const kernel::EdgeThresholds of_image = quantiles_of(image, 1.5, .7, .9);
        const sextant::Image found = distributed::gather(
            edge_directions(image, 1.5, of_image, always(contour::catalogue().front())));
        if (communicator.rank() == 0) {
            const auto pixels = found.pixels<kernel::Direction>();
            all.assign(pixels.begin(), pixels.end());
        }
    });
    return all;
}

TEST(DistributedCanny, finds_the_same_edges_by_quantiles_if_all_samples_are_scaled) {
    const ImageShape shape{90, 70};
    Random random(4);
    std::vector<float> samples;
    for (Elements i = 0; i < shape.elements(); ++i)
        samples.push_back(static_cast<float>(random.number(1, 1000000)) / 1000.F);
    const auto expected = edges_at_scale(samples, shape, 1);
    const auto ends = std::ranges::count(expected, kernel::Direction{-1});
    EXPECT_LT(ends, shape.elements() - 200) << "hardly any edges";
    for (const float scale : {0x1p-100F, 0x1p-60F, 0x1p60F, 0x1p110F, 1e-30F, 1e30F})
        EXPECT_TRUE(edges_at_scale(samples, shape, scale) == expected) << scale;
}

TEST(DistributedCanny, computes_exact_quantiles_of_values_passed_in_pieces) {
    std::vector<float> values;
    std::uint32_t state = 7;
    for (int i = 0; i < 5000; ++i) {
        state = state * 1664525 + 1013904223;
        // Values of many magnitudes, nearly equal values, and equal values.
        values.push_back(i % 3 == 0   ? std::ldexp(1.F, static_cast<int>(state >> 26) - 32)
                         : i % 3 == 1 ? 1 + static_cast<float>(state >> 16) * 0x1p-23F
                                      : static_cast<float>(state >> 30));
    }
    std::vector<float> sorted = values;
    std::ranges::sort(sorted);
    const std::vector<double> shares = {0, .1, .25, .5, .5, .8, .95, 1};
    run_threads(3, [&](Communicator communicator) {
        Quantiles found(shares);
        for (int pass = 0; pass < Quantiles::passes; ++pass) {
            // Half of the values are on rank 0, a quarter on each other rank, in pieces of 100.
            for (std::size_t i = 0; i < values.size(); i += 100) {
                if (communicator.rank() == (i < 2500 ? 0 : i % 200 == 0 ? 1 : 2))
                    found.add(std::span(values).subspan(i, 100));
            }
            found.end_pass(communicator);
        }
        for (std::size_t i = 0; i < shares.size(); ++i)
            EXPECT_EQ(found.value(i), sorted[static_cast<std::size_t>(shares[i] * 4999)])
                << shares[i];
    });
}

TEST(DistributedCanny, refuses_reversed_thresholds_and_quantiles_on_every_rank) {
    run_threads(2, [](Communicator communicator) {
        const distributed::Image image(communicator, {4, 4, 1, 2}, gray_f32);
        const auto merging = always(contour::catalogue()[0]);
        EXPECT_THROW(edge_directions(image, 1, {2, 1}, merging), AgreedFailure);
        EXPECT_THROW(quantiles_of(image, 1, .9, .8), AgreedFailure);
    });
}

} // namespace
} // namespace sextant::test
