// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

namespace sextant::scan {

/// Values first … last − 1 of a series, combined.
struct Interval {
    Elements first = 0, last = 0;

    bool operator==(const Interval&) const = default;
};

/// One application of the operator to values of a series: [first, middle) ⊕ [middle, last).
struct Application {
    Elements first = 0, middle = 0, last = 0;

    bool operator==(const Application&) const = default;
};

/// How long an application takes. The same application takes the same time whenever it is asked
/// for, so that a run and its rehearsal have the same draws.
using OperatorTime = std::function<Seconds(const Application& what)>;

/// One application in a run: who did it, and when.
struct Bar {
    int rank = 0, thread = 0;
    Application what;
    Seconds begin = 0, end = 0; ///< from the start of the run
};

/// What the workers did with their time.
struct Usage {
    Elements applications = 0;
    Seconds makespan = 0; ///< to the end of the last application
    Seconds busy = 0;     ///< core-seconds within the operator, of all workers
    Seconds idle = 0;     ///< the rest of workers × makespan
    double imbalance = 1; ///< the busiest worker's time in the operator over the mean
    double efficiency =
        0; ///< of the workers, beside `serial`: what one would take, one after another
};

/// Input     the bars of a run of ranks × threads workers; what the series takes one worker.
Usage usage(std::span<const Bar> bars, int ranks, int threads, Seconds serial);

/// What is known of how long an operator takes.
struct Distribution {
    enum class Kind : std::uint8_t {
        constant,
        exponential, ///< every application on its own
        correlated,  ///< lognormal, and alike for neighbours of the series
        recorded     ///< a list of times, in the order of the series
    };
    Kind kind = Kind::constant;
    Seconds mean = 1;                ///< recorded times are scaled to it; 0 leaves them as they are
    double spread = .6;              ///< correlated: the standard deviation of the logarithm
    double correlation = .9;         ///< correlated: of one value's logarithm with the next one's
    std::vector<Seconds> times = {}; ///< recorded
};

std::string_view name(Distribution::Kind kind);

/// Throws InvalidTask unless times are finite and not negative, recorded ones exist, and a
/// correlation lies within [0, 1).
void check(const Distribution& distribution);

/// Operator times drawn for one run of a series.
///
/// Correlated and recorded times belong to the place in the series where two operands meet, which
/// is what a registration of two neighbouring frames depends on: reducing a segment takes the same
/// from either end, and scanning it what reducing it took. A recorded list that is shorter than the
/// series begins anew; each seed but 0 enters it at another place, so its order stays.
///
/// Deterministic  the same on every machine, for a distribution, a number of values and a seed.
class Draws {
  public:
    /// Throws InvalidTask.
    Draws(const Distribution& distribution, Elements values, std::uint64_t seed);

    Seconds operator()(const Application& what) const;

    /// What the series takes one worker.
    Seconds serial() const;

  private:
    const Distribution::Kind kind_;
    const Seconds mean_;
    const Elements values_;
    const std::uint64_t seed_;
    std::vector<Seconds> at_; ///< where the kind says so, by the place where operands meet
};

} // namespace sextant::scan
