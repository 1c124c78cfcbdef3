// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/compositing/catalogue.hpp"
#include "sextant/compositing/composite_task.hpp"
#include "sextant/compositing/swap_algorithms.hpp"
#include "sextant/core/error.hpp"

#include <algorithm>
#include <functional>
#include <set>

#include "tests/support/compositing_cases.hpp"
#include "tests/support/message_of.hpp"
#include <gmock/gmock.h>

namespace sextant::compositing {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string refusal(const std::function<void()>& action) {
    return test::message_of<InvalidTask>([&] { action(); });
}

std::string refusal(const Task& task) {
    return refusal([&] { check(task); });
}

TEST(Task, with_one_image_per_rank_has_one_layer_each_in_rank_order) {
    const Task task = one_image_each(3, 10, 2);
    EXPECT_EQ(task.ranks, 3);
    EXPECT_EQ(task.elements, 10);
    EXPECT_THAT(task.order, ElementsAre(0, 1, 2));
    EXPECT_THAT(task.layers, ElementsAre(1, 1, 1));
    EXPECT_EQ(task.root, 2);
    EXPECT_EQ(task.positions(), 3);
    EXPECT_EQ(task.all_layers(), 3);
    EXPECT_EQ(refusal(task), "");
}

TEST(Task, gives_the_position_of_each_rank_with_an_image) {
    Task task = one_image_each(3, 10);
    task.ranks = 5;
    task.order = {4, 0, 2};
    EXPECT_EQ(task.position_of(4), 0);
    EXPECT_EQ(task.position_of(0), 1);
    EXPECT_EQ(task.position_of(2), 2);
    EXPECT_EQ(task.position_of(1), -1);
    EXPECT_EQ(task.position_of(Task::distributed), -1);
}

TEST(Task, is_divided_into_parts_that_differ_by_at_most_one_pixel) {
    for (int p : {1, 2, 3, 7, 12}) {
        for (Elements n : {0, 1, 5, 12, 997}) {
            const Task task = one_image_each(p, n);
            Elements next = 0;
            for (int i = 0; i < p; ++i) {
                const Piece piece = equal_part(task, i);
                EXPECT_EQ(piece.first, next);
                EXPECT_GE(piece.count, n / p);
                EXPECT_LE(piece.count, n / p + 1);
                next += piece.count;
            }
            EXPECT_EQ(next, n);
        }
    }
}

TEST(Task, is_accepted_if_valid) {
    test::Random random(71);
    for (int trial = 0; trial < 100; ++trial) {
        EXPECT_EQ(refusal(test::rough_task(random, random.number(0, 9), trial)), "");
    }
    EXPECT_EQ(refusal(one_image_each(1, 0)), "");
}

TEST(Task, is_refused_naming_the_wrong_value_if_invalid) {
    const Task good = one_image_each(4, 10);
    const auto with = [&](const std::function<void(Task&)>& change) {
        Task task = good;
        change(task);
        return refusal(task);
    };
    EXPECT_THAT(with([](Task& t) { t.ranks = 0; }), HasSubstr("0 ranks"));
    EXPECT_THAT(with([](Task& t) { t.elements = -1; }), HasSubstr("-1 pixels"));
    EXPECT_THAT(with([](Task& t) { t.layers.pop_back(); }), HasSubstr("3 layer counts for 4"));
    EXPECT_THAT(with([](Task& t) { t.order[2] = 4; }), HasSubstr("rank 4: expected 0 to 3"));
    EXPECT_THAT(with([](Task& t) { t.order[2] = -1; }), HasSubstr("rank -1"));
    EXPECT_THAT(with([](Task& t) { t.order[2] = 1; }), HasSubstr("rank 1 twice"));
    EXPECT_THAT(with([](Task& t) { t.layers[3] = 0; }),
                HasSubstr("rank 3 is in the visibility order but has 0"));
    EXPECT_THAT(with([](Task& t) { t.root = 4; }), HasSubstr("rank 4: expected 0 to 3"));
    EXPECT_THAT(with([](Task& t) { t.root = -2; }), HasSubstr("rank -2"));
}

TEST(Tuning, is_printed_with_the_parameters_that_are_set) {
    EXPECT_EQ(to_text({}), "");
    EXPECT_EQ(to_text({{4, 2}, 0}), "radices 4,2");
    EXPECT_EQ(to_text({{}, 1}), "window 1");
    EXPECT_EQ(to_text({{4, 2}, 1}), "radices 4,2, window 1");
}

TEST(Factorisations, are_listed_once_each_with_the_fewest_rounds_first) {
    for (int p = 1; p <= 200; ++p) {
        const auto all = factorisations(p);
        const std::set<std::vector<int>> unique(all.begin(), all.end());
        EXPECT_EQ(unique.size(), all.size()) << p;
        EXPECT_EQ(std::ssize(all), count_factorisations(p)) << p;
        std::size_t rounds = 0;
        for (const auto& radices : all) {
            EXPECT_GE(radices.size(), rounds);
            rounds = radices.size();
            EXPECT_EQ(refusal([&] { check_radices(radices, p); }), "");
        }
    }
    EXPECT_THAT(factorisations(1), ElementsAre(IsEmpty()));
    EXPECT_THAT(factorisations(13), ElementsAre(ElementsAre(13)));
    EXPECT_THAT(factorisations(12).front(), ElementsAre(12));
    EXPECT_EQ(factorisations(16384).size(), 8192u);
    EXPECT_EQ(count_factorisations(12), 8) << "12, 6,2, 4,3, 3,4, 3,2,2, 2,6, 2,3,2, 2,2,3";
    EXPECT_EQ(count_factorisations(60480), 1096512);
}

TEST(Factorisations, are_listed_in_falling_and_rising_order_if_there_are_too_many) {
    for (const int p : {16128, 60480, 65536}) {
        const std::vector<Tuning> tunings = find("radix-k").tunings(p);
        EXPECT_LE(tunings.size(), 8192u);
        EXPECT_THAT(tunings.front().radices, ElementsAre(p));
        for (const Tuning& tuning : tunings) {
            const auto& radices = tuning.radices;
            EXPECT_TRUE(std::is_sorted(radices.begin(), radices.end()) ||
                        std::is_sorted(radices.rbegin(), radices.rend()));
            EXPECT_EQ(refusal([&] { check_radices(radices, p); }), "");
        }
    }
}

TEST(RadixK, refuses_radices_whose_product_is_not_the_number_of_positions) {
    const auto said = [](const std::vector<int>& radices, int positions) {
        return refusal([&] { check_radices(radices, positions); });
    };
    EXPECT_EQ(said({3, 2}, 7), "radices 3,2 multiply to 6, but 7 ranks hold images");
    EXPECT_EQ(said({7, 1}, 7), "radices 7,1: 1 is less than 2");
    EXPECT_THAT(said({}, 2), HasSubstr("multiply to 1"));
    EXPECT_THAT(said({-2, -3}, 6), HasSubstr("-2 is less than 2"));
    EXPECT_NE(said(std::vector<int>(40, 1 << 30), 1), "");
    EXPECT_NE(refusal([] { radix_k(one_image_each(7, 10), std::vector<int>{3, 2}, 0); }), "");
}

TEST(BinarySwap, supports_only_powers_of_two_and_suggests_other_algorithms) {
    EXPECT_THAT(binary_swap_radices(1), IsEmpty());
    EXPECT_THAT(binary_swap_radices(8), ElementsAre(2, 2, 2));
    for (int p : {3, 5, 6, 7, 12, 36, 1000}) {
        EXPECT_THAT(refusal([&] { binary_swap_radices(p); }), HasSubstr("radix-k"));
        EXPECT_THAT(refusal([&] { binary_swap(one_image_each(p, 10), 0); }),
                    HasSubstr("power of two"));
    }
}

TEST(CompositingCatalogue, rows_are_complete_and_found_by_name) {
    std::set<std::string_view> names;
    for (const Algorithm& algorithm : catalogue()) {
        EXPECT_TRUE(names.insert(algorithm.name).second) << algorithm.name << " twice";
        EXPECT_EQ(&find(algorithm.name), &algorithm);
        EXPECT_FALSE(algorithm.summary.empty());
        EXPECT_THAT(std::string(algorithm.source), HasSubstr("doi:10."));
    }
    EXPECT_TRUE(names.contains("direct-send") && names.contains("radix-k"));
}

TEST(CompositingCatalogue, cites_the_right_doi_for_direct_send_and_binary_swap) {
    EXPECT_THAT(std::string(find("direct-send").source), HasSubstr("doi:10.1109/38.291531"));
    EXPECT_THAT(std::string(find("binary-swap").source), HasSubstr("doi:10.1109/38.291532"));
}

TEST(CompositingCatalogue, every_algorithm_but_binary_swap_supports_any_number_of_ranks) {
    for (const Algorithm& algorithm : catalogue()) {
        int taken = 0;
        for (int p = 1; p <= 64; ++p)
            taken += !algorithm.tunings(p).empty();
        EXPECT_TRUE(taken == 64 || (algorithm.name == "binary-swap" && taken == 7))
            << algorithm.name << " takes " << taken;
    }
}

TEST(CompositingCatalogue, pieces_cover_the_image_once_and_match_the_programs) {
    test::Random random(72);
    for (const Algorithm& algorithm : catalogue()) {
        for (int p : {1, 2, 4, 7, 8, 12}) {
            for (const Tuning& tuning : algorithm.tunings(p)) {
                Task task = test::rough_task(random, p, 3 * p + 1);
                Elements covered = 0;
                for (int rank = 0; rank < task.ranks; ++rank) {
                    const Piece held = piece(algorithm, task, tuning, rank);
                    EXPECT_EQ(program(algorithm, task, tuning, rank).result.elements(), held.count);
                    covered += held.count;
                }
                EXPECT_EQ(covered, task.elements);
                task.root = test::outsider(task);
                EXPECT_EQ(piece(algorithm, task, tuning, task.root).count, task.elements);
                EXPECT_EQ(piece(algorithm, task, tuning, task.order[0]).count, 0);
            }
        }
    }
}

TEST(Collect, writes_the_image_to_the_callers_buffer_at_the_root_only) {
    test::Random random(73);
    for (const Algorithm& algorithm : catalogue()) {
        for (int p : {1, 2, 3, 4, 8}) {
            for (const Tuning& tuning : algorithm.tunings(p)) {
                Task task = test::rough_task(random, p, 3 * p + 1);
                for (int root = 0; root < task.ranks; ++root) {
                    task.root = root;
                    for (int rank = 0; rank < task.ranks; ++rank) {
                        const Program own = program(algorithm, task, tuning, rank);
                        EXPECT_EQ(own.result.elements(), rank == root ? task.elements : 0);
                        if (rank != root)
                            continue;
                        const auto buffer = static_cast<std::size_t>(own.result.buffer);
                        const bool only_image =
                            task.order == std::vector<int>{root} && task.layers[0] == 1;
                        EXPECT_EQ(own.buffers[buffer].role, only_image ? Role::input : Role::output)
                            << test::describe(algorithm, task, tuning);
                    }
                }
            }
        }
    }
}

TEST(Collect, needs_no_copy_if_the_last_fold_of_the_root_can_write_the_image) {
    for (const Algorithm& algorithm : catalogue()) {
        for (int p : {2, 4, 8}) {
            for (const Tuning& tuning : algorithm.tunings(p)) {
                const Task task = one_image_each(p, 5 * p, p / 2);
                for (const Step& step : program(algorithm, task, tuning, p / 2).steps) {
                    EXPECT_NE(step.verb, Verb::copy) << algorithm.name;
                }
            }
        }
    }
}

} // namespace
} // namespace sextant::compositing
