// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/report/svg.hpp"

#include <string>
#include <vector>

namespace sextant::report {

/// The colours of a schedule's rounds in a picture: its style classes and its legend.
class RoundColours {
  public:
    explicit RoundColours(int rounds) : rounds_(rounds) {}

    /// The style class whose stroke is the round's colour.
    std::string class_of(int round) const;
    void add_styles(Svg& svg) const;
    /// An entry a round, or one ramp for many.
    std::vector<LegendEntry> legend() const;

  private:
    int rounds_;
};

} // namespace sextant::report
