// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/core/statistics.hpp"
#include "sextant/core/units.hpp"

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace sextant::operation {

/// How long a contestant took, one value a round.
struct Score {
    std::vector<Seconds> wall; ///< of the slowest rank
    std::vector<Seconds> cpu;  ///< of all ranks together
};

struct ContestOptions {
    int rounds = 31;
    Seconds least_turn = 2e-3; ///< a turn repeats its work until it takes so long
    int most_repeats = 10000;  ///< in a turn
    /// Whether a barrier, which is not timed, precedes every repetition instead of every turn: for
    /// work in which ranks need not wait for each other, and would run ahead.
    bool barriers = false;
    /// Called before each round, by every rank.
    std::function<void(int round)> progress = {};
    /// What every rank does before each turn, and before each repetition that takes long enough to
    /// be timed by itself; it is not timed.
    std::function<void()> before = {};
};

/// Times contestants against each other: in every round each takes a turn, in an order drawn anew
/// that is the same on all ranks, so that drift of the machine meets all. A barrier precedes what
/// is timed and is not timed; two rounds of warm-up are not counted. Collective.
std::vector<Score> contest(const Communicator& communicator,
                           std::span<const std::function<void()>> contestants,
                           const ContestOptions& options = {});

/// A median with its interval.
struct Estimate {
    double median = 0;
    Interval interval;
};

Estimate estimate(std::span<const double> values);

/// Of the ratios of two contestants, paired by round.
Estimate estimate_ratio(std::span<const Seconds> ours, std::span<const Seconds> reference);

} // namespace sextant::operation
