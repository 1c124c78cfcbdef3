// SPDX-License-Identifier: BSD-3-Clause
// The next level of a pyramid, compared with the even positions of an image smoothed according to
// the definition of the Gaussian.
#include "sextant/kernel/filter/float_plane.hpp"

#include "tests/kernel/float_planes.hpp"
#include "tests/kernel/processors.hpp"
#include "tests/support/filter_references.hpp"

namespace sextant::test {
namespace {

TEST(ImageHalving, returns_the_smoothed_image_at_even_positions_for_any_size) {
    for (const ImageShape shape :
         {ImageShape{1, 1}, {2, 1}, {1, 2}, {5, 4}, {64, 3}, {65, 31}, {130, 66}}) {
        const kernel::FloatPlane fine = random_plane(shape, 3);
        const ImageShape half = kernel::halved(shape);
        EXPECT_EQ(half, (ImageShape{(shape.width + 1) / 2, (shape.height + 1) / 2}));
        kernel::FloatPlane coarse(half);
        kernel::Halving(shape).apply(fine.image(), coarse.plane());
        for (Elements y = 0; y < half.height; ++y) {
            for (Elements x = 0; x < half.width; ++x) {
                const double expected = kernel::gaussian_derivative(
                    fine.samples(), 2 * x, 2 * y, 1, {0, 0}, {}, kernel::p3pc_kernel);
                ASSERT_NEAR(coarse.image().at(x, y), expected, 2e-6)
                    << x << ", " << y << " of " << half.width << "x" << half.height;
            }
        }
    }
}

TEST(ImageHalving, gives_the_same_bits_on_every_instruction_set) {
    const ImageShape shape{101, 37};
    const kernel::FloatPlane fine = random_plane(shape, 4);
    kernel::FloatPlane first(kernel::halved(shape));
    kernel::Halving(shape).apply(fine.image(), first.plane());
    on_every_processor([&](const char* processor) {
        kernel::FloatPlane coarse(first.shape());
        kernel::Halving(shape).apply(fine.image(), coarse.plane());
        for (Elements y = 0; y < first.shape().height; ++y) {
            for (Elements x = 0; x < first.shape().width; ++x)
                ASSERT_EQ(coarse.image().at(x, y), first.image().at(x, y)) << processor;
        }
    });
}

} // namespace
} // namespace sextant::test
