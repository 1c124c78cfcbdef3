// SPDX-License-Identifier: BSD-3-Clause
// Costs of schedules, taken from their proofs and compared with the formulas of the literature.
#include "sextant/schedule/dependences.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "tests/support/compositing_cases.hpp"
#include <gtest/gtest.h>

namespace sextant::compositing {
namespace {

using test::proved;

constexpr int positions[] = {1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 17, 24, 30, 36};

Proof cost(std::string_view name, const Task& task, const Tuning& tuning) {
    return proved(test::compositing_case(find(name), task, tuning));
}

/// Σ (k_i − 1), the messages of a position in Radix-k; p − 1 without radices.
int messages_of(const Tuning& tuning, int p) {
    if (tuning.radices.empty())
        return p - 1;
    return std::accumulate(tuning.radices.begin(), tuning.radices.end(), 0) -
           static_cast<int>(tuning.radices.size());
}

/// Expects that each rank moves n (p−1)/p pixels and blends the same number.
void expect_costs(const Proof& proof, int p, Elements n, int messages) {
    ASSERT_EQ(proof.error, "");
    EXPECT_EQ(proof.messages, Elements{p} * messages);
    EXPECT_EQ(proof.most_messages, messages);
    EXPECT_EQ(proof.moved, n * (p - 1));
    EXPECT_EQ(proof.most_moved, n * (p - 1) / p);
    EXPECT_EQ(proof.applications, n * (p - 1));
    EXPECT_EQ(proof.most_applications, n * (p - 1) / p);
}

TEST(CompositingCost, direct_send_takes_p_minus_1_messages_per_rank) {
    for (int p : positions) {
        const Proof proof = cost("direct-send", one_image_each(p, 2 * p), {});
        expect_costs(proof, p, 2 * p, p - 1);
        EXPECT_EQ(proof.depth, p - 1);
    }
}

TEST(CompositingCost, shift_based_costs_as_much_as_direct_send_at_any_window) {
    for (int p : positions) {
        for (int window : {1, 2, 5}) {
            expect_costs(cost("shift-based", one_image_each(p, 2 * p), {{}, window}), p, 2 * p,
                         p - 1);
        }
    }
}

TEST(CompositingCost, radix_k_takes_the_sum_of_radices_minus_1_messages_per_rank) {
    for (int p : positions) {
        for (const Tuning& tuning : find("radix-k").tunings(p)) {
            const int messages = p == 1 ? 0 : messages_of(tuning, p);
            const Proof proof = cost("radix-k", one_image_each(p, 2 * p), tuning);
            expect_costs(proof, p, 2 * p, messages);
            EXPECT_EQ(proof.depth, messages) << "each round blends one after another";
        }
    }
}

TEST(CompositingCost, binary_swap_takes_log2_p_messages_per_rank) {
    for (int p = 1; p <= 64; p *= 2) {
        const int rounds = std::countr_zero(static_cast<unsigned>(p));
        const Proof proof = cost("binary-swap", one_image_each(p, 2 * p), {});
        expect_costs(proof, p, 2 * p, rounds);
        EXPECT_EQ(proof.depth, rounds);
    }
}

TEST(CompositingCost, parallel_pipeline_is_a_chain_of_p_minus_1_operator_applications) {
    for (int p : positions) {
        const Proof proof = cost("parallel-pipeline", one_image_each(p, 2 * p), {});
        EXPECT_EQ(proof.messages, p * (p - 1));
        EXPECT_EQ(proof.applications, 2 * p * (p - 1));
        EXPECT_EQ(proof.depth, p - 1);
    }
}

TEST(CompositingCost, binary_tree_takes_log2_p_rounds_of_whole_images) {
    for (int p : positions) {
        const Proof proof = cost("binary-tree", one_image_each(p, 2 * p), {});
        EXPECT_EQ(proof.messages, p - 1);
        EXPECT_EQ(proof.moved, 2 * p * (p - 1));
        EXPECT_EQ(proof.depth, test::ceil_log2(p));
        EXPECT_EQ(proof.most_applications, 2 * p * proof.depth);
    }
}

TEST(CompositingCost,
     two_three_swap_takes_log2_p_rounds_with_at_most_two_extra_operator_applications) {
    for (int p : positions) {
        const Proof proof = cost("two-three-swap", one_image_each(p, 2 * p), {});
        EXPECT_EQ(proof.moved, 2 * p * (p - 1));
        EXPECT_EQ(proof.most_moved, 2 * (p - 1));
        EXPECT_EQ(proof.applications, 2 * p * (p - 1));
        // A group with three children adds one application to the depth; at most two such groups
        // are nested.
        const int rounds = std::bit_width(static_cast<unsigned>(p)) - 1;
        EXPECT_GE(proof.depth, test::ceil_log2(p));
        EXPECT_LE(proof.depth, rounds + 2);
    }
}

TEST(CompositingCost, direct_send_sends_every_layer_and_radix_k_blends_layers_before_sending) {
    for (int p : {2, 3, 4, 6, 8}) {
        for (int layers : {2, 3}) {
            const Elements n = 6 * p;
            Task task = one_image_each(p, n);
            std::fill(task.layers.begin(), task.layers.end(), layers);
            const Proof direct = cost("direct-send", task, {});
            EXPECT_EQ(direct.moved, n * (p - 1) * layers);
            EXPECT_EQ(direct.applications, n * (p * layers - 1));
            const Proof radix = cost("radix-k", task, find("radix-k").tunings(p).back());
            EXPECT_EQ(radix.moved, n * (p - 1));
            EXPECT_EQ(radix.applications, n * (p * layers - 1));
        }
    }
}

TEST(CompositingCost, collecting_takes_one_message_per_piece_owner) {
    for (const Algorithm& algorithm : catalogue()) {
        for (int p : {2, 3, 4, 8, 12}) {
            for (const Tuning& tuning : algorithm.tunings(p)) {
                const Elements n = 2 * p;
                const Task collected = one_image_each(p, n, p - 1);
                const Proof alone = cost(algorithm.name, one_image_each(p, n), tuning);
                const Proof with = cost(algorithm.name, collected, tuning);
                // The root of the tree is the collecting rank, so no collection is needed.
                const bool at_root = algorithm.piece(collected, tuning, p - 1).count == n;
                EXPECT_EQ(at_root, algorithm.name == "binary-tree");
                EXPECT_EQ(with.messages, alone.messages + (at_root ? 0 : p - 1));
                EXPECT_EQ(with.moved, alone.moved + (at_root ? 0 : n * (p - 1) / p));
                EXPECT_EQ(with.applications, alone.applications);
                EXPECT_EQ(with.depth, alone.depth);
            }
        }
    }
}

TEST(CompositingCost, no_empty_messages_are_sent_if_ranks_outnumber_pixels) {
    for (const Algorithm& algorithm : catalogue()) {
        for (const Tuning& tuning : algorithm.tunings(16)) {
            const Proof proof = cost(algorithm.name, one_image_each(16, 3, 5), tuning);
            ASSERT_EQ(proof.error, "");
            EXPECT_LE(proof.messages, proof.moved);
        }
    }
}

/// Memory of a rank in addition to its input, in images.
double beside_input(const Algorithm& algorithm, const Task& task, const Tuning& tuning, int rank) {
    Elements needed = 0;
    for (const BufferSpec& buffer : program(algorithm, task, tuning, rank).buffers)
        needed += buffer.role == Role::input ? 0 : buffer.size;
    return static_cast<double>(needed) / static_cast<double>(task.elements);
}

/// The memory limit stated in DESIGN.md, excluding the input, in images.
double most_scratch(std::string_view algorithm) {
    return algorithm == "binary-tree" ? 2 : 1; // the tree folds whole images
}

TEST(CompositingCost, memory_is_at_most_one_image_besides_the_input_and_two_at_the_root) {
    for (const Algorithm& algorithm : catalogue()) {
        for (int p = 1; p <= 70; ++p) {
            const Task task = one_image_each(p, 100 * p);
            Task collected = task;
            collected.root = p / 2;
            for (const Tuning& tuning : algorithm.tunings(p)) {
                for (int rank : {0, 1 % p, p / 2, p - 1}) {
                    EXPECT_LE(beside_input(algorithm, task, tuning, rank),
                              most_scratch(algorithm.name))
                        << test::describe(algorithm, task, tuning);
                    EXPECT_LE(beside_input(algorithm, collected, tuning, rank),
                              rank == collected.root ? 2 : most_scratch(algorithm.name))
                        << test::describe(algorithm, collected, tuning);
                }
            }
        }
    }
}

/// Memory of a rank, with its input and the composited image, if every rank has `layers` images.
Elements memory(std::string_view algorithm, const Tuning& tuning, const Task& task, int rank) {
    Elements elements = 0;
    for (const BufferSpec& buffer : program(find(algorithm), task, tuning, rank).buffers)
        elements += buffer.size;
    return elements;
}

Task layers_each(int p, Elements elements, int layers, int root) {
    Task task = one_image_each(p, elements, root);
    task.layers.assign(static_cast<std::size_t>(p), layers);
    return task;
}

TEST(CompositingCost, memory_consists_of_layers_scratch_and_the_result_at_the_root) {
    constexpr int p = 8;
    constexpr Elements image = 8 * 30;
    for (int layers : {1, 2, 4}) {
        for (int root : {Task::distributed, 0, 3}) {
            const Task task = layers_each(p, image, layers, root);
            for (int rank = 0; rank < p; ++rank) {
                const Elements held = layers * image + (rank == root ? image : 0);
                const Elements others = layers * (p - 1) * image / p;
                EXPECT_EQ(memory("direct-send", {}, task, rank), held + others);
                EXPECT_EQ(memory("shift-based", {{}, 1}, task, rank), held + others);
                for (const std::vector<int>& k : {std::vector{8}, {4, 2}, {2, 2, 2}}) {
                    const Elements given = layers > 1 ? image * (k[0] - 1) / k[0] : 0;
                    EXPECT_EQ(memory("radix-k", {k, 0}, task, rank),
                              held + image * (p - 1) / p + given);
                }
            }
        }
    }
}

/// The size of a program and the number of its dependences are linear in its number of messages.
void expect_linear(const Program& program, const std::string& name) {
    const auto messages = static_cast<std::size_t>(
        std::count_if(program.steps.begin(), program.steps.end(),
                      [](const Step& step) { return is_message(step.verb); }));
    EXPECT_LE(program.steps.size(), 2 * messages + 1) << name;
    EXPECT_LE(program.regions.size(), 3 * messages + 2) << name;
    EXPECT_LE(program.buffers.size(), messages + 2) << name;
    EXPECT_LE(Dependences(program).edges(), 5 * messages + 4) << name;
}

TEST(CompositingCost, programs_and_dependences_grow_linearly_with_messages) {
    for (const Algorithm& algorithm : catalogue()) {
        for (int p : {16, 64, 256, 1024}) {
            const std::vector<Tuning> tunings = algorithm.tunings(p);
            for (const Tuning& tuning : {tunings.front(), tunings.back()}) {
                const Task task = one_image_each(p, 4 * p, 0);
                for (int rank : {0, 1, p / 2, p - 1}) {
                    expect_linear(program(algorithm, task, tuning, rank),
                                  fmt::format("{} ({}), rank {} of {}", algorithm.name,
                                              to_text(tuning), rank, p));
                }
            }
        }
    }
}

} // namespace
} // namespace sextant::compositing
