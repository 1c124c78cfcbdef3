// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/lab/tune_launch.hpp"
#include "sextant/lab/tuning_rules.hpp"

#include <span>
#include <string>
#include <vector>

// A rule is chosen from launches that measure all algorithms, and then verified in other launches,
// with and without the rule. Published figures use only the latter, because the fastest of many
// noisy measurements looks faster than it is.
namespace sextant::lab {

/// The time with a rule, relative to the default; less than 1 is faster.
struct RuleEvidence {
    /// Median over launches (or pairs of launches) of the geometric mean over the sizes of a class,
    /// and the 95 % interval of the median (interval_by_rank).
    double median = 1, low = 1, high = 1;
    /// The largest median over launches at any size, and this size.
    double worst = 1;
    Bytes worst_size = 0;

    /// Returns true if the entire interval is faster by more than this fraction, and no size is
    /// slower by more than the noise (2 %).
    bool faster_by(double fraction) const { return high < 1 - fraction && worst <= 1.02; }
};

/// A rule with the evidence for it.
struct TunedRule {
    TuningRule rule;
    RuleEvidence chosen;   ///< from the launches that measure all algorithms
    RuleEvidence verified; ///< from pairs of launches, with and without the rule
    bool kept() const { return verified.faster_by(.05); }
};

/// Returns the median over rounds: of the slowest rank's time or, if ranks outnumber cores, of the
/// CPU time of all ranks.
Seconds time_of(const AlgorithmTimes& times, bool crowded);

/// Finds the times of an algorithm; null if it was not measured. A message that is not longer than
/// a segment is treated as undivided.
const AlgorithmTimes* find_times(const TuneLaunch& launch, std::string_view operation, Bytes size,
                                 const MpiAlgorithm& algorithm);

/// Chooses the fastest algorithm of MPI for each class of sizes in which this algorithm is at least
/// 5 % faster than the default. With Open MPI, the classes are those between neighbouring sizes;
/// with MPICH, one class contains all sizes. Algorithms that are wrong for operators that do not
/// commute are excluded, unless all operators commute.
/// Throws    InvalidTask if the launches differ in MPI or ranks.
std::vector<TunedRule> choose_rules(std::span<const TuneLaunch> launches, bool commutative);

/// Returns the sizes at which a rule is verified: both ends and the middle of its class, and those
/// of `sizes` that are in the class.
std::vector<std::int64_t> sizes_to_verify(const TuningRule& rule,
                                          std::span<const std::int64_t> sizes);

/// Sets the evidence of rules from pairs of launches, without and with the rules, that measure only
/// the default algorithm.
void verify_rules(std::vector<TunedRule>& rules, std::span<const TuneLaunch> without,
                  std::span<const TuneLaunch> with);

/// All results of tuning.
struct TuneResults {
    std::vector<TuneLaunch> measured;      ///< launches that measure all algorithms
    std::vector<TunedRule> rules;          ///< chosen or read from a file; kept or discarded
    std::vector<TuneLaunch> without, with; ///< pairs of launches that verify the rules
    TuningRules written;                   ///< the rules that were kept
    std::string output;                    ///< file with `written`; "" if none was written

    const TuneLaunch& any() const { return measured.empty() ? without.front() : measured.front(); }
};

/// The latencies of one algorithm at one size: medians over the rounds of all launches.
struct Latency {
    std::string_view operation;
    std::string algorithm;
    Bytes size = 0;
    Seconds least = 0, average = 0, most = 0; ///< fastest rank, mean, slowest rank
    Seconds cpu = 0;                          ///< CPU time of all ranks
    bool ours = false;
};

/// Returns latencies ordered by operation, algorithm and size. For the launches that verify the
/// rules, the algorithm is "without rules" or "with rules".
std::vector<Latency> latencies_of(const TuneResults& results);

/// Returns tables in the format of the OSU benchmarks, one per operation and algorithm.
std::string latency_tables(const TuneResults& results);
/// Returns a table per operation: at each size, the default next to the fastest algorithms of MPI
/// and of Sextant.
std::string fastest_tables(const TuneResults& results);
/// Returns a table of the rules with the evidence for each rule.
std::string rules_table(const TuneResults& results);
std::string csv_of(const TuneResults& results);
std::string json_of(const TuneResults& results);
std::string page_of(const TuneResults& results);

} // namespace sextant::lab
