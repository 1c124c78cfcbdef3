// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/contour/catalogue.hpp"
#include "sextant/core/effects.hpp"
#include "sextant/core/grid.hpp"
#include "sextant/core/json_value.hpp"
#include "sextant/planner/choose.hpp"
#include "sextant/planner/planner.hpp"

#include <string>
#include <vector>

namespace sextant::distributed {

/// Options for merging the border lists of tiles. They must be the same on every rank.
struct MergingOptions {
    std::string pattern = "auto"; ///< "auto" (predicted), or a name of contour::catalogue()
    /// The profile for predictions; if empty, this machine's own profile, one from a probe, or a
    /// built-in one.
    std::string machine = {};
    planner::Probing probing = planner::Probing::kept;
    bool timeline = false; ///< predict and record a timeline of each rank

    /// Throws InvalidTask for an unknown pattern.
    void check() const;
};
Record record_of(MergingOptions& options);
Effects effects_of(const MergingOptions& options);

/// The pattern that merges the border lists of tiles, and the reason for the choice.
struct MergingPlan : planner::Plan<const contour::Pattern*> {
    double density = 0;  ///< number of list entries per pixel of the tiles' borders
    Trace timeline = {}; ///< predicted timeline, if requested
};

/// Predicts every pattern and chooses the fastest.
/// Input     `density`: see MergingPlan; `setting`: the machine, the nodes of ranks, the model, and
///           the request for timelines; elements are list entries.
/// Throws    model::CannotExpress.
MergingPlan plan_merging(const Grid& grid, double density, const planner::Setting& setting);

/// Returns the pattern that the options name. With "auto", returns the pattern that rank 0 predicts
/// to be fastest for the density of these lists, or logp-lev-quad if no prediction is possible.
/// Input     the number of entries in this rank's list, and the bytes of an entry.
/// Output    the complete plan on rank 0; only the pattern on other ranks.
/// Collective.
MergingPlan plan_merging(const Communicator& communicator, const MergingOptions& options,
                         const Grid& grid, Elements entries, Bytes entry);

Json json_of(const MergingPlan& plan);

} // namespace sextant::distributed
