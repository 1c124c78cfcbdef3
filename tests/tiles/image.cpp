// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/threads.hpp"
#include "sextant/core/error.hpp"
#include "sextant/tiles/tiled_image.hpp"

#include <gtest/gtest.h>

namespace sextant::test {
namespace {

TEST(DistributedImage, with_too_many_pixels_is_refused) {
    run_threads(1, [](Communicator communicator) {
        const Elements many = Elements{1} << 32;
        for (const Grid& grid : {Grid{many, many, 1, 1}, {-1, 4, 1, 1}, {4, -many, 1, 1}})
            EXPECT_THROW(distributed::Image(communicator, grid, gray_f32), InvalidTask);
    });
}

} // namespace
} // namespace sextant::test
