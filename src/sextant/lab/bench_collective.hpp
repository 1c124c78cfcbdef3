// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/collective/catalogue.hpp"
#include "sextant/core/grid.hpp"
#include "sextant/core/units.hpp"
#include "sextant/lab/contest.hpp"
#include "sextant/report/page.hpp"

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace sextant::command {

/// A collective to time at several sizes; docs/bench.md has its fields.
struct CollectiveCase {
    std::string name;
    Collective what = Collective::scatter;
    bool tiles = false; ///< nearly square tiles of an image, which lie in it in rows
    std::vector<Bytes> sizes = {0,    1,       4,       16,      64,      256,
                                1024, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20};
    std::vector<std::string> algorithms; ///< empty: all
};

/// Reads cases from a JSON file. Throws InvalidFile, naming case, field, value and expectation.
std::vector<CollectiveCase> read_collective_cases(const std::string& path);

/// Every collective with its usual sizes, and those that deal tiles with tiles too.
std::vector<CollectiveCase> usual_collective_cases();

/// The image, in bytes, of a case at one size: that of the block that each rank has, or has for
/// each other rank, or, of a broadcast, of all. Blocks are rows of the image, so that each lies in
/// one piece on any grid of processors.
Grid grid_of(const CollectiveCase& what, Bytes size, int ranks);

/// How one way to do a collective did at one size.
struct CollectiveResult {
    std::string name;
    bool baseline = false;
    std::optional<Seconds> predicted; ///< as usual on this machine; nothing of baselines
    Estimate wall, cpu;               ///< seconds: of the slowest rank, of all ranks
    Estimate ratio;                   ///< to the first
};

struct ResultsOfSize {
    Bytes size = 0;
    std::vector<CollectiveResult> results; ///< the baselines first
};

struct CollectiveResults {
    CollectiveCase what;
    int ranks = 1;
    std::vector<ResultsOfSize> sizes;
};

/// Times every algorithm for a case, and MPI's own where the communicator has it, against each
/// other, one size after another. What each one's ranks received is first compared with what they
/// should have: a wrong one throws std::logic_error. Collective.
CollectiveResults bench_collective(const Communicator& communicator, const CollectiveCase& what,
                                   const ContestOptions& options);

/// Tables for people, one of all sizes for each contestant, laid out as the OSU micro-benchmarks
/// are.
std::string to_text(const CollectiveResults& results, const std::string& transport, int rounds);

/// The same for programs.
nlohmann::ordered_json to_json(const CollectiveResults& results);

/// The same for a page, a picture a size.
report::Section section_of(const CollectiveResults& results);

/// What of a case goes into what a page says of all.
std::vector<TimedWay> ways_of(const CollectiveResults& results);

} // namespace sextant::command
