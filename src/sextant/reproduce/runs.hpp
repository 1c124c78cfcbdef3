// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/machine/profile.hpp"
#include "sextant/schedule/program.hpp"
#include "sextant/simulate/simulate.hpp"

#include <optional>
#include <string>
#include <vector>

namespace sextant::reproduce {

inline constexpr Elements mega = 1024 * 1024;

/// A machine that is shipped, how its hosts are ordered, and what blending costs if not what the
/// platform says.
struct Setting {
    std::string platform;
    std::string order = {};
    std::optional<double> blend_rate = {};    ///< pixels a second
    std::vector<double> active_by_round = {}; ///< of sparse images, see simulate::Question
    bool timeline = false;
};

/// Seconds to blend an image of so many pixels of 16 bytes on each rank, by an algorithm in its
/// usual tuning, or with radices. Operands are combined as they come.
Seconds composite(const std::string& algorithm, int ranks, Elements pixels, const Setting& setting,
                  const std::vector<int>& radices = {});

/// Seconds for a schedule of elements of so many bytes: by our own clock on platforms in our words,
/// by SimGrid on its own.
simulate::Simulation run(const Schedule& schedule, Bytes element_size, const Setting& setting);

/// The profile of a machine that a paper measured, which is shipped.
machine::Profile machine_of_paper(const std::string& name);

/// All ranks' programs of a compositing algorithm.
Schedule compositing_schedule(const std::string& algorithm, int ranks, Elements pixels,
                              const std::vector<int>& radices = {});

} // namespace sextant::reproduce
