// SPDX-License-Identifier: BSD-3-Clause
// The bytes sent to merge the contours of tiles, the cost by the C³ model, and measured times, for
// each merging pattern.
//
//   bench_merging [CASES.json]
//
// Method: bytes are counted by replaying the schedules of a run with the lists of the image's
// tiles. Costs are those of the C³ model for the machine named in the cases, with list lengths
// computed from the tiles' borders and the density of lines. Times are wall-clock times on threads,
// from the common start of all ranks to the end of the last; tiles are ranked before, each pattern
// runs once per round, and medians are shown. With fewer cores than ranks, times show the total
// work and the messages, not the effect of concurrency.
#include "sextant/comm/threads.hpp"
#include "sextant/contours/contour_merging.hpp"
#include "sextant/core/statistics.hpp"
#include "sextant/machine/profile_file.hpp"

#include <chrono>
#include <fstream>
#include <iostream>

#include "tests/support/merging_charges.hpp"
#include "tests/support/sent_lists.hpp"
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace {

using namespace sextant;

/// Prints the bytes sent for images of diagonal lines, `every` pixels apart.
void count_bytes(const nlohmann::json& cases) {
    const int columns = cases.at("columns"), rows = cases.at("rows");
    fmt::print("| image | lines |");
    for (const contour::Pattern& pattern : contour::catalogue())
        fmt::print(" {} |", pattern.name);
    fmt::print("\n|---|---|---|---|---|---|\n");
    for (const int every : cases.at("every")) {
        for (const Elements side : cases.at("sides")) {
            const test::DirectionMap map =
                test::directed(test::diagonal_lines({side, side}, every), 1);
            fmt::print("| {}² | 1/{} |", side, every);
            for (const contour::Pattern& pattern : contour::catalogue()) {
                const test::Sent sent = test::sent_lists(map, {side, side, columns, rows}, pattern);
                fmt::print(" {} |", sent.bytes);
                std::cout << std::flush;
            }
            fmt::print("\n");
        }
    }
}

/// Prints the C³ cost of each pattern: message set-ups and packets, summed over all rounds.
void charge(const nlohmann::json& cases) {
    const machine::Profile machine = machine::read_profile(cases.at("machine"));
    fmt::print("\n| image | entered |");
    for (const contour::Pattern& pattern : contour::catalogue())
        fmt::print(" {} |", pattern.name);
    fmt::print("\n|---|---|---|---|---|---|\n");
    for (const Elements side : cases.at("sides")) {
        for (const double entering : cases.at("entering")) {
            fmt::print("| {}² | {} |", side, entering);
            for (const contour::Pattern& pattern : contour::catalogue()) {
                const test::MergingCharge all =
                    test::merging_charge(pattern, {side, side, 16, 16}, entering, machine);
                fmt::print(" {} + {:.0f} |", all.setups, all.packets);
            }
            fmt::print("\n");
        }
    }
}

/// Milliseconds of each pattern, measured on rank 0.
std::vector<double> times_of(const test::DirectionMap& map, const Grid& grid, int rounds) {
    std::vector<std::vector<double>> times(contour::catalogue().size());
    run_threads(grid.ranks(), [&](Communicator communicator) {
        kernel::ContourRanking ranking;
        ranking.apply(map.view(), tile(grid, communicator.rank()));
        for (int round = 0; round < rounds; ++round) {
            for (std::size_t k = 0; k < times.size(); ++k) {
                communicator.all_gather(0);
                const auto begin = std::chrono::steady_clock::now();
                merge_contours(communicator, grid, ranking, contour::catalogue()[k]);
                communicator.all_gather(0);
                const std::chrono::duration<double, std::milli> taken =
                    std::chrono::steady_clock::now() - begin;
                if (communicator.rank() == 0)
                    times[k].push_back(taken.count());
            }
        }
    });
    std::vector<double> medians;
    for (const std::vector<double>& of_pattern : times)
        medians.push_back(median(of_pattern));
    return medians;
}

/// Prints measured times and the C³ cost for the same lists.
void time_merging(const nlohmann::json& cases) {
    const machine::Profile machine = machine::read_profile(cases.at("machine"));
    const Elements side = cases.at("side");
    const Grid grid{side, side, cases.at("columns"), cases.at("rows")};
    fmt::print("\n| lines of {}² |", side);
    for (const contour::Pattern& pattern : contour::catalogue())
        fmt::print(" {}: ms | charged |", pattern.name);
    fmt::print("\n|---|---|---|---|---|---|---|---|---|\n");
    for (const int every : cases.at("every")) {
        const std::vector<double> times = times_of(
            test::directed(test::diagonal_lines({side, side}, every), 1), grid, cases.at("rounds"));
        fmt::print("| 1/{} |", every);
        for (std::size_t k = 0; k < times.size(); ++k) {
            // Diagonals enter a tile through its upper and left sides: half of its border.
            const test::MergingCharge all =
                test::merging_charge(contour::catalogue()[k], grid, .5 / every, machine);
            fmt::print(" {:.2f} | {} + {:.0f} |", times[k], all.setups, all.packets);
        }
        fmt::print("\n");
        std::cout << std::flush;
    }
}

} // namespace

int main(int argc, char** argv) try {
    std::ifstream file(argc > 1 ? argv[1] : "bench/cases/merging.json");
    const nlohmann::json cases = nlohmann::json::parse(file);
    count_bytes(cases.at("bytes"));
    charge(cases.at("charges"));
    time_merging(cases.at("times"));
} catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
}
