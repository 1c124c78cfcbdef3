// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/scan/operator_times.hpp"

#include <string_view>
#include <vector>

namespace sextant::papers {

/// A model of the times in the registration of a series.
struct SeriesTimes {
    scan::Distribution applications; ///< times of the operator, in units of their mean
    /// The time to register two neighbouring frames before the scan, in units of an application; 0
    /// to model the scan alone.
    double neighbours = 0;
};

/// The scan alone, with constant times.
SeriesTimes constant_times();
/// The scan alone, with independent exponential times.
SeriesTimes exponential_times();
/// The scan after the registration of neighbours, which takes twice as long as an application.
/// Times are lognormal (standard deviation of the logarithm .5), and those of adjacent frames are
/// correlated (.9). These three numbers are fitted to three times in Copik's thesis.
SeriesTimes fitted_times();

/// Assigns to an application the time of the last frame that it registers, so that a prefix takes a
/// different time with each of a rank's results. `draws` must outlive the result.
scan::OperatorTime time_of_last_frame(const scan::Draws& draws);

/// The registration of a series by ranks with one core each.
struct SeriesRun {
    Elements frames = 4096;
    int ranks = 512;
    std::string_view circuit = "kogge-stone";
    std::string_view strategy = "scan-then-propagate";
    /// True if the global scan gives each rank its last result (see scan::GlobalScan).
    bool gives_last = true;
};

struct SimulatedSeries {
    Seconds makespan = 0;           ///< in units of the mean time of an application
    std::vector<Seconds> makespans; ///< makespan of each draw
    double speedup =
        0; ///< speedup over one core, which also registers neighbours if the model does
};

/// Simulates nine draws of times, on a clock that counts only the operator, and returns the
/// medians.
SimulatedSeries simulated_series(const SeriesRun& run, const SeriesTimes& times);

} // namespace sextant::papers
