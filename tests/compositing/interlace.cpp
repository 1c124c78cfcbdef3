// SPDX-License-Identifier: BSD-3-Clause
// Interlaced images, whose pixels are assigned to ranks cyclically in blocks, with every algorithm.
#include "sextant/compositing/interlace.hpp"

#include "sextant/comm/threads.hpp"
#include "sextant/kernel/fold/catalogue.hpp"

#include <algorithm>
#include <set>

#include "tests/support/blending.hpp"
#include "tests/support/compositing_cases.hpp"
#include "tests/support/reference_prover.hpp"
#include <gtest/gtest.h>

namespace sextant::compositing {
namespace {

/// Calls `check(algorithm, tuning, p)` for every algorithm with all parameters.
template <class Look>
void for_each_tuning(const std::vector<int>& positions, Look&& check) {
    for (const Algorithm& algorithm : catalogue()) {
        for (const int p : positions) {
            for (const Tuning& tuning : algorithm.tunings(p))
                check(algorithm, tuning, p);
        }
    }
}

Tuning interlaced_by(Tuning tuning, Elements block) {
    tuning.interlace = block;
    return tuning;
}

/// Reference for the interlaced order of pixels: assigns each block in turn to the next of `decks`
/// groups, and lists the pixels group by group.
std::vector<Elements> dealt_readably(Elements pixels, Elements block, int decks) {
    std::vector<std::vector<Elements>> deck(static_cast<std::size_t>(decks));
    for (Elements pixel = 0; pixel < pixels; ++pixel)
        deck[static_cast<std::size_t>(pixel / block % decks)].push_back(pixel);
    std::vector<Elements> order;
    for (const auto& each : deck)
        order.insert(order.end(), each.begin(), each.end());
    return order;
}

TEST(Interlacing, distributes_blocks_cyclically_and_locates_every_piece) {
    for (const Elements pixels : {1, 5, 36, 37, 100}) {
        for (const Elements block : {1, 3, 7, 200}) {
            for (const int decks : {2, 3, 5, 8}) {
                const Interleaving interlacing(pixels, block, decks);
                const std::vector<Elements> order = dealt_readably(pixels, block, decks);
                for (Elements first = 0; first < pixels; ++first) {
                    ASSERT_EQ(interlacing.pixel(first), order[static_cast<std::size_t>(first)]);
                    const Elements count = (pixels - first) / 2 + 1;
                    std::vector<Region> regions;
                    interlacing.append(regions, 3, 1000, first, count);
                    Elements at = first;
                    for (const Region& region : regions) {
                        EXPECT_EQ(region.buffer, 3);
                        for (Elements e = 0; e < region.elements(); ++e, ++at)
                            ASSERT_EQ(region.at(e), 1000 + order[static_cast<std::size_t>(at)]);
                    }
                    ASSERT_EQ(at, first + count);
                }
            }
        }
    }
}

TEST(Interlacing, is_proved_for_every_algorithm_size_and_root) {
    std::vector<int> positions;
    for (int p = 1; p <= 17; ++p)
        positions.push_back(p);
    for_each_tuning(positions, [](const Algorithm& algorithm, const Tuning& tuning, int p) {
        for (const Elements n : {0, 1, 37, 6 * p + 5}) {
            for (const int root : std::set<int>{Task::distributed, 0, p - 1}) {
                for (const Elements block : {1, 4}) {
                    const test::Case c = test::compositing_case(
                        algorithm, one_image_each(p, n, root), interlaced_by(tuning, block));
                    EXPECT_EQ(prove(c.schedule, c.claim).error, "") << c.name;
                }
            }
        }
    });
}

TEST(Interlacing, is_proved_for_layers_in_any_order_and_ranks_without_images) {
    test::Random random(72);
    for_each_tuning({1, 2, 3, 4, 7, 8}, [&](const Algorithm& algorithm, const Tuning& tuning,
                                            int p) {
        Task task = test::rough_task(random, p, 5 * p + 3);
        for (const int root : {Task::distributed, test::outsider(task), task.order.front()}) {
            task.root = root;
            const test::Case c = test::compositing_case(algorithm, task, interlaced_by(tuning, 2));
            EXPECT_EQ(prove(c.schedule, c.claim).error, "") << c.name;
            EXPECT_EQ(test::what_is_wrong(c.schedule, c.claim), "") << c.name;
        }
    });
}

TEST(Interlacing, refuses_a_misplaced_piece) {
    const Task task = one_image_each(4, 37, 0);
    const Tuning tuning = interlaced_by({}, 3);
    test::Case c = test::compositing_case(find("direct-send"), task, tuning);
    for (Step& step : c.schedule[0].steps) {
        if (step.verb != Verb::receive)
            continue;
        Region& place = c.schedule[0].regions[step.first];
        const BufferSpec& buffer = c.schedule[0].buffers[static_cast<std::size_t>(place.buffer)];
        if (buffer.role == Role::output && place.offset >= 3)
            place.offset -= 3; // position of the previous block
    }
    EXPECT_NE(prove(c.schedule, c.claim).error, "");
}

TEST(Interlacing, does_not_change_messages_data_volume_or_blending_work) {
    for_each_tuning({2, 3, 4, 8}, [](const Algorithm& algorithm, const Tuning& tuning, int p) {
        const Task task = one_image_each(p, Elements{50} * p + 7, p - 1);
        const Proof one = test::proved(test::compositing_case(algorithm, task, tuning));
        const Proof interlaced =
            test::proved(test::compositing_case(algorithm, task, interlaced_by(tuning, 10)));
        EXPECT_EQ(interlaced.messages, one.messages);
        EXPECT_EQ(interlaced.moved, one.moved);
        EXPECT_EQ(interlaced.applications, one.applications);
    });
}

/// Number of active pixels in a rank's part of the result; the upper half of the image is active.
Elements drawn(const Algorithm& algorithm, const Task& task, const Tuning& tuning, int rank) {
    const std::vector<Elements> own = pixels(algorithm, task, tuning, rank);
    return std::count_if(own.begin(), own.end(),
                         [&](Elements pixel) { return pixel < task.elements / 2; });
}

TEST(Interlacing, balances_images_that_are_active_only_in_one_half) {
    for_each_tuning({2, 3, 4, 8, 12}, [](const Algorithm& algorithm, const Tuning& tuning, int p) {
        if (algorithm.name == "binary-tree")
            return; // one rank owns the whole result
        const Elements block = 4, fair = block * p * 8;
        const Task task = one_image_each(p, 2 * fair * p);
        Elements most = 0, most_as_they_lie = 0;
        for (int rank = 0; rank < p; ++rank) {
            most = std::max(most, drawn(algorithm, task, interlaced_by(tuning, block), rank));
            most_as_they_lie = std::max(most_as_they_lie, drawn(algorithm, task, tuning, rank));
        }
        EXPECT_LE(most, fair + 2 * block) << algorithm.name << ", " << p << " ranks";
        EXPECT_EQ(most_as_they_lie, 2 * fair);
    });
}

TEST(Interlacing, needs_one_region_per_piece_if_blocks_divide_evenly) {
    const Task task = one_image_each(4, 4 * 4 * 10, 0);
    for (int rank = 0; rank < 4; ++rank) {
        const Program program =
            compositing::program(find("direct-send"), task, interlaced_by({}, 10), rank);
        for (const Step& step : program.steps)
            EXPECT_TRUE(!is_message(step.verb) || step.count == 1);
        EXPECT_EQ(std::count_if(program.steps.begin(), program.steps.end(),
                                [](const Step& step) { return step.verb == Verb::fold; }),
                  1);
    }
}

/// Images are active in their upper third, and messages skip empty pixels.
TEST(Interlacing, sparse_messages_give_the_bits_of_the_serial_fold) {
    for (const int p : {2, 3, 5, 8}) {
        const Elements width = 37, n = width * 29;
        const auto pixel = [&](int layer, Elements i) {
            return i < n / 3 && (i + layer) % 50 < 40 ? test::pixel(layer, i) : RgbaF32{};
        };
        for (const int root : {Task::distributed, p - 1}) {
            const Task task = one_image_each(p, n, root);
            const Tuning tuning = interlaced_by({}, width);
            const Algorithm& algorithm = find("direct-send");
            std::vector<RgbaF32> picture(static_cast<std::size_t>(n));
            run_threads(p, [&](Communicator communicator) {
                const int rank = communicator.rank();
                std::vector<RgbaF32> image;
                for (Elements i = 0; i < n; ++i)
                    image.push_back(pixel(rank, i));
                Execution execution(communicator, program(algorithm, task, tuning, rank),
                                    kernel::find("over", rgba_f32), {.sparse = true});
                execution.bind(0, std::as_bytes(std::span(image)));
                execution.run();
                const auto* const held =
                    reinterpret_cast<const RgbaF32*>(execution.result().data());
                const std::vector<Elements> own = pixels(algorithm, task, tuning, rank);
                for (std::size_t i = 0; i < own.size(); ++i)
                    picture[static_cast<std::size_t>(own[i])] = held[i];
                EXPECT_LT(execution.sent().bytes, std::max<Bytes>(1, execution.sent().elements));
            });
            for (Elements i = 0; i < n; ++i) {
                RgbaF32 sum = pixel(0, i);
                for (int layer = 1; layer < p; ++layer)
                    sum = kernel::over(sum, pixel(layer, i));
                ASSERT_EQ(std::memcmp(&sum, &picture[static_cast<std::size_t>(i)], sizeof sum), 0)
                    << "pixel " << i << " of " << p << " ranks, root " << root;
            }
        }
    }
}

} // namespace
} // namespace sextant::compositing
