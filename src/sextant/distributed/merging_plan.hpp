// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/contour/catalogue.hpp"
#include "sextant/core/grid.hpp"
#include "sextant/planner/choose.hpp"
#include "sextant/planner/planner.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::distributed {

/// In which order what tiles know of their borders is merged, and why.
struct MergingPlan {
    const contour::Pattern* pattern = nullptr;
    std::string reason;
    std::string machine, model; ///< that predicted; empty where nothing was
    double density = 0;         ///< entries a pixel of the tiles' borders
    struct Alternative {
        std::string pattern;
        std::optional<Seconds> seconds; ///< predicted
    };
    std::vector<Alternative> alternatives; ///< the fastest first
    /// Of the pattern, with its timeline, where that was asked for and something was predicted.
    std::optional<model::Prediction> prediction;
};

/// What is asked for.
struct MergingRequest {
    static constexpr std::string_view automatic = "auto";

    std::string pattern{automatic}; ///< one of the catalogue, or "auto"
    std::string machine;            ///< a profile; "": this machine's
    planner::Probing probing = planner::Probing::now;
    bool timeline = false; ///< is wanted

    /// Throws InvalidTask for a pattern that the catalogue does not have.
    void check() const;
};

/// Every pattern, predicted with lists of so many entries a pixel of border.
/// Input     the machine, where ranks lie and by which model: `setting`, whose elements are the
///           entries; whether a timeline is wanted.
/// Throws    model::CannotExpress.
MergingPlan plan_merging(const Grid& grid, double density, const planner::Setting& setting);

/// The pattern that is asked for; else predicted at rank 0 for lists as dense as they are; where
/// nothing can be predicted, logp-lev-quad.
/// Input     how many entries this rank's list has, and of how many bytes each.
/// Collective.
MergingPlan planned_merging(const Communicator& communicator, const MergingRequest& request,
                            const Grid& grid, Elements entries, Bytes entry);

std::string to_json(const MergingPlan& plan);

} // namespace sextant::distributed
