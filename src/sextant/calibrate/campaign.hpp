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

/// Sizes to measure next so that lines between points do not err: both sides of every point from
/// which the line between its neighbours is off by more than max(5 %, 3 half intervals), halved
/// again until neighbours are within 5 % or 16 bytes of each other.
///
/// Input     points of one curve by size, each size once.
/// Output    new sizes, multiples of `unit`, by size.
std::vector<Bytes> sizes_wanted(std::span<const machine::Point> points, Bytes unit = 1);

/// The sizes above which the protocol changes: the lower of two points that lie as close as
/// refinement goes, between which the time jumps by more than max(10 %, 3 half intervals).
std::vector<Bytes> switches_in(std::span<const machine::Point> points);

/// What was measured of a cell, by the clocks of the two ranks.
class Series {
  public:
    void add(const Sample& sample);

    /// Samples that count: the undisturbed, or all where hardly any was left alone.
    const std::vector<double>& of(int rank) const;
    std::size_t size() const { return of(0).size(); }
    /// Median and interval by rank 0's or rank 1's clock. Requires a sample.
    machine::Value value(int rank) const;
    /// Whether both intervals reach at most so far to either side, as a share of the median.
    bool within(double share) const;
    bool quiet() const { return kept_[0].size() >= least_kept; }

  private:
    static constexpr std::size_t least_kept = 4;
    std::array<std::vector<double>, 2> kept_, all_;
};

struct CampaignOptions {
    Seconds budget = 10; ///< to end after, by the stopwatch
    double ci = .02;     ///< half an interval, as a share of the median, at which a cell is done
    unsigned seed = 1;   ///< of the order of cells
    /// Whether the first level is measured whatever the time, since a launch without it would tell
    /// nothing, and sizes are added where curves bend.
    bool patient = true;
    /// Called now and then with the share of the budget that has gone.
    std::function<void(double share)> progress = {};
};

/// One launch's measurements.
struct Measurements {
    std::map<Cell, Series> cells;
    machine::Value probe_before, probe_after; ///< the probe, by which states are told
    int planned = 0;                          ///< cells, with those that refinement added
    double ci = 0;

    /// Cells measured whose intervals are wider than was asked.
    int unsettled() const;
};

/// Measures a plan: first each cell once, level by level, then those that have not converged, again
/// and again, in orders drawn from the seed, with new sizes where curves bend; until all have
/// converged or the time is over. What is then unmeasured is left out, but for the first level
/// of a patient one.
///
/// Collective   over the ranks of the stopwatch.
Measurements measure(Stopwatch& stopwatch, const Plan& plan, const CampaignOptions& options);

/// Gives every pair of ranks that stands for a class of links a rig, one pair after another, and
/// the other ranks nothing to do. Collective.
void with_rigs(const Communicator& communicator, Bytes memory,
               const std::function<void(Stopwatch&, machine::Link)>& body);

/// Measures this machine once: each class of links for its part of the budget, and work with the
/// first of them.
///
/// Input     the sizes of `earlier`, if any, are measured too.
/// Output    on rank 0 the profile of this launch, with a note where its state changed meanwhile.
/// Requires  two ranks or more (InvalidTask). Collective.
machine::Profile measure_launch(const Communicator& communicator, const machine::Profile* earlier,
                                const CampaignOptions& options);

} // namespace sextant::calibrate
