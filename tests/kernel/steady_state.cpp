// SPDX-License-Identifier: BSD-3-Clause
#include "tests/kernel/pictures.hpp"
#include "tests/support/counting_new.hpp"

namespace sextant::test {
namespace {

TEST(GaussianDerivatives, once_made_allocate_nothing) {
    const auto picture = random_picture({300, 40}, 1);
    GaussianDerivatives derivatives(3, every_derivative(), {Border::mirror, 0});
    Planes planes(every_derivative().size(), picture.image());
    const Tile tile = whole(picture.image());
    const std::vector<Plane> outputs = planes.of(tile);
    const SampleView view = picture.view();
    const long before = allocations;
    derivatives.apply(view, tile, outputs);
    EXPECT_EQ(allocations - before, 0);
}

} // namespace
} // namespace sextant::test
