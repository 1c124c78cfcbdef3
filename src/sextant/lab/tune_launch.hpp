// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/core/record.hpp"
#include "sextant/core/units.hpp"
#include "sextant/lab/contest.hpp"
#include "sextant/lab/tuning_rules.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::lab {

/// Options for the measurements of one launch.
struct TuneTask {
    std::vector<std::string> collectives; ///< names of tuned_operations(); empty: all
    std::vector<std::int64_t> sizes = {16, 128, 1024, 8192, 65536, 524288};
    /// Names of the algorithms to measure: "default", "pipeline", "sextant radix-k"; empty: all.
    std::vector<std::string> algorithms;
    int rounds = 11;

    /// Returns true if only the default algorithm is measured.
    bool only_default() const { return algorithms == std::vector<std::string>{"default"}; }
};

Record record_of(TuneTask& task);

/// Throws InvalidTask if a collective is unknown, or if the sizes are not increasing.
void check_task(const TuneTask& task);

/// The times of one algorithm at one size, per round.
struct AlgorithmTimes : Score {
    std::string_view operation;
    Bytes size = 0;
    MpiAlgorithm algorithm; ///< algorithm of MPI; for Sextant's algorithms, only the name is set
    bool ours = false;      ///< true for an algorithm of Sextant
    bool in_order = true;   ///< false if the algorithm is wrong for operators that do not commute
    std::string refused;    ///< MPI's error or a wrong result, if it was not measured

    bool is_default() const { return !ours && algorithm.number == 0; }
    std::string name() const { return ours ? "sextant " + algorithm.name : algorithm.text(); }
};

struct TuneLaunch {
    std::string mpi, host, date;
    int ranks = 0;
    bool crowded = false; ///< true if the ranks of a node outnumber its cores
    std::vector<AlgorithmTimes> times;
};

/// Compares the run times of the algorithms of MPI and of Sextant in this launch. In each round,
/// every algorithm of an operation runs once at each size, in random order. The results of all
/// algorithms are compared with that of the default.
///
/// Output    complete on rank 0; unspecified elsewhere.
/// Throws    AgreedFailure if there is only one rank, if ranks are threads, or if algorithms cannot
///           be selected.
/// Collective.
TuneLaunch measure_algorithms(const Communicator& communicator, const TuneTask& task);

std::string to_json(const TuneLaunch& launch);
/// Reads a launch written by to_json(). Throws InvalidFile.
TuneLaunch read_launch(const std::string& path);

} // namespace sextant::lab
