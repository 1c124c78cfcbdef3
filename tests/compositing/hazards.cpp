// SPDX-License-Identifier: BSD-3-Clause
// Inputs that are hazards for compositing, one test each. Every algorithm runs with all tunings
// over threads and is compared with the serial fold.
#include "sextant/compositor/compositor.hpp"
#include "sextant/kernel/fold/pixel_formats.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <string>

#include "tests/compositing/all_configurations.hpp"
#include "tests/compositing/hazard_kinds.hpp"
#include <gtest/gtest.h>

namespace sextant::compositing {
namespace {

using test::expect_the_serial_fold;
using test::first_fault;
using test::painted;
using test::painted_by;
using test::Painter;
using test::Picture;
using test::Random;
using test::serial_fold;

constexpr int group_sizes[] = {1, 2, 3, 5, 7, 8, 12, 13, 16, 17};
constexpr Elements width = 31, pixels = width * 11; // not divisible by any group size above 1

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

Task shuffled(Random& random, int ranks, Elements elements) {
    Task task = one_image_each(ranks, elements);
    random.shuffle(task.order);
    return task;
}

template <class Kind>
class EdgeCases : public testing::Test {};

using Kinds = testing::Types<Over, OverF16, OverU8, Nearest>;
struct KindNames {
    template <class Kind>
    static std::string GetName(int index) {
        return std::array{"Over", "OverF16", "OverU8", "Nearest"}[static_cast<std::size_t>(index)];
    }
};
TYPED_TEST_SUITE(EdgeCases, Kinds, KindNames);

TYPED_TEST(EdgeCases, images_may_come_in_any_visibility_order) {
    Random random(91);
    for (int p : group_sizes) {
        expect_the_serial_fold<TypeParam>(shuffled(random, p, pixels), TypeParam::some);
    }
}

TYPED_TEST(EdgeCases, ranks_may_have_several_layers_or_none_and_an_empty_rank_may_be_the_root) {
    Random random(92);
    for (int p : group_sizes) {
        Task task = test::rough_task(random, p, pixels);
        task.root = test::outsider(task);
        expect_the_serial_fold<TypeParam>(task, TypeParam::some);
    }
}

TYPED_TEST(EdgeCases, some_images_may_be_empty) {
    Random random(93);
    for (int p : group_sizes) {
        const auto empty = [&](int layer) { return layer % 3 == 1; };
        expect_the_serial_fold<TypeParam>(shuffled(random, p, pixels), [&](int layer, Elements i) {
            return empty(layer) ? TypeParam::nothing : TypeParam::some(layer, i);
        });
    }
}

TYPED_TEST(EdgeCases, a_single_nonempty_image_is_unchanged) {
    for (int p : group_sizes) {
        const Task task = one_image_each(p, pixels);
        for (int only : {0, p / 2, p - 1}) {
            const auto paint = [&](int layer, Elements i) {
                return layer == only ? TypeParam::some(layer, i) : TypeParam::nothing;
            };
            const auto image = painted<TypeParam>(paint, only, 1, pixels);
            EXPECT_EQ(serial_fold<TypeParam>(task, paint), image);
            expect_the_serial_fold<TypeParam>(task, paint, test::Bits::same);
        }
    }
}

TYPED_TEST(EdgeCases, all_images_may_be_empty) {
    for (int p : group_sizes) {
        expect_the_serial_fold<TypeParam>(
            one_image_each(p, pixels), [](int, Elements) { return TypeParam::nothing; },
            test::Bits::same);
    }
}

TYPED_TEST(EdgeCases, checkerboards_may_be_shifted_differently_on_each_rank) {
    for (int p : group_sizes) {
        expect_the_serial_fold<TypeParam>(
            one_image_each(p, pixels),
            [](int layer, Elements i) {
                const Elements x = i % width + 3 * layer, y = i / width;
                return (x / 8 + y / 8) % 2 == 0 ? TypeParam::opaque(layer) : TypeParam::nothing;
            },
            test::Bits::same);
    }
}

TYPED_TEST(EdgeCases, checkerboards_may_have_squares_of_one_pixel) {
    for (int p : group_sizes) {
        expect_the_serial_fold<TypeParam>(one_image_each(p, pixels), [](int layer, Elements i) {
            const bool drawn = (i % width + i / width + layer) % 2 == 0;
            return drawn ? TypeParam::some(layer, i) : TypeParam::nothing;
        });
    }
}

TYPED_TEST(EdgeCases, reversing_opaque_layers_gives_exactly_the_other_colour) {
    for (int p : group_sizes) {
        Task task = one_image_each(p, pixels);
        expect_the_serial_fold<TypeParam>(
            task, [](int layer, Elements) { return TypeParam::opaque(layer); }, test::Bits::same);
        std::reverse(task.order.begin(), task.order.end());
        const auto reversed = [&](int layer, Elements) { return TypeParam::opaque(p - 1 - layer); };
        EXPECT_EQ(serial_fold<TypeParam>(task, reversed)[0], TypeParam::opaque(p - 1));
        expect_the_serial_fold<TypeParam>(task, reversed, test::Bits::same);
    }
}

TYPED_TEST(EdgeCases, the_number_of_pixels_may_be_below_or_indivisible_by_the_number_of_ranks) {
    Random random(94);
    for (int p : group_sizes) {
        for (int n : {1, 2, p - 1, p + 1, 2 * p - 1}) {
            expect_the_serial_fold<TypeParam>(shuffled(random, p, n), TypeParam::some);
        }
    }
}

/// The image composited by a Compositor with these options.
template <class Kind>
Picture<Kind> with_compositor(const Task& task, const Painter<Kind>& paint,
                              const CompositeOptions& options) {
    Picture<Kind> picture(static_cast<std::size_t>(task.elements), Kind::opaque(1000));
    run_threads(task.ranks, [&](Communicator communicator) {
        const int rank = communicator.rank();
        Compositor compositor(communicator, {width, task.elements / width},
                              test::layers_of(task, rank), options);
        const Picture<Kind> images = painted_by<Kind>(paint, task, rank);
        const Frame frame = compositor.composite<typename Kind::Pixel>(images);
        const auto part = frame.pixels<typename Kind::Pixel>();
        std::copy(part.begin(), part.end(), picture.begin() + frame.first);
    });
    return picture;
}

TYPED_TEST(EdgeCases, a_coloured_background_is_blended_exactly_once) {
    const RgbaF32 background{.1f, .3f, .2f, .5f};
    const auto behind = [&](Picture<TypeParam> picture) {
        const auto bytes = std::as_writable_bytes(std::span(picture));
        kernel::put_behind(TypeParam::element, bytes, background, bytes);
        return picture;
    };
    const Painter<TypeParam> paint = [](int layer, Elements i) {
        return i % 5 == 0 ? TypeParam::nothing : TypeParam::some(layer, i);
    };
    Random random(95);
    for (int p : group_sizes) {
        const Task task = test::rough_task(random, p, pixels);
        const auto once = behind(serial_fold<TypeParam>(task, paint));
        const int layers = task.all_layers() + 1;
        ASSERT_NE(first_fault<TypeParam>(behind(once), once, false, layers), -1);
        for (const Algorithm& algorithm : catalogue()) {
            if (algorithm.tunings(p).empty())
                continue;
            CompositeOptions options;
            options.algorithm = algorithm.name;
            options.blend = TypeParam::name;
            options.element = TypeParam::element;
            options.order = task.order;
            options.background = background;
            for (int root : {Task::distributed, 0, test::outsider(task)}) {
                options.root = root;
                const auto picture = with_compositor<TypeParam>(task, paint, options);
                const bool exactly = test::same_bits(algorithm, options.association);
                EXPECT_EQ(first_fault<TypeParam>(picture, once, exactly, layers), -1)
                    << test::describe(algorithm, task, {}) << ", picture at " << root;
            }
        }
    }
}

TEST(OverEdgeCases, colours_may_be_brighter_than_1) {
    Random random(96);
    for (int p : group_sizes) {
        expect_the_serial_fold<BrightOver>(shuffled(random, p, pixels), BrightOver::some);
    }
}

TEST(NearestEdgeCases, the_front_image_wins_at_equal_depths) {
    Random random(97);
    for (int p : group_sizes) {
        const Task task = shuffled(random, p, pixels);
        const auto paint = [](int layer, Elements) { return Nearest::opaque(layer); };
        EXPECT_EQ(serial_fold<Nearest>(task, paint)[0], Nearest::opaque(0));
        expect_the_serial_fold<Nearest>(task, paint);
    }
}

TEST(NearestEdgeCases, depths_may_be_equal_infinite_signed_zero_or_NaN) {
    const float depths[] = {not_a_number, 1, infinity, -0.0f, 0.0f, not_a_number, -infinity, 1};
    Random random(98);
    for (int p : group_sizes) {
        expect_the_serial_fold<Nearest>(shuffled(random, p, pixels), [&](int layer, Elements i) {
            // At some pixels, all depths are NaN, or NaN and infinity.
            const auto most = static_cast<std::uint64_t>(i % 8 + 1);
            const auto at = static_cast<std::uint64_t>(layer * 1009 + i);
            const auto choice = static_cast<std::size_t>(test::unit(at) * 1e6f) % most;
            return RgbaDepthF32{static_cast<float>(layer), 0, 0, 1, depths[choice]};
        });
    }
}

TEST(NearestEdgeCases, a_NaN_depth_loses_to_every_other_depth) {
    for (int p : group_sizes) {
        for (int only : {0, p / 2, p - 1}) {
            const Task task = one_image_each(p, pixels);
            const auto paint = [&](int layer, Elements) {
                const float depth = layer == only ? infinity : not_a_number;
                return RgbaDepthF32{static_cast<float>(layer), 0, 0, 1, depth};
            };
            EXPECT_EQ(serial_fold<Nearest>(task, paint)[0].r, static_cast<float>(only));
            expect_the_serial_fold<Nearest>(task, paint);
        }
    }
}

} // namespace
} // namespace sextant::compositing
