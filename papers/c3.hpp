// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/grid.hpp"
#include "sextant/model/c3.hpp"

#include <optional>
#include <string_view>

namespace sextant::papers {

/// The counting rules of the C³ paper on a grid of processors: packets may be fractions, p replaces
/// p - 1, distances are as printed, and groups are at the positions stated by the algorithms.
model::C3Reading as_the_c3_paper_reads(const Grid& grid);

/// The C³ charge of a collective of the catalogue on 256 processors of the Delta, counted like the
/// paper's figures: `packets` is per byte of a message. `parameter` is the value of the algorithm's
/// parameter; by default, the published one.
model::Units charge_of(std::string_view algorithm, std::optional<double> parameter = {});

} // namespace sextant::papers
