// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/fold/sparse_code.hpp"
#include "sextant/kernel/label/labels.hpp"

#include "tests/kernel/pictures.hpp"
#include "tests/support/counting_new.hpp"
#include "tests/support/shapes.hpp"
#include "tests/support/sparse_layers.hpp"

namespace sextant::test {
namespace {

TEST(GaussianDerivatives, allocate_nothing_when_repeated) {
    const auto picture = random_picture({300, 40}, 1);
    GaussianDerivatives derivatives(3, every_derivative(), {Border::mirror, 0});
    Planes planes(every_derivative().size(), picture.image());
    const Tile tile = whole(picture.image());
    const std::vector<Plane> outputs = planes.of(tile);
    const SampleView view = picture.view();
    derivatives.apply(view, tile, outputs);
    const long before = allocations;
    derivatives.apply(view, tile, outputs);
    EXPECT_EQ(allocations - before, 0);
}

TEST(Labels, allocate_nothing_for_the_next_image) {
    const Shape shape = values_shape({300, 40}, 3);
    const SampleView view{shape.samples.data(), 300, whole(shape.image), shape.image};
    for (const kernel::Sameness sameness :
         {kernel::Sameness::foreground, kernel::Sameness::value}) {
        kernel::Labeller labeller({kernel::Neighbours::eight, sameness});
        std::vector<kernel::Label> plane(shape.samples.size());
        labeller.apply(view, {plane.data(), 300});
        const long before = allocations;
        labeller.apply(view, {plane.data(), 300});
        EXPECT_EQ(allocations - before, 0);
    }
}

TEST(SparseCodes, are_written_without_allocation) {
    constexpr Elements n = 20011;
    const Operator& op = kernel::find("over");
    kernel::SparseEncoder encoder(undrawn(op), n);
    std::vector<std::byte> room(n * sizeof(RgbaF32));
    for (const Drawing& drawing : drawings) {
        const auto pixels = draw<RgbaF32>(drawing, op, n, 1, 4);
        const kernel::SparseEncoder::Piece piece{reinterpret_cast<const std::byte*>(pixels.data()),
                                                 n};
        const long before = allocations;
        encoder.encode(std::span(&piece, 1), room.data());
        EXPECT_EQ(allocations - before, 0) << drawing.name;
    }
}

} // namespace
} // namespace sextant::test
