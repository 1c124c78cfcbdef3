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

/// A collective operation to measure at several sizes; docs/bench.md describes its fields.
struct CollectiveCase {
    std::string name;
    CollectiveKind what = CollectiveKind::scatter;
    bool tiles = false; ///< blocks are nearly square tiles of an image, that is, strided rows
    std::vector<Bytes> sizes = {0,    1,       4,       16,      64,      256,
                                1024, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20};
    std::vector<std::string> algorithms; ///< empty: all
};

Record record_of(CollectiveCase& what);

/// Reads cases from a JSON file. Throws InvalidFile.
std::vector<CollectiveCase> read_collective_cases(const std::string& path);

/// Returns every collective with the default sizes; scatter, gather and all-gather also with tiles.
std::vector<CollectiveCase> usual_collective_cases();

/// Returns the division of an image of bytes among the ranks. `size` is the size of the block per
/// rank; for an all-to-all, per pair of ranks; for a broadcast, of all data. Without tiles, each
/// block is one row of bytes and therefore contiguous.
Grid grid_of(const CollectiveCase& what, Bytes size, int ranks);

/// The times of one implementation at one size.
struct CollectiveResult : TimedResult { // ratios are relative to the first result
    bool baseline = false;
};

struct ResultsOfSize {
    Bytes size = 0;
    std::vector<CollectiveResult> results; ///< baselines first
};

struct CollectiveResults {
    CollectiveCase what;
    int ranks = 1;
    std::vector<ResultsOfSize> sizes;
};

/// Compares the run times of all algorithms for a case at each size, and of MPI's collective if the
/// communicator runs on MPI. First checks the received data; throws std::logic_error if they are
/// wrong. Collective.
CollectiveResults bench_collective(const Communicator& communicator, const CollectiveCase& what,
                                   const ContestOptions& options);

/// Returns one table per contestant, with one row per size, in the format of the OSU
/// micro-benchmarks.
std::string to_text(const CollectiveResults& results, const std::string& transport, int rounds);

/// Returns the results as JSON.
nlohmann::ordered_json to_json(const CollectiveResults& results);

/// Returns a page section with one chart per size.
report::Section section_of(const CollectiveResults& results);

/// Returns the results as entries of the page's summary.
std::vector<TimedConfiguration> configurations_of(const CollectiveResults& results);

} // namespace sextant::lab
