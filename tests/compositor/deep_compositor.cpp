// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/threads.hpp"

#include "tests/support/deep_cases.hpp"
#include "tests/support/wall_cases.hpp"

namespace sextant::test {
namespace {

const bool deep_added = add_cases("DeepCompositorOnThreads", deep_cases(), on_threads) &&
                        add_cases("TileWallOnThreads", wall_cases(), on_threads);

/// Whole images in some order must not give the right result; otherwise the other tests would not
/// test the sorting of fragments.
TEST(Shells, cannot_be_blended_as_whole_images_in_any_order) {
    const std::vector<DeepImage> images = all_shells(3);
    const std::vector<RgbaF32> right = kernel::blend_sorted(images);
    std::vector<int> order{0, 1, 2};
    do {
        std::vector<RgbaF32> picture(right.size());
        for (const int image : order) {
            const auto next = kernel::blend_sorted({&images[static_cast<std::size_t>(image)], 1});
            for (std::size_t i = 0; i < picture.size(); ++i)
                picture[i] = kernel::over(picture[i], next[i]);
        }
        float most = 0;
        for (std::size_t i = 0; i < picture.size(); ++i)
            most = std::max(most, std::abs(picture[i].r - right[i].r));
        EXPECT_GT(most, .05f);
    } while (std::next_permutation(order.begin(), order.end()));
}

} // namespace
} // namespace sextant::test
