// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/model/model.hpp"
#include "sextant/model/superstep.hpp"

#include <functional>
#include <vector>

namespace sextant::model {

/// A rectangle of processors of a mesh; of other machines, `width` consecutive ones.
struct Submachine {
    int x = 0, y = 0, width = 0, height = 1;

    auto operator<=>(const Submachine&) const = default;
};

/// How C³ reads a machine and a schedule.
struct C3Reading {
    Counting counting = Counting::exact;
    /// The distances that the paper gives, or those counted out.
    bool published_distances = false;
    /// Where the submachine of a round and group lies, if that is known. Otherwise a round without
    /// groups uses the whole machine, and one with groups is cut into equal submachines as small as
    /// its groups allow; groups of one submachine are charged together.
    std::function<Submachine(int round, int group)> submachine = {};
};

/// What C³ charges for one round, in units: the dearest of its submachines, and the processor that
/// touches most.
struct RoundCharge {
    int round = 0;
    Units communication;
    double computation = 0;
};

/// The rounds of a schedule, in order.
///
/// Requires  rounds that are supersteps: no message depends on one received in its own round
///           (CannotExpress otherwise). Meshes have two dimensions where there are groups, or more
///           or fewer ranks than processors.
std::vector<RoundCharge> charges(const Question& question, const C3Reading& reading = {});

/// C³: supersteps, each charged with the busiest processor, link congestion and processor
/// congestion; in seconds by the profile's time of a unit. The schedule's `round` tells supersteps
/// apart, `group` submachines. More or fewer ranks than the profile's machine has processors are
/// taken for a like machine of that size.
///
/// Source    Hambrusch and Khokhar, JPDC 32(2), 1996, doi:10.1006/jpdc.1996.0010
Prediction c3(const Question& question);
/// The same for who knows more of where groups lie, or reads it as the paper does.
Prediction c3(const Question& question, const C3Reading& reading);

} // namespace sextant::model
