// SPDX-License-Identifier: BSD-3-Clause
// Filters of images in tiles, over threads, must give the same bits as for the whole image.
#include "sextant/comm/threads.hpp"

#include "tests/support/agreed_failure.hpp"
#include "tests/support/filter_runs.hpp"
#include <gtest/gtest.h>

namespace sextant::test {
namespace {

TEST(DistributedDerivatives, have_the_same_bits_on_every_grid_of_1_to_7_ranks) {
    for (int ranks = 1; ranks <= 7; ++ranks)
        run_threads(ranks, filters_to_the_same_bits_on_every_grid);
}

TEST(DistributedDerivatives, can_be_filtered_again_without_being_gathered) {
    const ImageShape shape{40, 31};
    const std::vector<std::byte> whole = samples_of(gray_f32, shape);
    const distributed::Filter once{1, {"x"}, {}}, twice{1.5, {"y", "laplacian"}, {}};
    const std::vector<float> first = filtered(whole, gray_f32, shape, once);
    std::vector<std::byte> bytes(whole.size());
    std::memcpy(bytes.data(), first.data(), bytes.size());
    const std::vector<float> second = filtered(bytes, gray_f32, shape, twice);
    run_threads(6, [&](Communicator communicator) {
        const Grid grid{shape.width, shape.height, 2, 3};
        const auto image = distributed::scatter(communicator, grid, gray_f32, whole);
        const auto planes = gaussian_derivatives(gaussian_derivatives(image, once)[0], twice);
        const sextant::Image laplacian = distributed::gather(planes[1]);
        if (communicator.rank() == 0) {
            EXPECT_TRUE(same_bits(laplacian.bytes(),
                                  std::as_bytes(std::span(second).subspan(second.size() / 2))));
        }
    });
}

TEST(DistributedDerivatives, are_NaN_exactly_within_reach_of_a_NaN_sample) {
    const ImageShape shape{30, 30};
    std::vector<std::byte> whole = samples_of(gray_f32, shape);
    reinterpret_cast<float*>(whole.data())[15 * 30 + 15] = std::numeric_limits<float>::quiet_NaN();
    run_threads(4, [&](Communicator communicator) {
        const auto image = distributed::scatter(communicator, {30, 30, 2, 2}, gray_f32, whole);
        const distributed::Filter smooth{1, {"smooth"}, {}};
        const auto plane = distributed::gather(gaussian_derivatives(image, smooth)[0]);
        if (communicator.rank() != 0)
            return;
        const auto pixels = plane.pixels<float>();
        int not_a_number = 0;
        for (const float value : pixels)
            not_a_number += std::isnan(value) ? 1 : 0;
        const int reaches = 2 * kernel::gaussian_reach(1, 0) + 1;
        EXPECT_EQ(not_a_number, reaches * reaches);
    });
}

TEST(DistributedDerivatives, have_the_same_bits_when_written_into_existing_images) {
    const ImageShape shape{40, 31};
    const std::vector<std::byte> whole = samples_of(gray_f32, shape);
    const distributed::Filter five{1, {"x", "y", "xx", "xy", "yy"}, {}},
        other{2, {"y", "smooth"}, {}};
    for (const int columns : {1, 2}) {
        run_threads(columns * 2 - 1, [&](Communicator communicator) {
            const Grid grid{shape.width, shape.height, communicator.size(), 1};
            const auto image = distributed::scatter(communicator, grid, gray_f32, whole);
            const auto places = [](std::vector<distributed::Image>& planes) {
                std::vector<std::byte*> all;
                for (distributed::Image& plane : planes)
                    all.push_back(plane.bytes().data());
                return all;
            };
            std::vector<distributed::Image> kept;
            gaussian_derivatives(image, five, kept);
            const auto first = places(kept);
            for (distributed::Image& plane : kept)
                std::ranges::fill(plane.bytes(), std::byte{7});
            gaussian_derivatives(image, five, kept);
            EXPECT_EQ(places(kept), first);
            const auto expected = gaussian_derivatives(image, five);
            for (std::size_t k = 0; k < expected.size(); ++k)
                EXPECT_TRUE(same_bits(kept[k].bytes(), expected[k].bytes())) << k;
            // Planes are not reused if their number differs or if one of them is the input.
            const distributed::Image made = kept[1];
            const std::vector<std::byte> before(made.bytes().begin(), made.bytes().end());
            gaussian_derivatives(made, five, kept);
            EXPECT_NE(places(kept), first);
            EXPECT_TRUE(same_bits(made.bytes(), before));
            gaussian_derivatives(image, other, kept);
            EXPECT_EQ(kept.size(), 2U);
        });
    }
}

TEST(DistributedDerivatives, are_refused_identically_on_every_rank_for_invalid_filters) {
    run_threads(3, [](Communicator communicator) {
        const Grid grid{9, 9, 1, 3};
        const distributed::Image image(communicator, grid, gray_f32);
        const std::vector<distributed::Filter> invalid{{.1, {"x"}, {}},
                                                       {1, {"z"}, {}},
                                                       {1, {"x", "y", "x"}, {}},
                                                       {1, {"xxxxx"}, {}},
                                                       {1, {}, {}}};
        for (const distributed::Filter& filter : invalid)
            EXPECT_NE(agreed_failure([&] { gaussian_derivatives(image, filter); }), "nothing");
        EXPECT_THROW(distributed::Image(communicator, {9, 9, 2, 2}, gray_f32), InvalidTask);
    });
}

} // namespace
} // namespace sextant::test
