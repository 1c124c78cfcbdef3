// SPDX-License-Identifier: BSD-3-Clause
// Span and work of every circuit, counted on its schedule and compared with the closed forms of the
// literature and with Snir's bound, for up to 200 ranks.
#include "sextant/scan/catalogue.hpp"
#include "sextant/schedule/circuit.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>

#include "tests/support/scan_cases.hpp"
#include <gtest/gtest.h>

namespace sextant::scan {
namespace {

constexpr int most_ranks = 200;

int L(int p) {
    return test::ceil_log2(p);
}

int F(int p) {
    return std::bit_width(static_cast<unsigned>(p)) - 1;
}

int pop(int p) {
    return std::popcount(static_cast<unsigned>(p));
}

/// Span of the Brent-Kung circuit.
int D(int p) {
    int most = 0;
    for (int x = 1; x <= p; ++x)
        most = std::max(most, F(x) + pop(x) - 1);
    return most;
}

/// Work of the Kogge-Stone circuit.
Elements KS(int p) {
    return p == 0 ? 0 : Elements{p} * L(p) - (Elements{1} << L(p)) + 1;
}

Elements Sk(int p) {
    Elements bits = 0;
    for (int rank = 0; rank < p; ++rank)
        bits += pop(rank);
    return bits;
}

Elements BK(int p) {
    return p == 0 ? 0 : 2 * p - 1 - F(p) - pop(p);
}

int han_carlson_span(int p) {
    return p < 3 ? p - 1 : std::max(1 + L(p / 2), 2 + L((p - 1) / 2));
}

Elements HC(int p) {
    return p == 0 ? 0 : p - 1 + KS(p / 2);
}

Circuit circuit_of(std::string_view name, int ranks, Form form, const Tuning& tuning = {}) {
    return circuit(test::scan_case(find(name), {ranks, 1, form}, tuning).schedule);
}

struct Formula {
    std::string_view name;
    std::function<int(int p)> span;
    std::function<Elements(int p)> work;
};

/// Formulas for inclusive circuits; an exclusive circuit of p ranks has the values of p − 1.
const std::array formulas = {
    Formula{"serial", [](int p) { return p - 1; }, [](int p) { return Elements{p} - 1; }},
    Formula{"kogge-stone", L, KS},
    Formula{"sklansky", L, Sk},
    Formula{"brent-kung", D, BK},
    Formula{"han-carlson", han_carlson_span, HC},
};

TEST(ScanCounts, inclusive_circuits_have_the_span_and_work_of_their_formulas) {
    for (const Formula& formula : formulas) {
        for (int p = 1; p <= most_ranks; ++p) {
            const Circuit inclusive = circuit_of(formula.name, p, Form::inclusive);
            EXPECT_EQ(inclusive.span, formula.span(p)) << formula.name << " " << p;
            EXPECT_EQ(inclusive.work, formula.work(p)) << formula.name << " " << p;
        }
    }
}

TEST(ScanCounts, an_exclusive_scan_costs_as_much_as_an_inclusive_scan_on_one_rank_fewer) {
    for (const Formula& formula : formulas) {
        for (int p = 2; p <= most_ranks; ++p) {
            const Circuit exclusive = circuit_of(formula.name, p, Form::exclusive);
            EXPECT_EQ(exclusive.span, formula.span(p - 1)) << formula.name << " " << p;
            EXPECT_EQ(exclusive.work, formula.work(p - 1)) << formula.name << " " << p;
        }
    }
}

TEST(ScanCounts, blelloch_costs_follow_the_formulas_of_inclusive_and_exclusive_scans) {
    for (int p = 2; p <= most_ranks; ++p) {
        const Circuit exclusive = circuit_of("blelloch", p, Form::exclusive);
        EXPECT_EQ(exclusive.span, D(p - 1)) << p;
        EXPECT_EQ(exclusive.work, 2 * (p - 1) - L(p) - pop(p - 1)) << p;
        const Circuit inclusive = circuit_of("blelloch", p, Form::inclusive);
        EXPECT_EQ(inclusive.span, std::max(D(p - 1), L(p))) << p;
        EXPECT_EQ(inclusive.work, exclusive.work + pop(p - 1)) << p;
    }
}

Elements fibonacci(int n) {
    Elements before = 0, now = 1;
    for (int i = 1; i < n; ++i)
        before = std::exchange(now, now + before);
    return now;
}

TEST(ScanCounts, ladner_fischer_satisfies_its_bounds_and_its_closed_form) {
    for (int k = 0; k <= 4; ++k) {
        for (int p = 1; p <= most_ranks; ++p) {
            const Circuit own = circuit_of("ladner-fischer", p, Form::inclusive, {k});
            EXPECT_LE(own.span, L(p) + k) << "k " << k << ", " << p;
            if (k == 0) {
                EXPECT_EQ(own.span, L(p)) << p;
                EXPECT_LE(own.work, 4 * p) << p;
            }
            const int m = F(p);
            if (p != 1 << m || k > m)
                continue;
            const Elements closed = 2 * (p + (p >> k)) - fibonacci(5 + m - k) - k + 1;
            EXPECT_EQ(own.work, closed) << "k " << k << ", " << p;
        }
    }
}

TEST(ScanCounts, counts_at_16_100_and_128_ranks_equal_the_documented_table) {
    struct Row {
        std::string_view name;
        int k;
        Form form;
        std::array<int, 3> spans;
        std::array<Elements, 3> works;
    };
    const Row rows[] = {
        {"brent-kung", 0, Form::inclusive, {6, 11, 12}, {26, 190, 247}},
        {"kogge-stone", 0, Form::inclusive, {4, 7, 7}, {49, 573, 769}},
        {"sklansky", 0, Form::inclusive, {4, 7, 7}, {32, 316, 448}},
        {"han-carlson", 0, Form::inclusive, {5, 8, 8}, {32, 336, 448}},
        {"ladner-fischer", 0, Form::inclusive, {4, 7, 7}, {31, 273, 369}},
        {"ladner-fischer", 1, Form::inclusive, {5, 8, 8}, {27, 221, 295}},
        {"blelloch", 0, Form::exclusive, {6, 11, 12}, {22, 187, 240}},
    };
    for (const Row& row : rows) {
        const int ranks[] = {16, 100, 128};
        for (std::size_t i = 0; i < 3; ++i) {
            const Circuit own = circuit_of(row.name, ranks[i], row.form, {row.k});
            EXPECT_EQ(own.span, row.spans[i]) << row.name << " " << ranks[i];
            EXPECT_EQ(own.work, row.works[i]) << row.name << " " << ranks[i];
        }
    }
}

TEST(ScanCounts, no_circuit_violates_snirs_bound) {
    test::for_each_scan([](const Algorithm& algorithm, const Tuning& tuning, Form form) {
        for (int p = 2; p <= most_ranks; ++p) {
            const int inputs = form == Form::inclusive ? p : p - 1;
            const Circuit own = circuit_of(algorithm.name, p, form, tuning);
            EXPECT_GE(own.deficiency(inputs), 0) << to_text(algorithm, tuning) << " " << p;
        }
    });
}

/// Number of messages of an algorithm as an inclusive or exclusive scan.
std::int64_t messages(std::string_view name, int ranks, Form form) {
    return prove(test::scan_case(find(name), {ranks, 1, form}, {}).schedule,
                 claim(Task{ranks, 1, form}), Delivery::rendezvous)
        .messages;
}

TEST(ScanCounts, each_operator_application_needs_one_message_and_exclusive_forms_need_a_shift) {
    for (const Formula& formula : formulas) {
        for (int p = 2; p <= most_ranks; ++p) {
            EXPECT_EQ(messages(formula.name, p, Form::inclusive), formula.work(p));
            // The exclusive form adds these messages, which need no application of the operator.
            const Elements shift = formula.name == "serial" ? 1 : p - 1;
            EXPECT_EQ(messages(formula.name, p, Form::exclusive), formula.work(p - 1) + shift)
                << formula.name << " " << p;
        }
    }
    for (int p = 2; p <= most_ranks; ++p) { // the inclusive form adds no message for rank 0
        EXPECT_EQ(messages("blelloch", p, Form::inclusive),
                  messages("blelloch", p, Form::exclusive) + p - 2);
    }
}

} // namespace
} // namespace sextant::scan
