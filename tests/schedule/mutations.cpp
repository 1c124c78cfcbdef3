// SPDX-License-Identifier: BSD-3-Clause
// Random small changes are made to correct schedules, thousands of times. `prove` must refuse each
// mutant unless a slow reference, which shares no code with it, accepts it as well.
#include "tests/support/mutations.hpp"

#include "sextant/collective/catalogue.hpp"
#include "sextant/collective/scatter_gather.hpp"
#include "sextant/halo/stencil.hpp"

#include <iterator>
#include <map>

#include "tests/support/bruck.hpp"
#include "tests/support/compositing_cases.hpp"
#include "tests/support/halo_case.hpp"
#include "tests/support/line_sums.hpp"
#include "tests/support/reference_prover.hpp"
#include "tests/support/scan_cases.hpp"
#include <gtest/gtest.h>

namespace sextant {
namespace {

using test::Case;
using test::Mutation;
using test::Random;
using Meaning = Mutation::Meaning;

// Number of mutants of each case; fewer with sanitizers, which are slow and not meant to find
// surviving mutants.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int mutants_of_a_kind = 8;
#else
constexpr int mutants_of_a_kind = 50;
#endif

void add_compositing(std::vector<Case>& cases, Random& random, std::string_view name, int p,
                     const compositing::Tuning& tuning) {
    const auto& algorithm = compositing::find(name);
    compositing::Task rough = test::rough_task(random, p, 4 * p + 1);
    rough.root = random.pick(rough.order);
    cases.push_back(
        test::compositing_case(algorithm, compositing::one_image_each(p, 5 * p + 1), tuning));
    cases.push_back(
        test::compositing_case(algorithm, compositing::one_image_each(p, 3 * p, p / 2), tuning));
    cases.push_back(test::compositing_case(algorithm, rough, tuning));
}

std::vector<Case> all_cases() {
    std::vector<Case> cases;
    Random random(81);
    add_compositing(cases, random, "direct-send", 12, {});
    add_compositing(cases, random, "radix-k", 12, {{3, 2, 2}, 0});
    add_compositing(cases, random, "binary-swap", 8, {});
    add_compositing(cases, random, "two-three-swap", 11, {});
    add_compositing(cases, random, "shift-based", 12, {{}, 1});
    add_compositing(cases, random, "parallel-pipeline", 12, {{}, 1});
    add_compositing(cases, random, "binary-tree", 11, {});
    for (const scan::Algorithm& row : scan::catalogue()) {
        const scan::Form form =
            row.native == scan::Form::inclusive ? scan::Form::exclusive : scan::Form::inclusive;
        cases.push_back(test::scan_case(row, {12, 3, form}, row.tunings().back()));
    }
    for (const scan::Strategy& row : scan::strategies())
        cases.push_back(test::series_case(row, {scan::find("blelloch"), {}}, {3, 2, 4, 2}));
    cases.push_back(
        {"scatter",
         make_schedule(12, [](int r) { return collective::binomial_scatter(12, 61, r); }),
         test::scatter_claim(12, 61)});
    for (const char* name : {"3-lev-sq-gather", "ring-all-gather", "2-lev-sq-all-to-all",
                             "logp-lev-bfly-all-to-all"}) {
        const collective::Algorithm& row = collective::find(name);
        const Grid grid{13, 14, 4, 3};
        cases.push_back({name, make_schedule(12, [&](int r) { return row.program(grid, r); }),
                         row.claim(grid)});
    }
    for (const collective::Algorithm& row : collective::reductions().first(2)) {
        const Grid grid{13, 14, 4, 3};
        cases.push_back({std::string(row.name),
                         make_schedule(12, [&](int r) { return row.program(grid, r); }),
                         row.claim(grid)});
    }
    cases.push_back(test::halo_case({14, 17, 3, 4, 2}));
    cases.push_back(test::halo_case({14, 7, 3, 4, {2, 3}}));
    cases.push_back(test::bruck_case(7, 2));
    cases.push_back(test::line_sums_case(5));
    const halo::Stencil stencil{{{11, 9, 3, 2}, {2, 1}}, 2, 0, true, true};
    cases.push_back({"stencil", make_schedule(6, [&](int r) { return halo::stencil(stencil, r); }),
                     halo::claim(stencil)});
    return cases;
}

/// Calls `judge(mutant)` for up to `count` mutants of a kind.
template <class Judge>
void mutate(const Case& c, const Mutation& kind, unsigned seed, int count, Judge judge) {
    Random random(seed);
    const test::LooseSchedule original = test::taken_apart(c.schedule);
    for (int trial = 0, made = 0; trial < 10 * count && made < count; ++trial) {
        test::LooseSchedule loose = original;
        test::Mutator mutator(random, loose);
        if (!(mutator.*kind.apply)())
            continue;
        ++made;
        judge(test::put_together(loose));
        if (testing::Test::HasFatalFailure())
            return;
    }
}

struct Count {
    int tried = 0, refused = 0, accepted = 0;
};

using Counts = std::map<std::string_view, Count>; // by kind

void judge(const Case& c, const Mutation& kind, const Schedule& mutant, Counts& counts) {
    Count& count = counts[kind.name];
    ++count.tried;
    Proof proof;
    ASSERT_NO_THROW(proof = prove(mutant, c.claim)) << c.name << ", " << kind.name;
    const std::string wrong = test::what_is_wrong(mutant, c.claim);
    if (!proof.holds()) {
        ++count.refused;
        EXPECT_NE(kind.changes, Meaning::never)
            << c.name << ", " << kind.name << ": " << proof.error;
        EXPECT_NE(wrong, "") << c.name << ", " << kind.name
                             << ": refused, but right: " << proof.error;
        return;
    }
    ++count.accepted;
    const bool commutes = c.claim.order == Order::any && kind.name == "swap two operands";
    EXPECT_TRUE(commutes || kind.changes != Meaning::always)
        << c.name << ", " << kind.name << ": survived";
    EXPECT_EQ(wrong, "") << c.name << ", " << kind.name << ": survived, but is wrong";
}

void print(const Counts& counts) {
    fmt::print("{:32} {:>8} {:>8} {:>8}\n", "mutation", "tried", "refused", "accepted");
    for (const Mutation& kind : test::mutations) {
        const auto found = counts.find(kind.name);
        const Count count = found == counts.end() ? Count{} : found->second;
        fmt::print("{:32} {:8} {:8} {:8}\n", kind.name, count.tried, count.refused, count.accepted);
    }
}

TEST(Mutations, are_refused_exactly_if_they_change_the_meaning_of_a_schedule) {
    Counts counts;
    const std::vector<Case> cases = all_cases();
    for (std::size_t c = 0; c < cases.size(); ++c) {
        ASSERT_EQ(prove(cases[c].schedule, cases[c].claim).error, "") << cases[c].name;
        for (std::size_t k = 0; k < std::size(test::mutations); ++k) {
            const Mutation& kind = test::mutations[k];
            mutate(cases[c], kind, static_cast<unsigned>(1000 * c + k), mutants_of_a_kind,
                   [&](const Schedule& mutant) { judge(cases[c], kind, mutant, counts); });
            ASSERT_FALSE(HasFatalFailure());
        }
    }
    print(counts);
    for (const Mutation& kind : test::mutations)
        EXPECT_GE(counts[kind.name].tried, mutants_of_a_kind) << kind.name;
}

TEST(Mutations, in_pairs_get_the_same_verdict_as_from_the_slow_reference) {
    for (const Case& c : all_cases()) {
        Random random(82);
        const test::LooseSchedule original = test::taken_apart(c.schedule);
        for (int trial = 0; trial < 150; ++trial) {
            test::LooseSchedule loose = original;
            test::Mutator mutator(random, loose);
            (mutator.*test::mutations[random.index(std::size(test::mutations))].apply)();
            // The second mutation can be applied only while messages still match.
            const auto harmless = std::size(test::mutations) - 1 - random.index(6);
            (mutator.*test::mutations[harmless].apply)();
            const Schedule mutant = test::put_together(loose);
            Proof proof;
            ASSERT_NO_THROW(proof = prove(mutant, c.claim)) << c.name;
            const std::string wrong = test::what_is_wrong(mutant, c.claim);
            ASSERT_EQ(proof.holds(), wrong.empty())
                << c.name << ": '" << proof.error << "', but the reference '" << wrong << "'";
        }
    }
}

/// True if both tasks end with the same pixels on every rank.
bool end_alike(const compositing::Algorithm& algorithm, const compositing::Task& a,
               const compositing::Task& b, const compositing::Tuning& tuning) {
    for (int rank = 0; rank < a.ranks; ++rank) {
        const compositing::Piece one = compositing::piece(algorithm, a, tuning, rank);
        const compositing::Piece other = compositing::piece(algorithm, b, tuning, rank);
        if (one.first != other.first || one.count != other.count)
            return false;
    }
    return true;
}

TEST(Mutations, that_collect_an_image_on_the_wrong_root_are_refused) {
    for (const auto& algorithm : compositing::catalogue()) {
        const compositing::Tuning tuning = algorithm.tunings(8).front();
        for (int wrong : {-1, 0, 3, 7}) {
            for (int claimed : {-1, 0, 3, 7}) {
                const auto task = compositing::one_image_each(8, 33, wrong);
                const auto other = compositing::one_image_each(8, 33, claimed);
                Case c = test::compositing_case(algorithm, task, tuning);
                c.claim = compositing::claim(algorithm, other, tuning);
                EXPECT_EQ(prove(c.schedule, c.claim).holds(),
                          end_alike(algorithm, task, other, tuning))
                    << c.name;
            }
        }
    }
}

TEST(Mutations, that_change_the_visibility_order_are_refused) {
    for (const auto& algorithm : compositing::catalogue()) {
        const compositing::Tuning tuning = algorithm.tunings(4).front();
        compositing::Task task = compositing::one_image_each(4, 9), swapped = task;
        std::swap(swapped.order[1], swapped.order[2]);
        Case c = test::compositing_case(algorithm, task, tuning);
        c.claim = compositing::claim(algorithm, swapped, tuning);
        EXPECT_FALSE(prove(c.schedule, c.claim).holds()) << c.name;
    }
}

TEST(Mutations, that_swap_rounds_on_one_rank_deadlock_with_a_window_of_one) {
    // Rank 1 would wait in its first round for a message that rank 0 sends in its last.
    Case c = test::compositing_case(compositing::find("shift-based"),
                                    compositing::one_image_each(3, 9), {{}, 1});
    for (Step& step : c.schedule[0].steps) {
        if (is_message(step.verb))
            step.round = 1 - step.round;
    }
    EXPECT_NE(prove(c.schedule, c.claim).error.find("deadlock"), std::string::npos);
}

} // namespace
} // namespace sextant
