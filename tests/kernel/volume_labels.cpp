// SPDX-License-Identifier: BSD-3-Clause
// Components of volumes, compared with a flood fill.
#include "sextant/core/error.hpp"
#include "sextant/kernel/label/labels.hpp"
#include "sextant/kernel/label/plane_seam.hpp"

#include <limits>
#include <random>
#include <vector>

#include "tests/support/flood_fill.hpp"
#include "tests/support/message_of.hpp"
#include <gtest/gtest.h>

namespace sextant::kernel {
namespace {

using test::flooded;
using Shape = VolumeShape;

template <class Sample>
void compare(const std::vector<Sample>& samples, const Shape& shape, Connection connection,
             Labeller& labeller) {
    ValueView view(samples.data(), shape.width, {0, 0, shape.width, shape.height},
                   {shape.width, shape.height});
    view.planes = shape.depth;
    view.next_plane = shape.width * shape.height;
    std::vector<Label> labels(samples.size(), -1);
    labeller.apply(view, {labels.data(), shape.width});
    ASSERT_EQ(labels, flooded(samples, shape, connection))
        << shape.depth << "x" << shape.height << "x" << shape.width;
}

constexpr Neighbours all_neighbours[] = {Neighbours::six, Neighbours::eighteen,
                                         Neighbours::twenty_six};

TEST(VolumeLabels, equal_those_of_a_flood_fill) {
    std::mt19937 random(3);
    for (const Neighbours neighbours : all_neighbours) {
        for (const Sameness sameness : {Sameness::foreground, Sameness::value}) {
            Labeller labeller({neighbours, sameness});
            for (int turn = 0; turn < 60; ++turn) {
                const auto size = [&](int most) {
                    return 1 + static_cast<Elements>(random() % static_cast<unsigned>(most));
                };
                const Shape shape{size(5), size(6), size(turn % 3 == 0 ? 150 : 9)};
                const unsigned empty = random() % 90 + 5; // percent
                std::vector<std::uint8_t> bytes;
                std::vector<float> floats;
                for (Elements i = 0; i < shape.elements(); ++i) {
                    const auto value =
                        static_cast<std::uint8_t>(random() % 100 < empty ? 0 : 1 + random() % 2);
                    bytes.push_back(value);
                    floats.push_back(.5F * static_cast<float>(value));
                }
                compare(bytes, shape, {neighbours, sameness}, labeller);
                compare(floats, shape, {neighbours, sameness}, labeller);
            }
        }
    }
}

TEST(VolumeLabels, values_that_are_not_numbers_are_background) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const std::vector<float> samples = {nan, 1, nan, 1, 2, 2, 1, 1};
    ValueView view(samples.data(), 2, {0, 0, 2, 2}, {2, 2});
    view.planes = 2;
    view.next_plane = 4;
    Labeller labeller({Neighbours::twenty_six, Sameness::value});
    EXPECT_EQ(labeller.find(view), 2);
    EXPECT_EQ(labeller.nan(), 2);
    EXPECT_EQ(labeller.label_at(0, 0), 0);
}

TEST(VolumeLabels, a_snake_through_all_planes_is_one_component) {
    const Shape shape{9, 8, 70};
    std::vector<std::uint8_t> samples(static_cast<std::size_t>(shape.elements()), 0);
    const auto set = [&](Elements z, Elements y, Elements x) {
        samples[static_cast<std::size_t>((z * shape.height + y) * shape.width + x)] = 1;
    };
    for (Elements z = 0; z < shape.depth;
         z += 2) { // rows to and fro, then a step to the next plane
        for (Elements y = 0; y < shape.height; y += 2) {
            for (Elements x = 0; x < shape.width; ++x)
                set(z, y, x);
            if (y + 2 < shape.height)
                set(z, y + 1, (y / 2) % 2 == 0 ? shape.width - 1 : 0);
        }
        if (z + 2 < shape.depth)
            set(z + 1, z % 4 == 0 ? shape.height - 2 : 0, 0);
    }
    ValueView view(samples.data(), shape.width, {0, 0, shape.width, shape.height},
                   {shape.width, shape.height});
    view.planes = shape.depth;
    view.next_plane = shape.width * shape.height;
    EXPECT_EQ(Labeller({Neighbours::six}).find(view), 1);
}

TEST(VolumeLabels, volumes_with_too_many_runs_are_refused) {
    const std::uint8_t sample = 1;
    ValueView view(&sample, 65536, {0, 0, 65536, 65536}, {65536, 65536});
    view.planes = 2;
    EXPECT_THROW(Labeller({Neighbours::six}).find(view), InvalidTask);
}

TEST(JoinedParts, refuse_more_components_than_labels) {
    JoinedParts parts("slabs", 5);
    parts.add(3);
    EXPECT_EQ(test::message_of<InvalidTask>([&] { parts.add(3); }),
              "the slabs have 6 components before merging, expected at most "
              "5, the largest label");
}

} // namespace
} // namespace sextant::kernel
