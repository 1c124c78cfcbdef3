// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/collective/catalogue.hpp"
#include "sextant/core/grid.hpp"
#include "sextant/core/record.hpp"
#include "sextant/core/units.hpp"
#include "sextant/lab/contest.hpp"
#include "sextant/report/page.hpp"

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace sextant::lab {

/// A collective to time at several sizes; docs/bench.md describes its fields.
struct CollectiveCase {
    std::string name;
    CollectiveKind what = CollectiveKind::scatter;
    bool tiles = false; ///< nearly square tiles of an image, with strided rows
    std::vector<Bytes> sizes = {0,    1,       4,       16,      64,      256,
                                1024, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20};
    std::vector<std::string> algorithms; ///< empty: all
};

Record record_of(CollectiveCase& what);

/// Reads cases from a JSON file. Throws InvalidFile.
std::vector<CollectiveCase> read_collective_cases(const std::string& path);

/// Every collective with the default sizes, and those that move tiles also with tiles.
std::vector<CollectiveCase> usual_collective_cases();

/// The image, in bytes, for a case at one size: `size` is that of the block per rank, per pair of
/// ranks, or of the whole for a broadcast. Blocks are rows of the image, so that each is contiguous
/// on any grid of processors.
Grid grid_of(const CollectiveCase& what, Bytes size, int ranks);

/// The result of an implementation at one size.
struct CollectiveResult {
    std::string name;
    bool baseline = false;
    std::optional<Seconds> predicted; ///< on this machine; none for baselines
    Estimate wall, cpu;               ///< seconds: of the slowest rank; of all ranks
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

/// Times every algorithm for a case, and MPI's own if the communicator runs on MPI, against each
/// other, size by size. First checks the received data; throws std::logic_error if it is wrong.
/// Collective.
CollectiveResults bench_collective(const Communicator& communicator, const CollectiveCase& what,
                                   const ContestOptions& options);

/// One table per contestant with all sizes, in the layout of the OSU micro-benchmarks.
std::string to_text(const CollectiveResults& results, const std::string& transport, int rounds);

/// The results as JSON.
nlohmann::ordered_json to_json(const CollectiveResults& results);

/// The results for a page, with one drawing per size.
report::Section section_of(const CollectiveResults& results);

/// The entries for the page's summary.
std::vector<TimedConfiguration> configurations_of(const CollectiveResults& results);

} // namespace sextant::lab
