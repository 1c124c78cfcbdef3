// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/contour/catalogue.hpp"
#include "sextant/core/grid.hpp"
#include "sextant/core/record.hpp"
#include "sextant/planner/choose.hpp"
#include "sextant/planner/planner.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::distributed {

/// The pattern that merges the border lists of tiles, and why it was chosen.
struct MergingPlan {
    const contour::Pattern* pattern = nullptr;
    std::string reason;
    std::string machine, model; ///< used to predict; empty if nothing was predicted
    double density = 0;         ///< entries per pixel of the tiles' borders
    struct Alternative {
        std::string pattern;
        std::optional<Seconds> seconds; ///< predicted
    };
    std::vector<Alternative> alternatives; ///< fastest first
    /// The prediction for the pattern, with its timeline; only if requested and possible.
    std::optional<model::Prediction> prediction;
};

/// The requested pattern, or how to choose one.
struct MergingRequest {
    static constexpr std::string_view automatic = "auto";

    std::string pattern{automatic}; ///< a name of the catalogue, or "auto"
    /// A profile to predict with; "": this machine's own, or a probe, or a built-in one.
    std::string machine = {};
    planner::Probing probing = planner::Probing::kept;
    bool timeline = false; ///< predict a timeline

    /// Throws InvalidTask if the catalogue does not have the pattern.
    void check() const;
};
Record record_of(MergingRequest& request);

/// Predicts every pattern and chooses the fastest.
/// Input     list entries per pixel of border; `setting`: the machine, the nodes of ranks, the
///           model, and whether a timeline is wanted; its elements are list entries.
/// Throws    model::CannotExpress.
MergingPlan plan_merging(const Grid& grid, double density, const planner::Setting& setting);

/// The requested pattern; with "auto", the fastest as predicted by rank 0 for the actual density of
/// lists, or logp-lev-quad if nothing can be predicted.
/// Input     the number of entries in this rank's list, and the bytes of an entry.
/// Collective.
MergingPlan planned_merging(const Communicator& communicator, const MergingRequest& request,
                            const Grid& grid, Elements entries, Bytes entry);

std::string to_json(const MergingPlan& plan);

} // namespace sextant::distributed
