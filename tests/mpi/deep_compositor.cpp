// SPDX-License-Identifier: BSD-3-Clause
#include "tests/mpi/groups.hpp"
#include "tests/support/deep_cases.hpp"

namespace sextant::test {
namespace {

TEST(DeepCompositorOverMpi, ShellsAreBlendedAsSorted) {
    for (int size = 1; size <= 17; ++size) // sizes up to the number of ranks
        on_group(size, shells_are_blended_as_sorted);
}
TEST(DeepCompositorOverMpi, SeveralImagesPerRankOrNone) {
    for (const int size : group_sizes)
        on_group(size, several_deep_images_a_rank_and_none);
}
TEST(DeepCompositorOverMpi, FaultyImagesAreRefused) {
    for (const int size : group_sizes)
        on_group(size, faulty_deep_images_are_refused);
}
TEST(DeepCompositorOverMpi, APixelBeyondTheCapacityIsRefused) {
    for (const int size : group_sizes)
        on_group(size, a_pixel_without_room_is_refused);
}

} // namespace
} // namespace sextant::test
