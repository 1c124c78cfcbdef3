// SPDX-License-Identifier: BSD-3-Clause
// Pixels sent and blended by each position, counted in its program and compared with the closed
// forms of the literature.
#include "sextant/compositing/catalogue.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace sextant::compositing {
namespace {

constexpr int most_positions = 70;

/// Image sizes: divisible by p or not, with fewer pixels than positions, and so large that no piece
/// is empty.
std::vector<Elements> sizes(int p) {
    return {0, 1, Elements{p} / 2, Elements{p}, 3 * Elements{p} + 1, 997, Elements{p} * p};
}

struct Count {
    int messages = 0;
    Elements pixels = 0;

    bool operator==(const Count&) const = default;
};

void PrintTo(const Count& count, std::ostream* out) {
    *out << fmt::format("{} messages of {} pixels", count.messages, count.pixels);
}

Count count_of(Verb verb, const Program& program) {
    Count count;
    for (const Step& step : program.steps) {
        if (step.verb != verb)
            continue;
        ++count.messages;
        count.pixels += program.elements_of(step);
    }
    return count;
}

/// Number of applications of the operator to a pixel.
Elements blended_by(const Program& program) {
    Elements pixels = 0;
    for (const Step& step : program.steps) {
        if (step.verb == Verb::fold)
            pixels += (static_cast<int>(step.count) - 1) * program.elements_of(step);
    }
    return pixels;
}

/// Calls `check(task, tuning, position, program)` for every position of all tasks and parameters.
template <class Check>
void for_each_position(std::string_view name, int most, Check check) {
    const Algorithm& algorithm = find(name);
    for (int p = 1; p <= most; ++p) {
        for (Elements n : sizes(p)) {
            const Task task = one_image_each(p, n);
            for (const Tuning& tuning : algorithm.tunings(p)) {
                for (int position = 0; position < p; ++position) {
                    SCOPED_TRACE(fmt::format("{} ({}) at {} of {}, {} pixels", name,
                                             to_text(tuning), position, p, n));
                    check(task, tuning, position, program(algorithm, task, tuning, position));
                }
            }
        }
    }
}

/// Number of pixels in parts [first, last), for n pixels in p parts.
Elements parts(Elements n, int p, int first, int last) {
    return n * last / p - n * first / p;
}

/// Number of nonempty parts other than part `i`, for n pixels in p parts.
int other_parts(Elements n, int p, int i) {
    return static_cast<int>(std::min<Elements>(n, p)) - (parts(n, p, i, i + 1) > 0 ? 1 : 0);
}

TEST(CompositingCount, direct_send_and_shift_based_send_each_part_to_its_owner) {
    for (const char* name : {"direct-send", "shift-based"}) {
        for_each_position(
            name, most_positions,
            [](const Task& task, const Tuning&, int i, const Program& program) {
                const int p = task.positions();
                const Elements n = task.elements, own = parts(n, p, i, i + 1);
                EXPECT_EQ(count_of(Verb::send, program), (Count{other_parts(n, p, i), n - own}));
                EXPECT_EQ(blended_by(program), (p - 1) * own);
            });
    }
}

/// Bound on the pixels that a position sends in Radix-k: the largest or smallest sum over rounds,
/// depending on how part sizes are rounded.
Elements radix_sum(Elements n, const std::vector<int>& radices, bool most) {
    Elements sum = 0, pieces = 1;
    for (int k : radices) {
        pieces *= k;
        sum += (k - 1) * (most ? (n + pieces - 1) / pieces : n / pieces);
    }
    return sum;
}

void expect_radix_counts(const Task& task, const std::vector<int>& radices,
                         const Program& program) {
    const Elements p = task.positions(), n = task.elements;
    const Count sent = count_of(Verb::send, program);
    EXPECT_GE(n - sent.pixels, n / p) << "all but its piece";
    EXPECT_LE(n - sent.pixels, (n + p - 1) / p) << "all but its piece";
    EXPECT_GE(blended_by(program), radix_sum(n, radices, false));
    EXPECT_LE(blended_by(program), radix_sum(n, radices, true));
    if (n % p == 0) {
        EXPECT_EQ(blended_by(program), n * (p - 1) / p);
    }
    if (n >= p) {
        EXPECT_EQ(sent.messages, std::accumulate(radices.begin(), radices.end(), 0) -
                                     static_cast<int>(radices.size()));
    }
}

TEST(CompositingCount,
     each_rank_in_radix_k_sends_k_minus_1_messages_per_round_and_all_but_its_own_piece) {
    for_each_position("radix-k", most_positions,
                      [](const Task& task, const Tuning& tuning, int, const Program& program) {
                          expect_radix_counts(task, tuning.radices, program);
                      });
}

TEST(CompositingCount,
     each_rank_in_binary_swap_sends_one_message_per_round_and_all_but_its_own_piece) {
    for_each_position("binary-swap", most_positions,
                      [](const Task& task, const Tuning&, int, const Program& program) {
                          const auto p = static_cast<unsigned>(task.positions());
                          const std::vector<int> twos(static_cast<std::size_t>(std::countr_zero(p)),
                                                      2);
                          expect_radix_counts(task, twos, program);
                      });
}

/// Part c of the pipeline starts at position c + 1, so it wraps around before it reaches positions
/// 0 to c, where it is sent as two images; the part of the last position never wraps around.
TEST(CompositingCount, parallel_pipeline_sends_a_part_as_two_images_after_wrapping_around) {
    for_each_position("parallel-pipeline", most_positions,
                      [](const Task& task, const Tuning&, int i, const Program& program) {
                          const int p = task.positions();
                          const Elements n = task.elements, own = parts(n, p, i, i + 1);
                          const Elements twofold = parts(n, p, std::min(i + 1, p - 1), p - 1);
                          EXPECT_EQ(count_of(Verb::send, program),
                                    (Count{other_parts(n, p, i), n - own + twofold}));
                      });
}

/// A position sends n (p−1)/p (1 + (p−2)/2p) pixels on average and n (p−1)/p (1 + (p−2)/(p−1)) at
/// most.
TEST(CompositingCount, parallel_pipeline_sends_up_to_twice_the_data_of_direct_send) {
    for (int p = 2; p <= most_positions; ++p) {
        const Elements n = 2 * p; // makes the formulas give whole numbers
        const Task task = one_image_each(p, n);
        Elements all = 0, blended = 0;
        for (int i = 0; i < p; ++i) {
            const Program own = program(find("parallel-pipeline"), task, {}, i);
            const Elements pixels = count_of(Verb::send, own).pixels;
            EXPECT_LE(pixels, 2 * (2 * p - 3)) << i << " of " << p;
            EXPECT_EQ(pixels == 2 * (2 * p - 3), i == 0 || p == 2);
            all += pixels;
            blended += blended_by(own);
        }
        EXPECT_EQ(all, (p - 1) * (3 * p - 2)) << p;
        EXPECT_EQ(blended, n * (p - 1)) << p;
    }
}

/// Position i receives from i + 1, i + 2, i + 4, ..., for distances below its lowest set bit, and
/// sends once.
TEST(CompositingCount, binary_tree_sends_one_image_from_each_position_but_the_first) {
    for_each_position("binary-tree", most_positions,
                      [](const Task& task, const Tuning&, int i, const Program& program) {
                          const Elements n = task.elements;
                          int children = 0;
                          for (int d = 1; i + d < task.positions() && i % (2 * d) == 0; d *= 2)
                              ++children;
                          const bool sends = i > 0 && n > 0;
                          EXPECT_EQ(count_of(Verb::send, program), (Count{sends, sends ? n : 0}));
                          EXPECT_EQ(count_of(Verb::receive, program),
                                    (Count{n > 0 ? children : 0, n * children}));
                          EXPECT_EQ(blended_by(program), n * children);
                      });
}

TEST(CompositingCount, binary_tree_ends_at_its_root_without_an_extra_message) {
    for (int p = 1; p <= most_positions; ++p) {
        const int rounds = std::bit_width(static_cast<unsigned>(p - 1));
        for (int root : {0, p / 3, p / 2, p - 1}) {
            const Task task = one_image_each(p, 5, root);
            for (int rank = 0; rank < p; ++rank) {
                const Program own = program(find("binary-tree"), task, {}, rank);
                const bool sends = rank != root;
                EXPECT_EQ(count_of(Verb::send, own), (Count{sends, sends ? 5 : 0}));
                EXPECT_LE(count_of(Verb::receive, own).messages, rounds);
            }
        }
    }
}

/// The children of a group in the 2-3 tree.
std::vector<int> children_of(int members, int height) {
    if (members == (2 << height) - 1)
        return {(members + 2) / 3, (members + 1) / 3, members / 3};
    return {(members + 1) / 2, members / 2};
}

/// When a group of m members is merged, each child of m' members divides the image at its own
/// m' − 1 inner boundaries and at the m − 1 of the group. This gives m − gcd(m, m') more pieces
/// than the child's members keep; each of these is a message.
int messages_in_tree(int members, int height) {
    if (members == 1)
        return 0;
    int messages = 0;
    for (int child : children_of(members, height)) {
        messages += members - std::gcd(members, child) + messages_in_tree(child, height - 1);
    }
    return messages;
}

int rounds_of_swap(int p) {
    return std::bit_width(static_cast<unsigned>(p)) - 1;
}

TEST(CompositingCount,
     two_three_swap_sends_at_most_three_messages_per_round_and_all_but_its_piece) {
    for_each_position("two-three-swap", 2 * most_positions,
                      [](const Task& task, const Tuning&, int, const Program& program) {
                          const Elements p = task.positions(), n = task.elements;
                          std::vector<int> sent(32, 0);
                          for (const Step& step : program.steps) {
                              if (step.verb == Verb::send)
                                  ++sent[static_cast<std::size_t>(step.round)];
                          }
                          EXPECT_LE(*std::max_element(sent.begin(), sent.end()), 3);
                          const Count all = count_of(Verb::send, program);
                          EXPECT_LE(all.messages, 3 * rounds_of_swap(task.positions()));
                          EXPECT_GE(n - all.pixels, n / p);
                          EXPECT_LE(n - all.pixels, (n + p - 1) / p);
                      });
}

TEST(CompositingCount, two_three_swap_balances_blending_within_an_eighth) {
    for (int p = 1; p <= 200; ++p) {
        const Elements n = Elements{p} * p + 1;
        const Task task = one_image_each(p, n);
        Elements all = 0, most = 0;
        int messages = 0;
        for (int i = 0; i < p; ++i) {
            const Program own = program(find("two-three-swap"), task, {}, i);
            messages += count_of(Verb::send, own).messages;
            all += blended_by(own);
            most = std::max(most, blended_by(own));
        }
        EXPECT_EQ(messages, messages_in_tree(p, rounds_of_swap(p))) << p;
        EXPECT_EQ(all, n * (p - 1)) << p;
        const Elements rounding = 2 * rounds_of_swap(p); // one pixel for each operand
        EXPECT_LE(100 * p * (most - rounding), 112 * n * (p - 1)) << p;
    }
}

/// Sender, receiver and size of each message, in program order.
std::vector<std::array<Elements, 3>> messages_of(const Program& program) {
    std::vector<std::array<Elements, 3>> messages;
    for (const Step& step : program.steps) {
        if (is_message(step.verb))
            messages.push_back({step.verb == Verb::send, step.peer, program.elements_of(step)});
    }
    return messages;
}

TEST(CompositingCount, two_three_swap_equals_binary_swap_for_powers_of_two) {
    for (int p = 1; p <= 128; p *= 2) {
        const Task task = one_image_each(p, 3 * p);
        for (int i = 0; i < p; ++i) {
            EXPECT_EQ(messages_of(program(find("two-three-swap"), task, {}, i)),
                      messages_of(program(find("binary-swap"), task, {}, i)));
            EXPECT_EQ(piece(find("two-three-swap"), task, {}, i).first,
                      piece(find("binary-swap"), task, {}, i).first);
        }
    }
}

} // namespace
} // namespace sextant::compositing
