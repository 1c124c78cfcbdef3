// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/lab/tune_launch.hpp"
#include "sextant/lab/tuning_rules.hpp"

#include <span>
#include <string>
#include <vector>

// A rule is chosen from launches that time all algorithms, and then verified in other launches,
// with and without the rule. Only the latter enter the published figures, because the fastest of
// many noisy measurements looks faster than it is.
namespace sextant::lab {

/// The time with a rule, relative to the default: below 1 is faster.
struct RuleEvidence {
    /// The geometric mean over the sizes of a class, per launch or pair of launches: its median and
    /// the 95 % interval of the median (interval_by_rank).
    double median = 1, low = 1, high = 1;
    /// The size at which the rule is worst: the median over launches.
    double worst = 1;
    Bytes worst_size = 0;

    /// True if the whole interval is faster, by more than this fraction, and no size is slower
    /// beyond noise (2 %).
    bool faster_by(double fraction) const { return high < 1 - fraction && worst <= 1.02; }
};

/// A rule with the evidence for it.
struct TunedRule {
    TuningRule rule;
    RuleEvidence chosen;   ///< from the launches that time all algorithms
    RuleEvidence verified; ///< from pairs of launches, with and without
    bool kept() const { return verified.faster_by(.05); }
};

/// The time of a rank or, if ranks outnumber cores, the CPU time of all ranks: the median of
/// rounds.
Seconds time_of(const AlgorithmTimes& times, bool crowded);

/// Finds the times of an algorithm; a message that is not longer than a segment is not divided.
/// Null if it was not timed.
const AlgorithmTimes* find_times(const TuneLaunch& launch, std::string_view operation, Bytes size,
                                 const MpiAlgorithm& algorithm);

/// Chooses the fastest algorithm of MPI for each class of sizes in which it is at least 5 % faster
/// than the default: the classes between neighbouring sizes with Open MPI, and all sizes together
/// with MPICH. Algorithms that are wrong for operators that do not commute are left out, unless all
/// operators commute.
/// Throws    InvalidTask if the launches differ in MPI or ranks.
std::vector<TunedRule> choose_rules(std::span<const TuneLaunch> launches, bool commutative);

/// The sizes at which a rule is verified: both ends of its class and its middle, and those of
/// `sizes` that it applies to.
std::vector<std::int64_t> sizes_to_verify(const TuningRule& rule,
                                          std::span<const std::int64_t> sizes);

/// Sets the evidence from pairs of launches without and with the rules, which time only the
/// default.
void verify_rules(std::vector<TunedRule>& rules, std::span<const TuneLaunch> without,
                  std::span<const TuneLaunch> with);

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
