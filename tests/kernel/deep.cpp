// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/fold/deep.hpp"

#include "sextant/core/error.hpp"
#include "sextant/core/memory.hpp"

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "examples/shells/deep_scenes.hpp"
#include <gtest/gtest.h>

namespace sextant::test {
namespace {

/// Lists of 0 to `most` fragments, often of equal depth; colours identify every fragment.
DeepImage random_lists(ImageShape shape, int most, std::mt19937& random) {
    DeepImage image{shape, {0}, {}};
    for (Elements pixel = 0; pixel < shape.elements(); ++pixel) {
        const int count =
            random() % 3 == 0 ? 0 : static_cast<int>(random() % static_cast<unsigned>(most + 1));
        std::vector<float> depths;
        for (int i = 0; i < count; ++i)
            depths.push_back(static_cast<float>(random() % 5));
        std::sort(depths.begin(), depths.end());
        for (const float depth : depths) {
            const float shade = static_cast<float>(random() % 1000) / 1000;
            image.fragments.push_back({shade, shade / 2, 0, .5f, depth});
        }
        image.first.push_back(static_cast<Elements>(image.fragments.size()));
    }
    return image;
}

Memory packed(const DeepImage& image, int capacity) {
    Memory memory(image.shape.elements() * kernel::deep_element(capacity).size);
    kernel::pack(image, capacity, memory.bytes());
    return memory;
}

std::vector<RgbaF32> blended(const Memory& pixels, int capacity, ImageShape shape) {
    std::vector<RgbaF32> colours(static_cast<std::size_t>(shape.elements()));
    kernel::blend_fragments(pixels.bytes(), capacity, colours);
    return colours;
}

constexpr ImageShape lists_shape{31, 7};

TEST(DeepKernel, folds_equal_sorting_all_fragments_for_any_association) {
    std::mt19937 random(5);
    for (int operands = 1; operands <= 5; ++operands) {
        std::vector<DeepImage> images;
        std::vector<Memory> pixels;
        const int capacity = 4 * operands;
        for (int i = 0; i < operands; ++i) {
            images.push_back(random_lists(lists_shape, 4, random));
            pixels.push_back(packed(images.back(), capacity));
        }
        const std::vector<RgbaF32> expected = kernel::blend_sorted(images);
        const Operator op = kernel::deep_operator(capacity);
        std::vector<const std::byte*> sources;
        for (const Memory& each : pixels)
            sources.push_back(each.data());
        Memory at_once(pixels[0].size());
        op.fold(sources, at_once.data(), lists_shape.elements());
        EXPECT_EQ(blended(at_once, capacity, lists_shape), expected);
        for (std::size_t i = pixels.size() - 1; i-- > 0;) // one by one from the back, in place
            op.fold(std::vector<const std::byte*>{pixels[i].data(), pixels[i + 1].data()},
                    pixels[i].data(), lists_shape.elements());
        EXPECT_EQ(blended(pixels[0], capacity, lists_shape), expected);
    }
}

TEST(DeepKernel, folds_may_write_to_any_of_their_sources) {
    std::mt19937 random(8);
    for (std::size_t operands = 1; operands <= 4; ++operands) {
        std::vector<DeepImage> images;
        for (std::size_t i = 0; i < operands; ++i)
            images.push_back(random_lists(lists_shape, 4, random));
        for (const int capacity : {3, 16}) { // too small, and large enough
            const Operator op = kernel::deep_operator(capacity);
            Memory apart(lists_shape.elements() * op.element.size);
            for (std::size_t place = 0; place <= operands; ++place) {
                std::vector<Memory> pixels;
                std::vector<const std::byte*> sources;
                for (const DeepImage& image : images) {
                    pixels.push_back(packed(image, capacity));
                    sources.push_back(pixels.back().data());
                }
                Memory& to = place == 0 ? apart : pixels[place - 1];
                op.fold(sources, to.data(), lists_shape.elements());
                for (Elements i = 0; i < lists_shape.elements(); ++i) {
                    const std::byte* const expected = apart.data() + i * op.element.size;
                    ASSERT_EQ(std::memcmp(to.data() + i * op.element.size, expected,
                                          static_cast<std::size_t>(op.used(expected))),
                              0)
                        << operands << " sources, into number " << place << ", pixel " << i;
                }
            }
            if (capacity == 16) {
                EXPECT_EQ(blended(apart, capacity, lists_shape), kernel::blend_sorted(images));
            }
        }
    }
}

TEST(DeepKernel, beyond_the_capacity_the_nearest_fragments_are_kept_and_all_are_counted) {
    std::mt19937 random(6);
    const int capacity = 3;
    const Operator op = kernel::deep_operator(capacity);
    std::vector<DeepImage> images;
    std::vector<Memory> pixels;
    for (int i = 0; i < 3; ++i) {
        images.push_back(random_lists({1, 1}, 0, random));
        for (const int depth : {i, i + 3})
            images.back().fragments.push_back({0, 0, 0, .5f, static_cast<float>(depth)});
        images.back().first[1] = 2;
        pixels.push_back(packed(images.back(), capacity));
    }
    for (const bool from_front : {true, false}) {
        const auto fold = [&](const Memory& a, const Memory& b) {
            Memory sum(a.size());
            op.fold(std::vector<const std::byte*>{a.data(), b.data()}, sum.data(), 1);
            return sum;
        };
        const Memory sum = from_front ? fold(fold(pixels[0], pixels[1]), pixels[2])
                                      : fold(pixels[0], fold(pixels[1], pixels[2]));
        EXPECT_EQ(kernel::fullest(sum.bytes(), capacity).fragments, 6);
        for (std::size_t i = 0; i < 3; ++i) {
            Fragment kept;
            std::memcpy(&kept, sum.data() + 4 + i * sizeof(Fragment), sizeof(kept));
            EXPECT_EQ(kept.depth, static_cast<float>(i));
        }
        EXPECT_EQ(op.used(sum.data()), op.element.size);
    }
}

TEST(DeepKernel, an_empty_operand_leaves_a_pixel_unchanged) {
    std::mt19937 random(7);
    const DeepImage image = random_lists(lists_shape, 4, random);
    const Operator op = kernel::deep_operator(6);
    const Memory pixels = packed(image, 6);
    Memory nothing(pixels.size()), sum(pixels.size());
    std::fill(nothing.bytes().begin(), nothing.bytes().end(), std::byte{77});
    op.fill_identity(nothing.data(), lists_shape.elements());
    op.fold(std::vector<const std::byte*>{nothing.data(), pixels.data(), nothing.data()},
            sum.data(), lists_shape.elements());
    EXPECT_EQ(blended(sum, 6, lists_shape), kernel::blend_sorted({&image, 1}));
}

TEST(DeepKernel, invalid_capacities_are_refused) {
    EXPECT_THROW(kernel::deep_operator(0), InvalidTask);
    EXPECT_THROW(kernel::deep_operator(kernel::largest_capacity + 1), InvalidTask);
    EXPECT_EQ(kernel::deep_operator(kernel::largest_capacity).element.size, 4 + 20 * 1024);
}

} // namespace
} // namespace sextant::test
