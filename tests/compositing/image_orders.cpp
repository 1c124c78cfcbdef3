// SPDX-License-Identifier: BSD-3-Clause
// Visibility orders in which the images of a rank are not adjacent, as those of bricks of several
// levels of refinement.
#include "sextant/compositing/catalogue.hpp"
#include "sextant/core/error.hpp"

#include <string>
#include <vector>

#include "tests/support/compositing_cases.hpp"
#include "tests/support/message_of.hpp"
#include <gmock/gmock.h>

namespace sextant::compositing {
namespace {

using test::Case;
using test::Random;

using Images = std::vector<PlacedImage>;

/// All images of a task, position by position.
Images images_of(const Task& task) {
    Images images;
    for (int position = 0; position < task.positions(); ++position) {
        for (int image = 0; image < task.layers_at(position); ++image)
            images.push_back({position, image});
    }
    return images;
}

Case case_of(const Algorithm& algorithm, const Task& task, const Tuning& tuning,
             const Images& images, const Images& claimed) {
    std::string name = test::describe(algorithm, task, tuning) + ", images";
    for (const auto& [position, image] : images)
        name += fmt::format(" {}:{}", position, image);
    return {name,
            make_schedule(task.ranks,
                          [&](int rank) {
                              const Seat seat = seat_with_images(task, rank);
                              return with_peers(program(algorithm, seat, tuning, images),
                                                peers_of(task));
                          }),
            claim(algorithm, task, tuning, claimed)};
}

/// Calls `visit(algorithm, tuning, p)` for every algorithm that takes image orders.
template <class Visit>
void for_each_of_them(Visit visit) {
    for (const Algorithm& algorithm : catalogue()) {
        for (const int p : {1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 16, 17, 24}) {
            if (!takes_image_orders(algorithm))
                continue;
            for (const Tuning& tuning : algorithm.tunings(p))
                visit(algorithm, tuning, p);
        }
    }
}

TEST(ImageOrders, are_proved_for_uneven_counts_ranks_without_images_and_any_root) {
    Random random(101);
    int proved = 0;
    for_each_of_them([&](const Algorithm& algorithm, Tuning tuning, int p) {
        for (const Elements n : {Elements{0}, Elements{1}, Elements{4 * p + 1}}) {
            Task task = test::rough_task(random, p, n);
            Images images = images_of(task);
            random.shuffle(images);
            check(task, images);
            for (const int root :
                 {Task::distributed, random.pick(task.order), test::outsider(task)}) {
                task.root = root;
                for (const Elements interlace : {0, 2}) {
                    tuning.interlace = interlace;
                    const Case c = case_of(algorithm, task, tuning, images, images);
                    ASSERT_EQ(prove(c.schedule, c.claim).error, "") << c.name;
                    ++proved;
                }
            }
        }
    });
    EXPECT_GT(proved, 1000);
}

TEST(ImageOrders, that_are_wrong_are_refused_by_the_proof) {
    Random random(102);
    for_each_of_them([&](const Algorithm& algorithm, const Tuning& tuning, int p) {
        const Task task = test::rough_task(random, p, 2 * p);
        Images images = images_of(task);
        random.shuffle(images);
        if (images.size() < 2)
            return;
        Images wrong = images;
        const auto at =
            static_cast<std::size_t>(random.number(0, static_cast<int>(images.size()) - 2));
        std::swap(wrong[at], wrong[at + 1]);
        const Case c = case_of(algorithm, task, tuning, wrong, images);
        EXPECT_NE(prove(c.schedule, c.claim).error, "") << c.name;
    });
}

TEST(ImageOrders, of_adjacent_images_have_the_messages_and_folds_of_an_order_of_ranks) {
    Random random(103);
    for_each_of_them([&](const Algorithm& algorithm, const Tuning& tuning, int p) {
        Task task = test::rough_task(random, p, 4 * p + 1);
        task.root = random.pick(task.order);
        const Images images = images_of(task);
        const Case by_image = case_of(algorithm, task, tuning, images, images);
        const Case by_rank = test::compositing_case(algorithm, task, tuning);
        const Proof found = prove(by_image.schedule, by_image.claim);
        const Proof expected = prove(by_rank.schedule, by_rank.claim);
        EXPECT_EQ(found.error, "") << by_image.name;
        EXPECT_EQ(found.messages, expected.messages) << by_image.name;
        EXPECT_EQ(found.moved, expected.moved) << by_image.name;
        EXPECT_EQ(found.applications, expected.applications) << by_image.name;
    });
}

/// Two ranks with three images each: a run of two images is folded before it is sent.
TEST(ImageOrders, runs_of_adjacent_images_are_folded_before_they_are_sent) {
    Task task = one_image_each(2, 10);
    task.layers = {3, 3};
    const Images images{{0, 2}, {0, 0}, {1, 1}, {1, 0}, {0, 1}, {1, 2}};
    const Case folded = case_of(find("radix-k"), task, {{2}, 0}, images, images);
    const Case unfolded = case_of(find("direct-send"), task, {}, images, images);
    // A rank sends half of the pixels of its two runs, or of its three images.
    EXPECT_EQ(prove(folded.schedule, folded.claim).moved, 2 * 2 * 5);
    EXPECT_EQ(prove(unfolded.schedule, unfolded.claim).moved, 2 * 3 * 5);
}

std::string refusal(const auto& call) {
    return test::message_of<InvalidTask>([&] { call(); });
}

TEST(ImageOrders, must_name_every_image_once) {
    Task task = one_image_each(2, 10);
    task.layers = {2, 1};
    const auto said = [&](const Images& images) { return refusal([&] { check(task, images); }); };
    EXPECT_EQ(said({{0, 1}, {1, 0}, {0, 0}}), "");
    EXPECT_EQ(said({{0, 1}, {1, 0}}), "the image order names 2 of 3 images");
    EXPECT_EQ(said({{0, 1}, {1, 0}, {0, 1}}), "the image order names image 1 of position 0 twice");
    EXPECT_EQ(said({{0, 1}, {1, 1}, {0, 0}}),
              "the image order names image 1 of position 1, which does not exist");
    EXPECT_EQ(said({{0, 1}, {2, 0}, {0, 0}}),
              "the image order names image 0 of position 2, which does not exist");
}

TEST(ImageOrders, are_refused_by_the_other_algorithms) {
    const Task task = one_image_each(4, 10);
    const Images images = images_of(task);
    for (const Algorithm& algorithm : catalogue()) {
        if (takes_image_orders(algorithm))
            continue;
        EXPECT_THAT(refusal([&] {
                        program(algorithm, seat_with_images(task, 0), algorithm.tunings(4).front(),
                                images);
                    }),
                    testing::StartsWith(std::string(algorithm.name) +
                                        " requires the images of a rank to be adjacent; "));
    }
}

} // namespace
} // namespace sextant::compositing
