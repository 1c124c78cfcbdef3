// SPDX-License-Identifier: BSD-3-Clause
// Components of images labelled in strips equal those of the whole image, for any strips.
#include "sextant/kernel/label/strip_seams.hpp"

#include "sextant/core/error.hpp"

#include "tests/support/label_references.hpp"
#include "tests/support/shapes.hpp"
#include <gmock/gmock.h>

namespace sextant::test {
namespace {

using kernel::Label;

/// Labels of the whole image, from strips of this many rows.
std::vector<Label> labels_by_strips(const Shape& shape, kernel::Connection connection,
                                    Elements rows) {
    const ImageShape image = shape.image;
    kernel::StripSeams seams(connection);
    std::vector<Label> labels(shape.samples.size());
    const std::vector<std::uint64_t> values(shape.samples.begin(), shape.samples.end());
    kernel::Labeller labeller(connection);
    for (Elements first = 0; first < image.height; first += rows) {
        const Elements height = std::min(rows, image.height - first), width = image.width;
        Label* const to = labels.data() + first * width;
        const Label count = labeller.apply(
            {shape.samples.data() + first * width, width, {0, 0, width, height}, {width, height}},
            {to, width});
        const auto seam = [&](Elements y) {
            const auto at = static_cast<std::size_t>(width);
            return kernel::SeamRow{{to + y * width, at}, {values.data() + (first + y) * width, at}};
        };
        seams.add(count, seam(0), seam(height - 1));
    }
    seams.finish();
    for (Elements i = 0; i < image.elements(); ++i) {
        Label& label = labels[static_cast<std::size_t>(i)];
        const auto strip = static_cast<std::size_t>(i / image.width / rows);
        label = label == 0 ? 0 : seams.numbers(strip)[static_cast<std::size_t>(label - 1)];
    }
    return labels;
}

TEST(StripSeams, join_strips_to_the_labels_of_the_whole_image) {
    for (const ImageShape image : {ImageShape{29, 23}, {1, 17}, {64, 5}}) {
        for (const Shape& shape : shapes(image)) {
            for (const auto neighbours : {kernel::Neighbours::four, kernel::Neighbours::eight}) {
                for (const auto same : {kernel::Sameness::foreground, kernel::Sameness::value}) {
                    const kernel::Connection connection{neighbours, same};
                    const auto expected =
                        kernel::labels_reference({shape.samples.data(),
                                                  image.width,
                                                  {0, 0, image.width, image.height},
                                                  image},
                                                 connection);
                    for (const Elements rows : {1, 2, 5, 30})
                        EXPECT_EQ(labels_by_strips(shape, connection, rows), expected.labels)
                            << shape.name << ", " << rows << " rows a strip";
                }
            }
        }
    }
}

TEST(StripSeams, refuse_more_components_than_labels) {
    kernel::StripSeams seams({}, 5);
    const std::vector<Label> row{1, 0, 2, 0, 3};
    seams.add(3, {row, {}}, {row, {}});
    try {
        seams.add(3, {row, {}}, {row, {}});
        FAIL() << "6 components of 5";
    } catch (const InvalidTask& error) {
        EXPECT_THAT(error.what(), testing::HasSubstr("the strips have 6 components before merging, "
                                                     "expected at most 5"));
    }
}

} // namespace
} // namespace sextant::test
