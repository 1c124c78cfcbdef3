// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/lab/tune_choice.hpp"
#include "sextant/lab/tune_launch.hpp"
#include "sextant/lab/tuning_rules.hpp"

#include <span>
#include <string>
#include <vector>

namespace sextant::lab {

/// All results of tuning.
struct TuneResults {
    std::vector<TuneLaunch> measured;      ///< launches that time all algorithms
    std::vector<TunedRule> rules;          ///< chosen, or read from a file; kept or not
    std::vector<TuneLaunch> without, with; ///< pairs of launches that verify the rules
    TuningRules written;                   ///< the rules that were kept
    std::string output;                    ///< file of `written`; "" if none was written

    const TuneLaunch& any() const { return measured.empty() ? without.front() : measured.front(); }
};

/// The latencies of one algorithm at one size: medians over the rounds of all launches.
struct Latency {
    std::string_view operation;
    std::string algorithm;
    Bytes size = 0;
    Seconds least = 0, average = 0, most = 0; ///< fastest rank, mean, slowest rank
    Seconds cpu = 0;                          ///< of all ranks
    bool ours = false;
};

/// By operation, algorithm and size. The pairs of launches are named "without rules" and "with
/// rules".
std::vector<Latency> latencies_of(const TuneResults& results);

/// Tables in the form of the OSU benchmarks, one per operation and algorithm.
std::string latency_tables(const TuneResults& results);
/// Per operation, the default next to the fastest algorithm of MPI and of Sextant at each size.
std::string fastest_tables(const TuneResults& results);
/// The rules, with the evidence for each.
std::string rules_table(const TuneResults& results);
std::string csv_of(const TuneResults& results);
std::string json_of(const TuneResults& results);
std::string page_of(const TuneResults& results);

} // namespace sextant::lab
