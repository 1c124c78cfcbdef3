// SPDX-License-Identifier: BSD-3-Clause
// Direct-Send of the rectangles that images draw.
#include "sextant/compositing/drawn_images.hpp"

#include "sextant/compositing/catalogue.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/compositing_cases.hpp"
#include <gmock/gmock.h>

namespace sextant::compositing {
namespace {

using test::Random;

/// All images of a task in a random order, with random rectangles, of which some are empty and some
/// are whole images.
std::vector<DrawnImage> random_images(Random& random, const Task& task, int width, int height) {
    std::vector<DrawnImage> images;
    for (int position = 0; position < task.positions(); ++position) {
        for (int image = 0; image < task.layers_at(position); ++image) {
            const int left = random.number(0, width), top = random.number(0, height);
            images.push_back({{position, image},
                              left,
                              top,
                              random.number(0, width - left),
                              random.number(0, height - top)});
            if (random.chance(20))
                images.back() = {{position, image}, 0, 0, width, height};
        }
    }
    random.shuffle(images);
    return images;
}

std::string error_of(const Task& task, int width, const std::vector<DrawnImage>& programmed,
                     const std::vector<DrawnImage>& claimed) {
    const Schedule schedule = make_schedule(task.ranks, [&](int rank) {
        const Seat seat = seat_with_images(task, rank);
        return with_peers(DrawnImages(seat.task, width, programmed).program(seat.rank),
                          peers_of(task));
    });
    // The claim of positions, for ranks.
    const Claim of_positions = DrawnImages(seat_with_images(task, 0).task, width, claimed).claim();
    const auto position_of = [task](int rank) { return seat_with_images(task, rank).rank; };
    Claim claim = of_positions;
    claim.given = [=](int rank, int buffer, Elements element) {
        return of_positions.given(position_of(rank), buffer, element);
    };
    claim.wanted = [=](int rank, const std::vector<Symbol>& result) {
        return of_positions.wanted(position_of(rank), result);
    };
    return prove(schedule, claim).error;
}

TEST(DrawnImagesProof, covers_odd_and_uneven_counts_ranks_without_images_and_any_root) {
    Random random(111);
    for (const int p : {1, 2, 3, 4, 5, 7, 8, 11, 13, 16}) {
        for (const auto& [width, height] : {std::pair{1, 1}, {13, 9}, {7, 23}, {5, 0}, {0, 3}}) {
            Task task = test::rough_task(random, p, Elements{width} * height);
            for (const int root :
                 {Task::distributed, random.pick(task.order), test::outsider(task)}) {
                task.root = root;
                const std::vector<DrawnImage> images = random_images(random, task, width, height);
                ASSERT_EQ(error_of(task, width, images, images), "")
                    << p << " positions, " << width << "x" << height << ", root " << root;
            }
        }
    }
}

TEST(DrawnImagesProof, refuses_another_order_and_another_rectangle) {
    Random random(112);
    const int width = 13, height = 9;
    for (const int p : {2, 3, 5, 8}) {
        Task task = test::rough_task(random, p, width * height);
        std::vector<DrawnImage> images = random_images(random, task, width, height);
        for (DrawnImage& each : images)
            each = {each.at, 1, 1, 8, 7};
        std::vector<DrawnImage> wrong = images;
        std::swap(wrong[0].at, wrong[1].at);
        EXPECT_NE(error_of(task, width, wrong, images), "");
        wrong = images;
        wrong[0].width = 7;
        EXPECT_NE(error_of(task, width, wrong, images), "");
    }
}

TEST(DrawnImages, are_sent_without_the_pixels_outside_their_rectangles) {
    const int width = 16, height = 16;
    const Task task = one_image_each(4, width * height, 0);
    std::vector<DrawnImage> images;
    for (int position = 0; position < 4; ++position)
        images.push_back({{position, 0}, 4 * position, 0, 4, height});
    const DrawnImages drawn(task, width, images);
    const Schedule schedule =
        make_schedule(4, [&](int position) { return drawn.program(position); });
    const Proof proof = prove(schedule, drawn.claim());
    EXPECT_EQ(proof.error, "");
    // Three quarters of each rectangle to its owners, and of the composited image to the root.
    EXPECT_EQ(proof.moved, 4 * 48 + 192);
}

TEST(DrawnImages, are_divided_such_that_ranks_read_and_write_as_many_pixels) {
    const int width = 64, height = 640;
    const Task task = one_image_each(8, width * height);
    std::vector<DrawnImage> images; // all of them draw in the same eighth of the image
    for (int position = 0; position < 8; ++position)
        images.push_back({{position, 0}, 0, 0, width, height / 8});
    const DrawnImages drawn(task, width, images);
    const auto work = [&](int position) {
        const Piece piece = drawn.piece(position);
        const Elements busy =
            std::clamp<Elements>(width * height / 8 - piece.first, 0, piece.count);
        return piece.count + 8 * busy;
    };
    Elements covered = 0, most = 0, all = 0;
    for (int position = 0; position < 8; ++position) {
        EXPECT_EQ(drawn.piece(position).first, covered);
        covered += drawn.piece(position).count;
        most = std::max(most, work(position));
        all += work(position);
    }
    EXPECT_EQ(covered, width * height);
    EXPECT_LT(most, all / 8 * 11 / 10);
}

} // namespace
} // namespace sextant::compositing
