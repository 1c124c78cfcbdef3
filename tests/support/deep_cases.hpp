// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/agreement.hpp"
#include "sextant/compositor/deep_compositor.hpp"
#include "sextant/kernel/fold/catalogue.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "examples/shells/deep_scenes.hpp"
#include "tests/support/agreed_failure.hpp"
#include "tests/support/group_cases.hpp"
#include <gmock/gmock.h>

// Guarantees of DeepCompositor on any communicator: shared by the tests over threads and over MPI.
// Each function is collective.
namespace sextant::test {

inline const kernel::Shells few_shells{{17, 11}, 12};

/// The shells, divided into `parts` images.
inline std::vector<DeepImage> all_shells(int parts) {
    std::vector<DeepImage> images;
    for (int part = 0; part < parts; ++part)
        images.push_back(kernel::draw_shells(few_shells, part, parts));
    return images;
}

inline void expect_piece_of(const std::vector<RgbaF32>& whole, const Frame& frame,
                            const std::string& what) {
    const auto pixels = frame.pixels<RgbaF32>();
    ASSERT_EQ(static_cast<Elements>(pixels.size()), frame.count) << what;
    EXPECT_TRUE(std::equal(pixels.begin(), pixels.end(), whole.begin() + frame.first)) << what;
}

inline void nested_shells_are_blended_in_depth_order(const Communicator& communicator) {
    const int ranks = communicator.size(), rank = communicator.rank();
    std::vector<DeepImage> images = all_shells(ranks);
    const DeepImage own = images[static_cast<std::size_t>(rank)];
    const int fragments = most_fragments(communicator, few_shells.shape, {&own, 1});
    CompositeOptions options;
    for (int i = ranks; i-- > 0;) // equal depths occur, so the order matters
        options.order.push_back(i);
    std::reverse(images.begin(), images.end());
    const std::vector<RgbaF32> expected = kernel::blend_sorted(images);
    for (const auto& algorithm : compositing::catalogue()) {
        if (algorithm.tunings(ranks).empty())
            continue;
        options.algorithm = algorithm.name;
        for (const int root : {ranks - 1, CompositeOptions::distributed}) {
            options.root = root;
            options.association = root < 0 ? Association::by_arrival : Association::in_order;
            DeepCompositor compositor(communicator, few_shells.shape, 1, fragments, options);
            for (int frame = 0; frame < 2; ++frame)
                expect_piece_of(expected, compositor.composite({&own, 1}),
                                options.algorithm + " on " + std::to_string(ranks));
            compositor.resize({0, 0});
            compositor.resize(few_shells.shape);
            expect_piece_of(expected, compositor.composite({&own, 1}), "of a new shape");
            if (!compositing::takes_image_orders(algorithm))
                continue;
            CompositeOptions by_image = options;
            for (const int each : std::exchange(by_image.order, {}))
                by_image.image_order.push_back({each, 0});
            DeepCompositor of_images(communicator, few_shells.shape, 1, fragments, by_image);
            expect_piece_of(expected, of_images.composite({&own, 1}), "in an order of images");
        }
    }
}

inline void ranks_may_have_several_deep_images_or_none(const Communicator& communicator) {
    const int ranks = communicator.size(), rank = communicator.rank();
    const std::vector<DeepImage> all = all_shells(ranks);
    // Even ranks also have the image of the next rank; odd ranks have none.
    std::vector<DeepImage> own;
    if (rank % 2 == 0) {
        for (int i = rank; i < std::min(rank + 2, ranks); ++i)
            own.push_back(all[static_cast<std::size_t>(i)]);
    }
    CompositeOptions options;
    options.background = RgbaF32{.25f, .5f, .75f, 1};
    const int fragments = most_fragments(communicator, few_shells.shape, own);
    DeepCompositor compositor(communicator, few_shells.shape, static_cast<int>(own.size()),
                              fragments, options);
    std::vector<RgbaF32> expected = kernel::blend_sorted(all);
    for (RgbaF32& pixel : expected)
        pixel = kernel::over(pixel, *options.background);
    const Frame frame = compositor.composite(own);
    EXPECT_EQ(frame.count, rank == 0 ? few_shells.shape.elements() : 0);
    expect_piece_of(expected, frame, "with a background");
}

inline void invalid_deep_images_are_refused(const Communicator& communicator) {
    const ImageShape shape{3, 2};
    const int last = communicator.size() - 1;
    const bool odd = communicator.rank() == last;
    DeepImage good{
        shape, {0, 0, 0, 0, 0, 3, 3}, {{0, 0, 0, 1, 1}, {0, 0, 0, 1, 2}, {0, 0, 0, 1, 2}}};
    DeepCompositor compositor(communicator, shape, 1, 3 * communicator.size());
    const auto said_of = [&](const std::function<void(DeepImage&)>& spoil) {
        DeepImage image = good;
        if (odd)
            spoil(image);
        return agreed_failure([&] { compositor.composite({&image, 1}); });
    };
    const std::string rank = "rank " + std::to_string(last) + ", image 0: ";
    EXPECT_EQ(said_of([](DeepImage&) {}), "nothing");
    EXPECT_EQ(said_of([](DeepImage& image) { image.fragments[2].depth = 1.5f; }),
              rank + "pixel (1, 1): fragment 2 at depth 1.5 comes after one at 2, expected nearest "
                     "first");
    EXPECT_EQ(said_of([](DeepImage& image) { image.fragments[1].depth = std::nanf(""); }),
              rank + "pixel (1, 1): the depth of fragment 1 is NaN");
    EXPECT_EQ(said_of([](DeepImage& image) { image.first[6] = 2; }),
              rank + "has fragment offsets that do not ascend from 0 to 3");
    EXPECT_EQ(said_of([](DeepImage& image) {
                  image.shape = {2, 3};
              }),
              rank + "2x3 pixels, expected 3x2");
    EXPECT_EQ(said_of([](DeepImage&) {}), "nothing") << "the next frame must be right again";
}

inline void a_pixel_beyond_the_capacity_is_refused(const Communicator& communicator) {
    const int ranks = communicator.size();
    const ImageShape shape{3, 2};
    const DeepImage image{shape, {0, 0, 0, 0, 0, 2, 2}, {{0, 0, 0, 1, 1}, {0, 0, 0, 1, 2}}};
    for (const auto& algorithm : compositing::catalogue()) {
        if (algorithm.tunings(ranks).empty())
            continue;
        for (const int root : {0, CompositeOptions::distributed}) {
            CompositeOptions options;
            options.algorithm = algorithm.name;
            options.root = root;
            DeepCompositor compositor(communicator, shape, 1, 2 * ranks - 1, options);
            const std::string said = agreed_failure([&] { compositor.composite({&image, 1}); });
            EXPECT_THAT(said, testing::EndsWith("pixel (1, 1) has " + std::to_string(2 * ranks) +
                                                " fragments, expected at most " +
                                                std::to_string(2 * ranks - 1)))
                << algorithm.name;
        }
    }
    EXPECT_THAT(
        agreed_failure([&] { DeepCompositor(communicator, shape, 1, 0); }),
        testing::HasSubstr("the capacity of a deep pixel is 0 fragments, expected 1 to 1024"));
}

inline std::vector<GroupCase> deep_cases() {
    return {
        GROUP_CASE(nested_shells_are_blended_in_depth_order, {1, 2, 3, 4, 5, 6, 7, 12, 17}),
        GROUP_CASE(ranks_may_have_several_deep_images_or_none),
        GROUP_CASE(invalid_deep_images_are_refused),
        GROUP_CASE(a_pixel_beyond_the_capacity_is_refused),
    };
}

} // namespace sextant::test
