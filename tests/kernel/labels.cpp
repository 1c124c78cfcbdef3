// SPDX-License-Identifier: BSD-3-Clause
// Connected components with each instruction set, and invalid input.
#include "sextant/kernel/label/labels.hpp"

#include "sextant/core/error.hpp"

#include <array>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "tests/kernel/pictures.hpp"
#include "tests/kernel/processors.hpp"
#include "tests/support/label_references.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/shapes.hpp"
#include <gmock/gmock.h>

namespace sextant::test {
namespace {

using kernel::Connection;
using kernel::Label;
using kernel::Labeller;
using kernel::Labelling;
using kernel::Neighbours;
using kernel::Sameness;
using testing::ElementsAre;
using testing::HasSubstr;

const std::vector<Connection> connections = {{Neighbours::four, Sameness::foreground},
                                             {Neighbours::eight, Sameness::foreground},
                                             {Neighbours::four, Sameness::value},
                                             {Neighbours::eight, Sameness::value}};

Labelling labels_of(const SampleView& input, Labeller& labeller) {
    constexpr Elements frame = 3;
    const Elements stride = input.tile.width + frame;
    std::vector<Label> plane(static_cast<std::size_t>(stride * input.tile.height), -7);
    const Label count = labeller.apply(input, {plane.data(), stride});
    Labelling made{{}, labeller.components()};
    EXPECT_EQ(static_cast<std::size_t>(count), made.components.size());
    for (Elements y = 0; y < input.tile.height; ++y) {
        const auto row = plane.begin() + y * stride;
        made.labels.insert(made.labels.end(), row, row + input.tile.width);
        EXPECT_THAT(std::vector<Label>(row + input.tile.width, row + stride),
                    ElementsAre(-7, -7, -7))
            << "written outside the plane";
    }
    return made;
}

void expect_equal(const Labelling& made, const Labelling& expected, const std::string& where) {
    ASSERT_EQ(made.labels, expected.labels) << where;
    ASSERT_EQ(made.components.size(), expected.components.size()) << where;
    ASSERT_TRUE(made.components == expected.components) << where;
}

void expect_the_reference(const SampleView& input, const std::string& name) {
    for (const Connection connection : connections) {
        const Labelling expected = kernel::labels_reference(input, connection);
        on_every_processor([&](const char* processor) {
            Labeller labeller(connection);
            expect_equal(labels_of(input, labeller), expected,
                         name + " of " + std::to_string(input.tile.width) + "x" +
                             std::to_string(input.tile.height) + ", " + processor);
        });
    }
}

SampleView view_of(const Shape& shape) {
    return {shape.samples.data(), shape.image.width, whole(shape.image), shape.image};
}

TEST(Labels, equal_the_reference_for_every_shape) {
    for (const ImageShape image :
         {ImageShape{1, 1}, {1, 9}, {9, 1}, {63, 7}, {64, 9}, {65, 8}, {130, 33}, {200, 40}}) {
        for (const Shape& shape : shapes(image))
            expect_the_reference(view_of(shape), shape.name);
    }
}

TEST(Labels, equal_the_reference_for_random_images) {
    for (unsigned seed = 1; seed <= 60; ++seed) {
        Random random(seed);
        const ImageShape image{random.between(1, 150), random.between(1, 12)};
        expect_the_reference(view_of(random_shape(image, random.number(5, 95), seed)), "random");
        expect_the_reference(view_of(values_shape(image, random.number(2, 5), seed)), "values");
    }
}

TEST(Labels, number_components_in_the_order_of_their_first_pixels) {
    const Picture<std::uint8_t> picture = [] {
        const std::vector<std::string> rows = {".#..#.##", //
                                               "#...#..#", //
                                               ".###...#", //
                                               "...#.#.."};
        Picture<std::uint8_t> made({8, 4});
        made.fill([&](Elements x, Elements y) {
            return rows[static_cast<std::size_t>(y)][static_cast<std::size_t>(x)] == '#';
        });
        return made;
    }();
    Labeller eight({Neighbours::eight, Sameness::foreground});
    EXPECT_THAT(labels_of(picture.view(), eight).labels, ElementsAre(0, 1, 0, 0, 1, 0, 2, 2, //
                                                                     1, 0, 0, 0, 1, 0, 0, 2, //
                                                                     0, 1, 1, 1, 0, 0, 0, 2, //
                                                                     0, 0, 0, 1, 0, 3, 0, 0));
    Labeller four({Neighbours::four, Sameness::foreground});
    EXPECT_THAT(labels_of(picture.view(), four).labels, ElementsAre(0, 1, 0, 0, 2, 0, 3, 3, //
                                                                    4, 0, 0, 0, 2, 0, 0, 3, //
                                                                    0, 5, 5, 5, 0, 0, 0, 3, //
                                                                    0, 0, 0, 5, 0, 6, 0, 0));
}

TEST(Labels, give_the_area_bounding_box_and_centroid_of_components) {
    Picture<std::uint8_t> tile({100, 100}, {20, 30, 5, 4});
    tile.fill([](Elements x, Elements y) { return y == 31 && x >= 21 && x <= 23; });
    Labeller labeller({});
    const Labelling made = labels_of(tile.view(), labeller);
    ASSERT_EQ(made.components.size(), 1U);
    const kernel::RegionSize& component = made.components[0];
    EXPECT_EQ(component.voxels, 3);
    EXPECT_THAT(component.low, ElementsAre(0, 31, 21));
    EXPECT_THAT(component.high, ElementsAre(0, 31, 23));
    EXPECT_THAT(component.centroid(), ElementsAre(0, 31, 22));
}

TEST(Labels, are_the_same_for_floats_16_bit_integers_and_bytes) {
    const Shape shape = values_shape({150, 30}, 4);
    for (const Connection connection : connections) {
        Labeller labeller(connection);
        const Labelling expected = labels_of(view_of(shape), labeller);
        const auto expect_same = [&](auto picture) {
            picture.fill([&](Elements x, Elements y) {
                return shape.samples[static_cast<std::size_t>(y * 150 + x)] * 16384.;
            });
            on_every_processor([&](const char* processor) {
                expect_equal(labels_of(picture.view(), labeller), expected, processor);
            });
        };
        expect_same(Picture<float>(shape.image, 2));
        expect_same(Picture<std::uint16_t>(shape.image, 5));
    }
}

TEST(Labels, treat_NaN_as_background_and_count_it) {
    Picture<float> picture({70, 3});
    picture.fill([](Elements, Elements) { return std::numeric_limits<float>::quiet_NaN(); });
    Labeller by_value({Neighbours::eight, Sameness::value});
    EXPECT_TRUE(labels_of(picture.view(), by_value).components.empty());
    EXPECT_EQ(by_value.nan(), 210);
    Labeller foreground({Neighbours::eight, Sameness::foreground});
    EXPECT_TRUE(labels_of(picture.view(), foreground).components.empty());
    EXPECT_EQ(foreground.nan(), 210);
}

TEST(Labels, equal_the_reference_for_an_image_larger_than_the_caches) {
    const Shape shape = random_shape({4096, 2200}, 50);
    const Connection connection{};
    Memory plane(shape.image.elements() * static_cast<Bytes>(sizeof(Label)));
    auto* const labels = reinterpret_cast<Label*>(plane.data());
    Labeller(connection).apply(view_of(shape), {labels, shape.image.width});
    const Labelling expected = kernel::labels_reference(view_of(shape), connection);
    EXPECT_TRUE(std::equal(expected.labels.begin(), expected.labels.end(), labels));
}

TEST(Labels, are_empty_for_an_empty_image) {
    for (const ImageShape image : {ImageShape{0, 0}, {0, 5}, {5, 0}}) {
        for (const Connection connection : connections) {
            Labeller labeller(connection);
            EXPECT_EQ(labeller.apply({static_cast<const float*>(nullptr), 0, whole(image), image},
                                     {nullptr, 0}),
                      0);
            EXPECT_TRUE(labeller.components().empty());
        }
    }
}

TEST(Labels, do_not_keep_data_of_a_previous_image) {
    Labeller labeller({Neighbours::four, Sameness::value});
    for (const ImageShape image : {ImageShape{130, 20}, {65, 1}, {1, 40}, {64, 40}, {3, 3}}) {
        const Shape shape = values_shape(image, 3);
        expect_equal(labels_of(view_of(shape), labeller),
                     kernel::labels_reference(view_of(shape), {Neighbours::four, Sameness::value}),
                     "again");
    }
}

TEST(Labels, refuse_too_many_runs_and_label_images_of_the_wrong_size) {
    const std::uint8_t sample = 1;
    Label label = 5;
    const auto error = [&](ImageShape image, Sameness sameness, Elements stride) -> std::string {
        return test::message_of<InvalidTask>([&] {
            Labeller({Neighbours::eight, sameness})
                .apply({&sample, image.width, whole(image), image}, {&label, stride});
        });
    };
    EXPECT_THAT(error({65536, 65536}, Sameness::foreground, 65536),
                HasSubstr("a tile of 65536x65536 pixels may have more than 2147483630 runs"));
    EXPECT_NE(error({65536, 32768}, Sameness::value, 65536), "");
    EXPECT_NE(error({Elements{1} << 40, Elements{1} << 40}, Sameness::value, 1), "");
    EXPECT_THAT(error({4, 2}, Sameness::value, 3),
                HasSubstr("a stride of 3 is too small for labels of"));
    EXPECT_EQ(label, 5);
}

TEST(Labels, can_be_queried_per_pixel_without_writing_a_label_image) {
    for (const ImageShape image : {ImageShape{200, 9}, {64, 3}, {1, 5}, {130, 4}}) {
        for (const Shape& shape : shapes(image)) {
            const kernel::SampleView view{
                shape.samples.data(), image.width, {0, 0, image.width, image.height}, image};
            const kernel::Connection connection;
            const kernel::Labelling expected = kernel::labels_reference(view, connection);
            kernel::Labeller labeller(connection);
            EXPECT_EQ(labeller.find(view), static_cast<Label>(expected.components.size()));
            for (Elements i = 0; i < image.elements(); ++i)
                ASSERT_EQ(labeller.label_at(i % image.width, i / image.width),
                          expected.labels[static_cast<std::size_t>(i)])
                    << shape.name << ", pixel " << i;
            const std::vector<Elements> first = labeller.first_pixels();
            ASSERT_EQ(first.size(), expected.components.size());
            for (std::size_t k = 0; k < first.size(); ++k)
                EXPECT_EQ(first[k], expected.components[k].first) << shape.name;
        }
    }
}

/// Another thread may write the samples, so pixels can compare as equal though one of them was read
/// as background.
TEST(Labels, join_only_pixels_that_are_inside) {
    constexpr Elements words = 3, rows = 50;
    std::mt19937_64 random(5);
    using Words = std::array<std::uint64_t, words>;
    const auto random_words = [&] { return Words{random(), random(), random()}; };
    std::vector<Label> parents(64 * words * rows + 1);
    std::vector<Words> inside(rows), starts(rows);
    kernel::RunRow above;
    Label last = 0;
    for (std::size_t y = 0; y < rows; ++y) {
        inside[y] = random_words();
        starts[y] = random_words();
        kernel::Shift shift;
        for (std::size_t word = 0; word < words; ++word)
            starts[y][word] = inside[y][word] & (starts[y][word] | ~shift(inside[y][word]));
        const kernel::RunRow row{inside[y].data(), starts[y].data(), last};
        last = kernel::begin_runs(row, words, parents.data());
        if (y > 0) {
            const Words straight = random_words(), left = random_words(), right = random_words();
            const kernel::EqualsAbove equal{straight.data(), left.data(), right.data()};
            kernel::join_runs({row, above, words, y % 2 == 0, &equal, parents.data()});
        }
        for (Label run = 1; run <= last; ++run) {
            ASSERT_GE(parents[static_cast<std::size_t>(run)], 1) << "run " << run;
            ASSERT_LE(parents[static_cast<std::size_t>(run)], run);
        }
        above = row;
    }
}

} // namespace
} // namespace sextant::test
