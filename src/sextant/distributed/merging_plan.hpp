// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/contour/catalogue.hpp"
#include "sextant/core/grid.hpp"
#include "sextant/core/json_value.hpp"
#include "sextant/core/record.hpp"
#include "sextant/planner/choose.hpp"
#include "sextant/planner/planner.hpp"

#include <string>
#include <vector>

namespace sextant::distributed {

/// Options for merging the border lists of tiles. Every rank gives the same.
struct MergingOptions {
    std::string pattern = "auto"; ///< a name of contour::catalogue(), or "auto": predicted
    /// A profile to predict with; "": this machine's own, or a probe, or a built-in one.
    std::string machine = {};
    planner::Probing probing = planner::Probing::kept;
    bool timeline = false; ///< predict and record when each rank does what

    /// Throws InvalidTask for an unknown pattern.
    void check() const;
};
Record record_of(MergingOptions& options);

/// The pattern that merges the border lists of tiles, and why it was chosen.
struct MergingPlan : planner::Plan<const contour::Pattern*> {
    double density = 0;  ///< list entries per pixel of the tiles' borders
    Trace timeline = {}; ///< the prediction's, if requested
};

/// Predicts every pattern and chooses the fastest.
/// Input     `density` as in MergingPlan; `setting`: the machine, the nodes of ranks, the model,
///           and whether timelines are requested; its elements are list entries.
/// Throws    model::CannotExpress.
MergingPlan plan_merging(const Grid& grid, double density, const planner::Setting& setting);

/// The pattern that the options name; with "auto", the fastest as predicted by rank 0 for the
/// density of these lists, or logp-lev-quad if nothing can be predicted.
/// Input     the number of entries in this rank's list, and the bytes of an entry.
/// Output    at rank 0; on other ranks only the pattern.
/// Collective.
MergingPlan plan_merging(const Communicator& communicator, const MergingOptions& options,
                         const Grid& grid, Elements entries, Bytes entry);

Json json_of(const MergingPlan& plan);

} // namespace sextant::distributed
