// SPDX-License-Identifier: BSD-3-Clause
#include "tests/mpi/groups.hpp"
#include "tests/support/deep_cases.hpp"

namespace sextant::test {
namespace {

TEST(DeepCompositorOverMpi, NestedShellsAreBlendedInDepthOrder) {
    for (int size = 1; size <= 17; ++size) // on_group ignores sizes above the number of ranks
        on_group(size, nested_shells_are_blended_in_depth_order);
}
TEST(DeepCompositorOverMpi, RanksMayHaveSeveralImagesOrNone) {
    for (const int size : group_sizes)
        on_group(size, ranks_may_have_several_deep_images_or_none);
}
TEST(DeepCompositorOverMpi, InvalidImagesAreRefused) {
    for (const int size : group_sizes)
        on_group(size, invalid_deep_images_are_refused);
}
TEST(DeepCompositorOverMpi, APixelBeyondTheCapacityIsRefused) {
    for (const int size : group_sizes)
        on_group(size, a_pixel_beyond_the_capacity_is_refused);
}

} // namespace
} // namespace sextant::test
