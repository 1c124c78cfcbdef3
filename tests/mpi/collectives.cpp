// SPDX-License-Identifier: BSD-3-Clause
// Every collective on values over MPI, in groups of 1, 2, 3, 4 and 7 ranks; and MPI's own
// collectives, which a benchmark checks before it times them.
#include "sextant/core/error.hpp"
#include "sextant/lab/bench_collective.hpp"
#include "sextant/lab/mpi_baselines.hpp"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "tests/mpi/groups.hpp"
#include "tests/support/agreed_failure.hpp"
#include "tests/support/collective_operations.hpp"
#include "tests/support/collective_runs.hpp"

namespace sextant::test {
namespace {

std::vector<std::byte> pixels(const Region& part) {
    std::vector<std::byte> values;
    for (Elements e = 0; e < part.elements(); ++e)
        values.push_back(static_cast<std::byte>(part.at(e)));
    return values;
}

void deals_tiles(const Communicator& communicator, const lab::CollectiveBaseline& row,
                 const Grid& grid) {
    const int rank = communicator.rank();
    const auto prepared = row.prepare(communicator, grid);
    prepared->run(pixels(collective::pixels_before(row.what, grid, rank)));
    const auto received = prepared->result();
    std::vector<std::byte> wanted = pixels(collective::pixels_after(row.what, grid, rank));
    if (row.what == CollectiveKind::scatter && rank == 0)
        wanted.clear(); // the root's own tile stays in the image
    EXPECT_EQ(std::vector<std::byte>(received.begin(), received.end()), wanted) << row.name;
}

std::set<std::string> baselines_in(const lab::CollectiveResults& results) {
    std::set<std::string> names;
    for (const auto& of_size : results.sizes) {
        for (const auto& result : of_size.results) {
            if (result.baseline)
                names.insert(result.name);
        }
    }
    return names;
}

/// The race is decided by times, so only the report of both is tested.
TEST(Mpi, a_collective_measures_mpi_and_keeps_one_of_both) {
    const char* const setting = std::getenv("SEXTANT_PROBE");
    const std::string before = setting ? setting : "";
    unsetenv("SEXTANT_PROBE");
    on_group(3, [](const Communicator& communicator) {
        const Collective chosen(communicator, {CollectiveKind::all_to_all, {64}});
        const CollectivePlan& plan = chosen.plan();
        const auto texts = all_gather_texts(communicator, plan.text() + ": " + plan.reason);
        EXPECT_EQ(texts[0], texts[2]);
        EXPECT_EQ(chosen.program().steps.empty(), plan.text() == "mpi");
        if (communicator.rank() > 0)
            return;
        const auto mpi = std::ranges::find_if(plan.alternatives, [](const auto& each) {
            return each.configuration.algorithm == "mpi";
        });
        ASSERT_NE(mpi, plan.alternatives.end());
        EXPECT_FALSE(mpi->expected);
        if (mpi->remark == "measured") {
            EXPECT_GT(mpi->raced, 0);
            EXPECT_THAT(plan.reason, testing::HasSubstr("raced over"));
        } // else the machine was too busy for a race
    });
    setenv("SEXTANT_PROBE", before.c_str(), 1);
}

TEST(Mpi, a_collective_measures_nothing_if_probing_is_off) {
    on_group(2, [](const Communicator& communicator) {
        const Collective chosen(communicator, {CollectiveKind::all_to_all, {64}},
                                {.probing = planner::Probing::off});
        EXPECT_NE(chosen.plan().text(), "mpi");
        const auto of_mpi = std::ranges::count_if(chosen.plan().alternatives, [](const auto& each) {
            return each.remark == "not measured: probing is off";
        });
        EXPECT_EQ(of_mpi, communicator.rank() == 0 ? 1 : 0);
    });
}

TEST(Mpi, a_wrong_buffer_fails_mpi_on_all_ranks) {
    on_group(3, [](const Communicator& communicator) {
        Collective gathering(communicator, {CollectiveKind::all_gather, {2}, sizeof(int)},
                             {.algorithm = "mpi"});
        EXPECT_EQ(gathering.plan().text(), "mpi");
        const std::vector<int> two(2), three(3);
        if (communicator.rank() == 1) {
            EXPECT_THROW(gathering.run<int>(three), InvalidTask);
        }
        EXPECT_THROW(gathering.run<int>(two), PeerFailed);
        communicator.barrier();
    });
}

TEST(Mpi, operators_that_may_throw_are_not_called_by_mpi) {
    on_group(2, [](const Communicator& communicator) {
        const auto add = element_operator<int>("sum", [](int a, int b) { return a + b; });
        EXPECT_THAT(agreed_failure([&] {
                        Collective(communicator, {CollectiveKind::all_reduce, {1}, 1, add},
                                   {.algorithm = "mpi"});
                    }),
                    testing::HasSubstr("and a noexcept operator"));
    });
}

/// Groups are small, because MPI's blocking calls poll, which is slow if ranks outnumber cores.
TEST(Mpi, mpi_collectives_agree_with_sextant_collectives) {
    for (const int size : {1, 2, 3, 4}) {
        on_group(size, [](const Communicator& communicator) {
            lab::ContestOptions options;
            options.rounds = 3;
            options.least_turn = 0;
            std::set<std::string> met;
            for (lab::CollectiveCase& what : lab::usual_collective_cases()) {
                what.sizes = {0, 1, 6, 49};
                met.merge(baselines_in(lab::bench_collective(communicator, what, options)));
            }
            EXPECT_EQ(met.size(), lab::mpi_collectives(communicator).size());
        });
    }
}

/// Only some of MPI's operations support tiles of different sizes, which need a datatype each.
TEST(Mpi, mpi_scatters_and_gathers_support_uneven_tiles) {
    on_group(4, [](const Communicator& communicator) {
        const Grid grid{7, 5, 2, 2};
        int takers = 0;
        for (const lab::CollectiveBaseline& row : lab::mpi_collectives(communicator)) {
            const bool deals =
                row.what == CollectiveKind::scatter || row.what == CollectiveKind::gather;
            if (!deals || !row.takes(grid))
                continue;
            ++takers;
            deals_tiles(communicator, row, grid);
        }
        EXPECT_EQ(takers, 2);
    });
}

} // namespace
} // namespace sextant::test
