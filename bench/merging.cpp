// SPDX-License-Identifier: BSD-3-Clause
// How much is sent to merge the contours of tiles, and what C3 charges for it, by pattern.
//
//   bench_merging [CASES.json]
//
// Nothing is timed: bytes are counted on the schedules that run, played with the lists of the
// image's own tiles; charges are the model's, for lists as long as border and density say, on the
// machine of the cases.
#include "sextant/machine/profile_file.hpp"

#include <fstream>
#include <iostream>

#include "tests/support/merging_charges.hpp"
#include "tests/support/sent_lists.hpp"
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace {

using namespace sextant;

/// Diagonal lines, every n-th of which is drawn.
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

/// Packets, and set-ups, of all rounds.
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

} // namespace

int main(int argc, char** argv) try {
    std::ifstream file(argc > 1 ? argv[1] : "bench/cases/merging.json");
    const nlohmann::json cases = nlohmann::json::parse(file);
    count_bytes(cases.at("bytes"));
    charge(cases.at("charges"));
} catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
}
