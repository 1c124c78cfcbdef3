// SPDX-License-Identifier: BSD-3-Clause
// Whole programs of filters on the machine of the P-3PC paper: what is best for a program is not
// what is best for each of its parts.
#include "sextant/planner/filter_choice.hpp"

#include "sextant/core/error.hpp"
#include "sextant/lab/reproduce_p3pc.hpp"

#include <algorithm>
#include <set>

#include "tests/model/machines.hpp"
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant::test {
namespace {

using namespace reproduce;
using planner::FilterCandidate;
using planner::FilterChoice;
using planner::FilterQuestion;

/// The published example: 512 x 512 floats, 16 ranks, one-level flat and spanning binomial trees.
FilterQuestion published(Elements margin, int filters, int outputs) {
    FilterQuestion question;
    question.task = {512, 512, std::vector<Elements>(static_cast<std::size_t>(filters), margin),
                     outputs, true};
    question.ranks = 16;
    question.collectives = {"flat-scatter", "binomial-scatter", "flat-gather", "binomial-gather"};
    question.model = "p3pc";
    return question;
}

const machine::Profile& das() {
    static const machine::Profile profile = shipped_machine("das");
    return profile;
}

FilterChoice on_das(Elements margin, int filters, int outputs) {
    return planner::choose_filter(published(margin, filters, outputs), das());
}

/// How many filters strips stay the best for, as parts are priced for one filter.
int threshold(const FilterChoice& one_filter, int most = 100'000) {
    const auto total = [](const FilterCandidate& candidate, int filters) {
        return candidate.distribute + filters * candidate.exchange + candidate.collect;
    };
    for (int filters = 0; filters < most; ++filters) {
        const auto best = std::min_element(
            one_filter.candidates.begin(), one_filter.candidates.end(),
            [&](auto& a, auto& b) { return total(a, filters) < total(b, filters); });
        if (best->way.columns != 1)
            return filters;
    }
    return most;
}

/// The same by Figure 6, whose border exchange knows the full path only.
int threshold_by_figure_6(Elements margin, int outputs, int most = 100'000) {
    const DasCosts T;
    const auto total = [&](const Grid& grid, int filters) {
        const double scatter =
            std::min(flat_tree(T, grid, machine::Path::send, machine::Layout::nc),
                     binomial_tree(T, grid, machine::Path::send, machine::Layout::nc));
        const double gather =
            std::min(flat_tree(T, grid, machine::Path::receive, machine::Layout::cn),
                     binomial_tree(T, grid, machine::Path::receive, machine::Layout::cn));
        return scatter + filters * border_mended(T, grid, margin) + outputs * gather;
    };
    for (int filters = 0; filters < most; ++filters) {
        const auto best =
            std::min_element(std::begin(das_grids), std::end(das_grids), [&](auto& a, auto& b) {
                return total(a, filters) < total(b, filters);
            });
        if (best->columns != 1)
            return filters;
    }
    return most;
}

TEST(FilterChoice, OnDasTakesStripsUntilExchangesOutweighScatterAndGather) {
    EXPECT_NEAR(threshold_by_figure_6(19, 1), 132, 2);
    EXPECT_NEAR(threshold_by_figure_6(12, 1), 188, 2);
    EXPECT_NEAR(threshold_by_figure_6(19, 5), 306, 2);
    EXPECT_NEAR(threshold_by_figure_6(12, 5), 434, 2);
    // Where no rank receives for longer than a message's path, schedules say what Figure 6 says.
    EXPECT_EQ(threshold(on_das(4, 1, 1)), 100'000);
    EXPECT_EQ(threshold(on_das(4, 1, 5)), 100'000);
    for (const int outputs : {1, 5}) {
        for (const Elements margin : {12, 19}) {
            const int played = threshold(on_das(margin, 1, outputs));
            EXPECT_GT(played, 1);
            EXPECT_LT(played, threshold_by_figure_6(margin, outputs));
            RecordProperty(fmt::format("margin_{}_outputs_{}", margin, outputs), played);
        }
    }
}

TEST(FilterChoice, OnDasPricesScatterAndGatherAsFigure6Does) {
    const DasCosts T;
    for (const FilterCandidate& each : on_das(12, 1, 1).candidates) {
        const Grid grid = filtering::grid_of({512, 512}, each.way);
        const bool flat = each.way.distribute->name == "flat-scatter";
        const bool flat_back = each.way.collect->name == "flat-gather";
        EXPECT_NEAR(
            1e3 * each.distribute,
            (flat ? flat_tree : binomial_tree)(T, grid, machine::Path::send, machine::Layout::nc),
            .005);
        EXPECT_NEAR(1e3 * each.collect,
                    (flat_back ? flat_tree : binomial_tree)(T, grid, machine::Path::receive,
                                                            machine::Layout::cn),
                    .005);
        EXPECT_GE(1e3 * each.exchange, .93 * border_mended(T, grid, 12));
    }
}

TEST(FilterChoice, BeyondTheThresholdTakesAnotherGridThanBefore) {
    const int filters = threshold(on_das(19, 1, 1));
    EXPECT_EQ(on_das(19, filters - 1, 1).best().way.columns, 1);
    EXPECT_EQ(on_das(19, filters, 1).best().way.columns, 2);
}

TEST(FilterChoice, ConsidersEveryGridAndRouting) {
    const FilterChoice choice = on_das(12, 3, 2);
    EXPECT_EQ(choice.candidates.size(), 5u * 2 * 2);
    std::set<std::string> ways;
    for (const FilterCandidate& each : choice.candidates) {
        EXPECT_EQ(each.way.ranks(), 16);
        EXPECT_GE(each.seconds(), choice.best().seconds());
        ways.insert(each.way.text());
    }
    EXPECT_EQ(ways.size(), choice.candidates.size());
    FilterQuestion all = published(12, 3, 2);
    all.collectives = {};
    const FilterChoice more = planner::choose_filter(all, das());
    EXPECT_EQ(more.candidates.size(), 5u * (6 + 2) * 6);
    EXPECT_LE(more.best().seconds(), choice.best().seconds());
}

TEST(FilterChoice, ThePathThroughTheStatesCostsWhatTheBestWayCosts) {
    for (const int filters : {1, 7}) { // of more it may change tiles
        const FilterChoice choice = on_das(19, filters, 5);
        EXPECT_NEAR(choice.path_seconds, choice.best().seconds(), 1e-9);
        ASSERT_EQ(choice.path.size(), 3u);
        EXPECT_EQ(choice.path[0].from.text(), "on rank 0");
        EXPECT_EQ(choice.path[0].how, choice.best().way.distribute->name);
        EXPECT_EQ(choice.path[1].times, filters);
        EXPECT_EQ(choice.path[2].how, choice.best().way.collect->name);
        EXPECT_EQ(choice.path[2].times, 5);
        EXPECT_EQ(choice.path[2].to.text(), "on rank 0");
    }
}

TEST(FilterChoice, TilesAreDealtOutAnewWhereThatPays) {
    // Strips are the cheapest to scatter and to gather, 2x8 tiles to exchange borders of.
    const FilterChoice choice = on_das(19, 3000, 5);
    std::vector<std::string> states;
    for (const planner::FilterTransition& step : choice.path)
        states.push_back(step.from.text() + " -> " + step.to.text() + ": " + step.how);
    const std::string strips = "in 1x16 tiles", tiles = "in 2x8 tiles";
    ASSERT_EQ(states.size(), 6u) << fmt::format("{}", fmt::join(states, "\n"));
    EXPECT_EQ(states[1], strips + " -> " + tiles + ": redistribution");
    EXPECT_EQ(choice.path[2].times, 2999);
    EXPECT_EQ(states[3], tiles + " -> " + strips + ": redistribution");
    EXPECT_EQ(choice.path[3].times, 1) << "of what the last filter reads, not of all it makes";
    EXPECT_EQ(choice.path[5].times, 5);
    EXPECT_LT(choice.path_seconds, choice.best().seconds());
}

TEST(FilterChoice, AsOneScheduleTakesAboutWhatItsPartsTake) {
    // Ranks at the near end of a flat tree start early and end late, so that parts overlap.
    for (const int filters : {1, 20}) {
        const FilterChoice choice = on_das(12, filters, 1);
        ASSERT_TRUE(choice.played);
        EXPECT_LE(*choice.played, choice.best().seconds() * 1.001);
        EXPECT_GE(*choice.played, choice.best().seconds() * .6);
        RecordProperty(fmt::format("share_{}", filters),
                       std::to_string(*choice.played / choice.best().seconds()));
    }
}

TEST(FilterChoice, WeighsRanksWhereItKnowsTheFiltersOwnWork) {
    FilterQuestion question = published(12, 1, 1);
    question.work = 1e-9;
    EXPECT_EQ(planner::choose_filter(question, das()).best().way.ranks(), 1)
        << "what takes no time needs no help";
    question.work = 1e-5;
    const FilterChoice choice = planner::choose_filter(question, das());
    EXPECT_GT(choice.best().way.ranks(), 8);
    EXPECT_LT(choice.best().seconds(), 512 * 512 * 1e-5 / 4);
    EXPECT_LE(choice.path_seconds, choice.best().seconds() * (1 + 1e-9));
}

TEST(FilterChoice, PassesOverOnlyGridsThatCannotBeTheFastest) {
    FilterQuestion question = published(4, 1, 1);
    for (const Seconds work : {1e-8, 1e-6, 1e-5}) {
        question.ranks = 12;
        question.work = work;
        const FilterChoice choice = planner::choose_filter(question, das());
        EXPECT_FALSE(choice.passed_over.empty()) << work;
        Seconds best = 512 * 512 * work;
        for (question.ranks = 2; question.ranks <= 12; ++question.ranks) {
            for (const filtering::Way& grid : filtering::grids_of(question.ranks)) {
                question.columns = grid.columns, question.rows = grid.rows;
                best = std::min(best, planner::choose_filter(question, das()).best().seconds());
            }
        }
        question.columns = question.rows = 0;
        EXPECT_DOUBLE_EQ(choice.best().seconds(), best) << work;
        for (const auto& other : choice.passed_over)
            EXPECT_GE(other.at_least, best) << work;
    }
}

TEST(FilterChoice, WalksNoBroadcastThatCannotPay) {
    FilterQuestion question = published(4, 1, 1);
    question.collectives = {"flat-scatter", "1-lev-br-broadcast", "flat-gather"};
    const FilterChoice choice = planner::choose_filter(question, das());
    EXPECT_FALSE(choice.best().at_least);
    int unwalked = 0;
    for (const FilterCandidate& each : choice.candidates) {
        EXPECT_TRUE(!each.at_least || each.way.broadcasts());
        unwalked += each.at_least;
    }
    EXPECT_GT(unwalked, 0);
}

TEST(FilterChoice, NeedsNoBordersAfterABroadcast) {
    FilterQuestion question = published(0, 1, 1);
    question.task = {512, 512, {128}, 1, false};
    question.ranks = 4;
    question.columns = 2;
    question.rows = 2;
    question.collectives = {"flat-scatter", "1-lev-br-broadcast"};
    const FilterChoice choice = planner::choose_filter(question, das());
    ASSERT_EQ(choice.candidates.size(), 2u);
    for (const FilterCandidate& each : choice.candidates) {
        EXPECT_EQ(each.exchange == 0, each.way.broadcasts());
        EXPECT_EQ(each.collect, 0);
    }
}

std::string complaint(const FilterQuestion& question) {
    try {
        planner::choose_filter(question, das());
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

TEST(FilterChoice, RefusesWhatCannotBe) {
    using testing::HasSubstr;
    FilterQuestion question = published(40, 1, 1);
    EXPECT_EQ(complaint(question), "") << "4x4 tiles are large enough";
    question.task.margins = {200};
    EXPECT_THAT(complaint(question), HasSubstr("less than the margin of 200"));
    question = published(4, 1, 1);
    question.columns = 3;
    question.rows = 5;
    EXPECT_THAT(complaint(question), HasSubstr("no grid of 16 tiles or fewer is 3x5"));
    question = published(4, 1, 1);
    question.collectives = {"flat-gather"};
    EXPECT_THAT(complaint(question), HasSubstr("none of the collectives"));
    question.collectives = {"flat"};
    EXPECT_THAT(complaint(question), HasSubstr("unknown collective algorithm 'flat'"));
    question = published(4, 1, 1);
    question.ranks = 0;
    EXPECT_THAT(complaint(question), HasSubstr("0 ranks: expected 1 or more"));
    question = published(4, 1, 1);
    question.work = -1;
    EXPECT_THAT(complaint(question), HasSubstr("a filter of -1 s a pixel"));
    question = published(4, 1, 1);
    question.model = "p3cp";
    EXPECT_THAT(complaint(question), HasSubstr("unknown model 'p3cp'"));
}

} // namespace
} // namespace sextant::test
