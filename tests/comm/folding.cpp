// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/folding.hpp"

#include "sextant/kernel/fold/catalogue.hpp"
#include "sextant/schedule/builder.hpp"

#include "tests/support/blending.hpp"
#include <gtest/gtest.h>

namespace sextant::test {
namespace {

/// The step of which operands are combined before any message has arrived or been sent, or
/// Walk::none.
int combined_early(const Program& program, std::vector<std::vector<RgbaF32>>& buffers) {
    const Dependences dependences(program);
    const Walk walk(program, dependences);
    BufferAddresses places(program, rgba_f32.size);
    for (std::size_t b = 0; b < buffers.size(); ++b)
        places.bind(static_cast<int>(b), reinterpret_cast<std::byte*>(buffers[b].data()));
    Folding folding(
        program, kernel::find("over"), places, {Association::by_arrival}, [] {},
        [](int) { return Folding::ReceiveBuffer{}; });
    return folding.combine_some(walk);
}

/// Sends the first of `operands` images and overwrites it with the fold of all; receives three
/// pixels and folds them into another buffer.
Program waiting_to_fold(int operands, Elements pixels) {
    ProgramBuilder builder;
    const Region images = builder.in_out(operands * pixels);
    const Region later = builder.scratch(3);
    const Region sum = builder.output(1);
    const Region place = block(images.buffer, 0, pixels);
    builder.send(1, place);
    std::vector<Region> parts;
    for (int k = 0; k < operands; ++k)
        parts.push_back(block(images.buffer, k * pixels, pixels));
    builder.fold(place, parts);
    builder.receive(1, later);
    builder.fold(sum, {part(later, 0, 3), part(later, 1, 3), part(later, 2, 3)});
    return builder.finish(sum);
}

TEST(Folding, two_operands_are_not_combined_before_their_destination_is_free) {
    constexpr Elements pixels = 1000;
    const std::vector<RgbaF32> images = layers(0, 2, pixels);
    std::vector<std::vector<RgbaF32>> buffers{images, std::vector<RgbaF32>(3), {{}}};
    EXPECT_EQ(combined_early(waiting_to_fold(2, pixels), buffers), Walk::none);
    EXPECT_EQ(buffers[0], images); // not sent yet
}

TEST(Folding, three_operands_are_combined_before_their_destination_is_free) {
    constexpr Elements pixels = 1000;
    const std::vector<RgbaF32> images = layers(0, 3, pixels);
    std::vector<std::vector<RgbaF32>> buffers{images, std::vector<RgbaF32>(3), {{}}};
    const int fold = 1;
    EXPECT_EQ(combined_early(waiting_to_fold(3, pixels), buffers), fold);
    EXPECT_EQ(buffers[0], images); // not sent yet
}

} // namespace
} // namespace sextant::test
