// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/calibrate/cells.hpp"
#include "sextant/comm/communicator.hpp"
#include "sextant/core/statistics.hpp"
#include "sextant/machine/profile.hpp"

#include <array>
#include <functional>
#include <map>
#include <span>
#include <vector>

namespace sextant::calibrate {

/// Returns the sizes to measure next, so that interpolation between points becomes accurate. If a
/// point deviates from the line between its neighbours by more than max(5 %, 3 half-widths of its
/// interval), bisects the distances to both neighbours, unless they are within 5 % or 16 bytes of
/// the point.
///
/// Input     points of one curve in order of size, each size once.
/// Output    new sizes in increasing order, multiples of `unit`.
std::vector<Bytes> sizes_wanted(std::span<const machine::Point> points, Bytes unit = 1);

/// Returns the sizes above which the protocol changes. Such a size is the lower of two points that
/// are too close to be bisected and whose times differ by more than max(10 %, 3 half-widths of
/// either interval).
std::vector<Bytes> switches_in(std::span<const machine::Point> points);

/// The samples of a cell, measured by the clocks of both ranks.
class Series {
  public:
    void add(const Sample& sample);

    /// Returns the samples to evaluate: the undisturbed ones, or all if fewer than `least_kept` are
    /// undisturbed.
    const std::vector<double>& of(int rank) const;
    std::size_t size() const { return of(0).size(); }
    /// Returns median and interval by the clock of rank 0 or 1. Requires a sample.
    machine::Value value(int rank) const;
    /// True if on both ranks the interval extends at most `share` times the median to either side.
    bool within(double share) const;
    bool quiet() const { return kept_[0].size() >= least_kept; }

  private:
    static constexpr std::size_t least_kept = 4;
    std::array<std::vector<double>, 2> kept_, all_;
};

struct CampaignOptions {
    Seconds budget = 10; ///< time limit, measured by the stopwatch
    double ci =
        .02; ///< half-width of the interval, relative to the median, at which a cell is done
    unsigned seed = 1; ///< seed of the order of cells
    /// If true, measures the state of the machine well, adds sizes where curves bend, and may take
    /// longer than the budget by the time of one cell.
    bool patient = true;
    /// Called from time to time with the fraction of the budget that is used.
    std::function<void(double share)> progress = {};
};

/// The measurements of one launch.
struct Measurements {
    std::map<Cell, Series> cells;
    machine::Value probe_before, probe_after; ///< probe times that identify the state
};

/// Measures cells: first each cell once, level by level, then repeatedly the cells that have not
/// converged, in random order (`seed`), adding sizes where curves bend, until all cells have
/// converged or the time is up. The first level is measured even if the time is up, because nothing
/// can be predicted without it; other unmeasured cells are left out.
///
/// Collective over the ranks of the stopwatch.
Measurements measure(Stopwatch& stopwatch, const CellLevels& levels,
                     const CampaignOptions& options);

/// Calls `body` with a rig for each pair of ranks that represents a class of links, one pair after
/// another; all other ranks wait. Collective.
void with_rigs(const Communicator& communicator, Bytes memory,
               const std::function<void(Stopwatch&, machine::Link)>& body);

/// Measures one launch on this machine. Each class of links gets a part of the budget; operators,
/// kernels and copies are measured together with the first class.
///
/// Input     `earlier`, if not null: a profile whose message sizes are measured too.
/// Output    on rank 0 the profile of this launch, marked `unsteady` if the machine's state changed
///           during the launch.
/// Requires  two ranks or more (InvalidTask).
/// Collective.
machine::Profile measure_launch(const Communicator& communicator, const machine::Profile* earlier,
                                const CampaignOptions& options);

} // namespace sextant::calibrate
