// SPDX-License-Identifier: BSD-3-Clause
// Edges of images in tiles, over threads: those of the whole image.
#include "sextant/distributed/canny.hpp"

#include "sextant/comm/agree.hpp"
#include "sextant/comm/threads.hpp"
#include "sextant/distributed/quantile.hpp"

#include "tests/support/canny_runs.hpp"
#include <gmock/gmock.h>

namespace sextant::test {
namespace {

TEST(DistributedCanny, finds_the_edges_of_the_whole_image) {
    for (const int ranks : {1, 2, 4, 6, 9})
        run_threads(ranks, [](Communicator communicator) {
            every_pattern_gives_the_serial_edges(communicator, {37, 29}, 5);
        });
}

TEST(DistributedCanny, finds_them_in_tiles_smaller_than_what_thinning_reads) {
    for (const ImageShape shape : {ImageShape{7, 9}, {1, 11}, {5, 1}, {3, 3}})
        run_threads(6, [shape](Communicator communicator) {
            every_pattern_gives_the_serial_edges(communicator, shape, 5);
        });
}

TEST(DistributedCanny, finds_edges_without_keeping_the_gradient) {
    for (const int ranks : {1, 2, 6})
        run_threads(ranks, [](Communicator communicator) {
            edges_of_an_image_are_those_of_its_gradient(communicator, {37, 29}, 1);
            edges_of_an_image_are_those_of_its_gradient(communicator, {11, 40}, 3);
        });
}

TEST(DistributedCanny, follows_a_weak_edge_through_every_tile_from_one_strong_point) {
    // A ridge down the image, strong at its first pixel only.
    GradientField field = field_of("ridge", {9, 40}, [](float i, float j) {
        return std::pair(i == 4 ? (j == 0 ? 3.F : 1.F) : 0.F, 0.F);
    });
    run_threads(8, [&](Communicator communicator) {
        const Grid grid{9, 40, 1, 8};
        const Gradient gradient{plane_in_tiles(communicator, grid, field.x),
                                plane_in_tiles(communicator, grid, field.y)};
        const auto points = [&](double high) -> Elements {
            const sextant::Image found =
                distributed::gather(edge_directions(gradient, {.5, high}, contour::catalogue()[2]));
            if (communicator.rank() != 0)
                return 0;
            const auto codes = found.pixels<kernel::Direction>();
            return 9 * 40 - std::count(codes.begin(), codes.end(), kernel::no_edge);
        };
        const auto followed = points(2), alone = points(4);
        if (communicator.rank() == 0) {
            EXPECT_EQ(followed, 40);
            EXPECT_EQ(alone, 0);
        }
    });
}

TEST(DistributedCanny, takes_thresholds_at_exact_quantiles_however_values_are_dealt) {
    for (const int ranks : {1, 3, 4}) {
        run_threads(ranks, [ranks](Communicator communicator) {
            std::vector<float> mine;
            for (int i = communicator.rank(); i < 101; i += ranks)
                mine.push_back(static_cast<float>(i * i) / 7);
            if (communicator.rank() == 0)
                mine.push_back(std::numeric_limits<float>::quiet_NaN());
            for (const int percent : {0, 1, 50, 99, 100})
                EXPECT_EQ(quantile(communicator, mine, percent / 100.),
                          static_cast<float>(percent * percent) / 7);
            EXPECT_EQ(quantile(communicator, {}, .5), 0) << "of nothing";
        });
    }
}

TEST(DistributedCanny, refuses_thresholds_and_quantiles_that_are_reversed_on_every_rank) {
    std::atomic<int> refused{0};
    run_threads(2, [&](Communicator communicator) {
        const Gradient gradient{distributed::Image(communicator, {4, 4, 1, 2}, gray_f32),
                                distributed::Image(communicator, {4, 4, 1, 2}, gray_f32)};
        try {
            edge_directions(gradient, {2, 1}, contour::catalogue()[0]);
        } catch (const AgreedFailure& failure) {
            EXPECT_THAT(failure.what(), testing::HasSubstr("thresholds of edges are 2 and 1"));
            ++refused;
        }
        try {
            quantiles_of(gradient, .9, .8);
        } catch (const AgreedFailure& failure) {
            EXPECT_THAT(failure.what(), testing::HasSubstr("quantiles of edges are 0.9 and 0.8"));
            ++refused;
        }
    });
    EXPECT_EQ(refused, 4);
}

} // namespace
} // namespace sextant::test
