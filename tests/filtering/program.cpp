// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/threads.hpp"
#include "sextant/core/error.hpp"
#include "sextant/filtering/filter_program.hpp"

#include "tests/support/blending.hpp"
#include "tests/support/exact_operators.hpp"
#include "tests/support/filter_cases.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant::test {
namespace {

using filtering::Task;
using filtering::Way;

TEST(Filtering, IsProvedAsOneSchedulePerWayToDistributeAndCollect) {
    for (const int ranks : {1, 2, 3, 4, 6}) {
        for (const bool collect : {true, false}) {
            for (const Way& way : usual_ways(ranks, collect)) {
                const Case c = filter_case({31, 32, {2}, 2, collect}, way);
                EXPECT_EQ(prove(c.schedule, c.claim).error, "") << c.name;
            }
        }
    }
}

TEST(Filtering, IsRefusedWhereAnExchangeIsMissing) {
    const Task task{12, 12, {1}, 2, true};
    const Way way{2, 2, &collective::find("flat-scatter"), &collective::find("flat-gather")};
    Case c = filter_case(task, way);
    EXPECT_EQ(prove(c.schedule, c.claim).error, "");
    for (Program& program : c.schedule) {
        std::vector<Step> others;
        for (const Step& step : program.steps) {
            const bool of_exchange = is_message(step.verb) && step.round >= 12 && step.round < 24;
            if (!of_exchange)
                others.push_back(step);
        }
        EXPECT_LT(others.size(), program.steps.size());
        program.steps = others;
    }
    EXPECT_THAT(prove(c.schedule, c.claim).error, testing::HasSubstr("nobody wrote"));
}

TEST(Filtering, RunsOnValuesOverThreads) {
    for (const int ranks : {1, 2, 4, 6, 7}) {
        for (const char* scatter : {"flat-scatter", "binomial-scatter", "1-lev-br-broadcast",
                                    "scatter-all-gather-broadcast"}) {
            for (const Way& grid : filtering::grids_of(ranks)) {
                const Task task{61, 60, {1, 1, 2}, 3, true};
                const Way way{grid.columns, grid.rows, &collective::find(scatter),
                              &collective::find("binomial-gather")};
                run_threads(ranks, [&](Communicator communicator) {
                    const int rank = communicator.rank();
                    const Region given = given_to(task, way, rank);
                    std::vector<Matrix> input, wanted;
                    for (Elements e = 0; e < given.elements(); ++e)
                        input.push_back(
                            exact_value<Matrix>(static_cast<std::uint64_t>(given.at(e))));
                    for (const Elements pixel : wanted_by(task, way, rank))
                        wanted.push_back(exact_value<Matrix>(static_cast<std::uint64_t>(pixel)));
                    const Program program = filtering::program(
                        task, way, rank, MovingFilter{task, filtering::grid_of(task, way), rank});
                    EXPECT_EQ(run_program(communicator, program, exact_operator<Matrix>(),
                                          Association::in_order, input, 2),
                              wanted)
                        << way.text() << ", rank " << rank;
                });
            }
        }
    }
}

TEST(Filtering, SendsABorderBeforeEachFilterButTheFirstAfterABroadcast) {
    const Task task{32, 32, {4, 4, 4}, 5, true};
    const auto messages = [&](const char* distribute) {
        const Way way{1, 4, &collective::find(distribute), &collective::find("flat-gather")};
        std::int64_t count = 0;
        for (int rank = 0; rank < 4; ++rank) {
            const Program program = filtering::program(task, way, rank);
            count += std::count_if(program.steps.begin(), program.steps.end(),
                                   [](const Step& step) { return step.verb == Verb::send; });
        }
        return count;
    };
    EXPECT_EQ(messages("flat-scatter"), 3 + 3 * 6 + 5 * 3);
    EXPECT_EQ(messages("1-lev-br-broadcast"), 3 + 2 * 6 + 5 * 3);
}

std::string complaint(const Task& task, const Way& way) {
    try {
        filtering::check(task, way);
    } catch (const InvalidTask& error) {
        return error.what();
    }
    return "";
}

TEST(Filtering, RefusesWhatCannotBeAndSaysWhy) {
    using testing::HasSubstr;
    const collective::Algorithm &scatter = collective::find("flat-scatter"),
                                &gather = collective::find("flat-gather");
    const Task task{64, 48, {5}, 1, true};
    EXPECT_EQ(complaint(task, {2, 2, &scatter, &gather}), "");
    EXPECT_THAT(complaint({0, 4, {1}}, {1, 1, &scatter, &gather}),
                HasSubstr("an image of 0x4 pixels: expected 1x1 or more"));
    EXPECT_THAT(complaint({4, 4, {}}, {1, 1, &scatter, &gather}),
                HasSubstr("0 filters with 1 outputs: expected 1 or more of each"));
    EXPECT_THAT(complaint({4, 4, {-1}}, {1, 1, &scatter, &gather}),
                HasSubstr("a margin of -1: expected 0 or more"));
    EXPECT_THAT(complaint(task, {0, 2, &scatter, &gather}), HasSubstr("0x2 tiles"));
    EXPECT_THAT(complaint(task, {2, 2, &gather, &gather}),
                HasSubstr("flat-gather to distribute: it does gather"));
    EXPECT_THAT(complaint(task, {2, 2, &scatter, &scatter}),
                HasSubstr("flat-scatter to collect: it does scatter"));
    EXPECT_THAT(complaint(task, {2, 2, &scatter, nullptr}), HasSubstr("expected a gather"));
    EXPECT_THAT(complaint(task, {1, 10, &scatter, &gather}),
                HasSubstr("1x10 tiles of 64x48 pixels: the smallest is 64x4, less than the margin "
                          "of 5"));
}

} // namespace
} // namespace sextant::test
