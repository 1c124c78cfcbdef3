// SPDX-License-Identifier: BSD-3-Clause
// Pictures that are collected in segments, by every algorithm.
#include "sextant/compositing/collect.hpp"

#include <set>

#include "tests/support/compositing_cases.hpp"
#include "tests/support/reference_prover.hpp"
#include <gtest/gtest.h>

namespace sextant::compositing {
namespace {

/// The usual tuning of an algorithm, with segments.
Tuning segmented(const Algorithm& algorithm, int p, int segments) {
    Tuning tuning = algorithm.tunings(p).front();
    tuning.segments = segments;
    return tuning;
}

/// Calls `look(algorithm, tuning, p)` for every algorithm, cut in some numbers of segments.
template <class Look>
void for_each_cut(const std::vector<int>& positions, Look&& look) {
    for (const Algorithm& algorithm : catalogue()) {
        for (const int p : positions) {
            for (const int segments : {2, 3, 8}) {
                if (!algorithm.tunings(p).empty())
                    look(algorithm, segmented(algorithm, p, segments), p);
            }
        }
    }
}

TEST(Segments, prove_whatever_the_algorithm_the_pixels_and_the_root) {
    for_each_cut(
        {1, 2, 3, 4, 7, 8, 12}, [](const Algorithm& algorithm, const Tuning& tuning, int p) {
            for (const Elements n : {0, 1, 3, 37, 4 * p + 1}) {
                for (const int root : std::set<int>{0, p / 2, p - 1}) {
                    const test::Case c =
                        test::compositing_case(algorithm, one_image_each(p, n, root), tuning);
                    EXPECT_EQ(prove(c.schedule, c.claim).error, "") << c.name;
                }
            }
        });
}

TEST(Segments, prove_with_layers_in_any_order_collected_by_a_rank_without_images) {
    test::Random random(71);
    for_each_cut({1, 2, 3, 4, 8}, [&](const Algorithm& algorithm, const Tuning& tuning, int p) {
        Task task = test::rough_task(random, p, 5 * p + 3);
        for (const int root : {test::outsider(task), task.order.front()}) {
            task.root = root;
            const test::Case c = test::compositing_case(algorithm, task, tuning);
            EXPECT_EQ(prove(c.schedule, c.claim).error, "") << c.name;
            EXPECT_EQ(test::what_is_wrong(c.schedule, c.claim), "") << c.name;
        }
    });
}

TEST(Segments, leave_a_picture_that_stays_distributed_in_one_piece) {
    for_each_cut({2, 4, 8}, [](const Algorithm& algorithm, const Tuning& tuning, int p) {
        Tuning whole = tuning;
        whole.segments = 0;
        const Task task = one_image_each(p, 5 * p + 3);
        for (int rank = 0; rank < p; ++rank) {
            const Program cut = program(algorithm, task, tuning, rank);
            EXPECT_EQ(cut.steps.size(), program(algorithm, task, whole, rank).steps.size());
            EXPECT_EQ(cut.result.elements(), piece(algorithm, task, tuning, rank).count);
        }
    });
}

TEST(Segments, move_and_blend_as_much_as_one_piece_in_so_many_messages) {
    for_each_cut({2, 4, 8}, [](const Algorithm& algorithm, const Tuning& tuning, int p) {
        if (algorithm.name == "direct-send")
            return; // whose parts differ where it is cut
        Tuning whole = tuning;
        whole.segments = 0;
        const Task task = one_image_each(p, Elements{24} * p, p - 1);
        const Proof one = test::proved(test::compositing_case(algorithm, task, whole));
        const Proof cut = test::proved(test::compositing_case(algorithm, task, tuning));
        EXPECT_EQ(cut.messages, one.messages * tuning.segments);
        EXPECT_EQ(cut.moved, one.moved);
        EXPECT_EQ(cut.applications, one.applications);
    });
}

/// Elements that a rank of a program receives, reads to blend, and writes.
Elements touched(const Program& program) {
    Elements elements = 0;
    for (const Step& step : program.steps) {
        if (step.verb == Verb::receive)
            elements += 2 * program.elements_of(step);
        if (step.verb == Verb::fold)
            elements += (static_cast<Elements>(step.count) + 1) * program.elements_of(step);
    }
    return elements;
}

TEST(Segments, of_direct_send_give_the_root_as_much_to_do_as_others) {
    for (const int p : {2, 3, 4, 8, 32}) {
        for (const int root : {0, p / 2, p - 1}) {
            const Task task = one_image_each(p, 12000 * p, root);
            const auto work = [&](int rank, int segments) {
                const Tuning tuning{{}, 0, segments};
                return static_cast<double>(
                    touched(program(find("direct-send"), task, tuning, rank)));
            };
            const int other = (root + 1) % p;
            EXPECT_NEAR(work(root, 4) / work(other, 4), 1, .01) << p << " ranks, root " << root;
            EXPECT_GT(work(root, 0) / work(other, 0), 1.3) << "in one piece";
        }
    }
}

TEST(Segments, take_memory_for_two_of_them_beside_the_picture) {
    for_each_cut({2, 4, 8}, [](const Algorithm& algorithm, const Tuning& tuning, int p) {
        Tuning whole = tuning;
        whole.segments = 0;
        const Elements n = Elements{24} * p * p;
        const Task task = one_image_each(p, n, 0);
        const auto scratch = [&](const Tuning& tuned, int rank) {
            Elements elements = 0;
            for (const BufferSpec& buffer : program(algorithm, task, tuned, rank).buffers)
                elements += buffer.role == Role::scratch ? buffer.size : 0;
            return static_cast<double>(elements);
        };
        for (int rank = 0; rank < p; ++rank) {
            // The tree at the root has its sum in the picture, where it is in one piece; and the
            // parts of direct-send differ.
            const double most = scratch(whole, rank) + static_cast<double>(rank == 0 ? n : 0);
            EXPECT_LE(scratch(tuning, rank), 2.8 * most / tuning.segments)
                << algorithm.name << ", rank " << rank << " of " << p;
        }
    });
}

} // namespace
} // namespace sextant::compositing
