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

/// A collective operation to time at several sizes; docs/bench.md describes its fields.
struct CollectiveCase {
    std::string name;
    CollectiveKind what = CollectiveKind::scatter;
    bool tiles = false; ///< blocks are nearly square tiles of an image: strided rows
    std::vector<Bytes> sizes = {0,    1,       4,       16,      64,      256,
                                1024, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20};
    std::vector<std::string> algorithms; ///< empty: all
};

Record record_of(CollectiveCase& what);

/// Reads cases from a JSON file. Throws InvalidFile.
std::vector<CollectiveCase> read_collective_cases(const std::string& path);

/// Every collective with the default sizes; scatter, gather and all-gather also with tiles.
std::vector<CollectiveCase> usual_collective_cases();

/// An image of bytes, divided among the ranks, whose blocks have the given size. `size` is the size
/// of the block per rank; per pair of ranks in an all-to-all; of all data in a broadcast. Without
/// tiles, each block is one row of bytes and therefore contiguous.
Grid grid_of(const CollectiveCase& what, Bytes size, int ranks);

/// The times of one implementation at one size.
struct CollectiveResult : TimedResult { // relative to the first result
    bool baseline = false;
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

/// Times every algorithm for a case, and MPI's collective if the communicator runs on MPI, against
/// each other at each size. First checks the received data; throws std::logic_error if it is wrong.
/// Collective.
CollectiveResults bench_collective(const Communicator& communicator, const CollectiveCase& what,
                                   const ContestOptions& options);

/// One table per contestant, with one row per size, in the format of the OSU micro-benchmarks.
std::string to_text(const CollectiveResults& results, const std::string& transport, int rounds);

/// The results as JSON.
nlohmann::ordered_json to_json(const CollectiveResults& results);

/// A page section with one chart per size.
report::Section section_of(const CollectiveResults& results);

/// The results as entries of the page's summary.
std::vector<TimedConfiguration> configurations_of(const CollectiveResults& results);

} // namespace sextant::lab
