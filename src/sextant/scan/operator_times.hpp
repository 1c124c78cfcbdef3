// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::scan {

/// The values first … last − 1 of a series, or their combination.
struct Interval {
    Elements first = 0, last = 0;

    bool operator==(const Interval&) const = default;
};

/// One application of the operator to values of a series: [first, middle) ⊕ [middle, last).
struct Application {
    Elements first = 0, middle = 0, last = 0;

    bool operator==(const Application&) const = default;
};

/// The time of an application. Must always be the same for the same application, so that a run and
/// its simulation use the same times.
using OperatorTime = std::function<Seconds(const Application& what)>;

/// One application in a run, with its thread and time: a bar of a Gantt chart.
struct Bar {
    int rank = 0, thread = 0;
    Application what;
    Seconds begin = 0, end = 0; ///< from the start of the run
};

/// The working and idle times of the workers in a run.
struct Usage {
    Elements applications = 0;
    Seconds makespan = 0;  ///< end of the last application
    Seconds busy = 0;      ///< core-seconds in the operator, all workers
    Seconds idle = 0;      ///< workers × makespan − busy
    double imbalance = 1;  ///< operator time of the busiest worker relative to the mean
    double efficiency = 0; ///< `serial` divided by workers × makespan
};

/// Computes the usage of a run.
/// Input     the bars of a run on ranks × threads workers; the time that one worker needs for the
///           series.
Usage usage(std::span<const Bar> bars, int ranks, int threads, Seconds serial);

/// A model of the time that an operator takes.
struct Distribution {
    enum class Kind : std::uint8_t {
        constant,
        exponential, ///< drawn independently for every application
        correlated,  ///< lognormal, correlated between neighbours of the series
        recorded     ///< a list of times, in the order of the series
    };
    Kind kind = Kind::constant;
    Seconds mean = 1;        ///< mean time; recorded times are scaled to this mean unless it is 0
    double spread = .6;      ///< correlated: standard deviation of the logarithm
    double correlation = .9; ///< correlated: correlation of the logarithms of neighbours
    std::vector<Seconds> times = {}; ///< recorded: the list of times
};

std::string_view name(Distribution::Kind kind);

/// Reads recorded times: a JSON list of seconds. Throws InvalidFile.
std::vector<Seconds> read_times(const std::string& path);

/// Throws InvalidTask unless times are finite and non-negative, recorded times exist, and the
/// correlation is within [0, 1).
void check(const Distribution& distribution);

/// Operator times drawn for one run of a series.
///
/// A correlated or recorded time depends on the position in the series where the two operands meet,
/// like the registration of two neighbouring frames. Therefore a segment takes the same time if it
/// is reduced from either end, or scanned. A recorded list that is shorter than the series repeats;
/// seeds other than 0 start at another position of the list and keep its order.
///
/// Deterministic: the same on every machine for a distribution, a number of values and a seed.
class Draws {
  public:
    /// Throws InvalidTask.
    Draws(const Distribution& distribution, Elements values, std::uint64_t seed);

    Seconds operator()(const Application& what) const;

    /// The time that one worker needs for the series.
    Seconds serial() const;

  private:
    const Distribution::Kind kind_;
    const Seconds mean_;
    const Elements values_;
    const std::uint64_t seed_;
    std::vector<Seconds> at_; ///< correlated or recorded: times by position where operands meet
};

} // namespace sextant::scan
