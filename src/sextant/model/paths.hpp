// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/machine/interpolate.hpp"
#include "sextant/model/message.hpp"

#include <limits>
#include <string>
#include <vector>

namespace sextant::model {

/// Looks costs up in what was measured and notes sizes that lie outside it.
class Lookup {
  public:
    explicit Lookup(const Question& question) : question_(question) {}

    /// T(n) of one path and layout, by size alone. `strategy` is that of strided messages.
    Span at_size(const Message& message, machine::Path path, machine::Layout layout,
                 machine::Strategy strategy);
    /// By size and by the shorter of the two block lengths.
    Span at_size_and_block(const Message& message, machine::Path path, machine::Strategy strategy);
    /// Of other points of a profile.
    Span at_size(const std::vector<machine::Point>& points, Bytes bytes);
    /// A line through the costs of contiguous messages.
    machine::Line line(machine::Link link, machine::Path path) const;

    std::vector<std::string> remarks() const;

  private:
    Span noted(const machine::Estimate& estimate, Bytes bytes);

    const Question& question_;
    Bytes least_ = std::numeric_limits<Bytes>::max(), most_ = -1; ///< sizes outside
};

/// The same line at a size.
Span at(const machine::Line& line, Bytes bytes);

/// What a model says, with the remarks of its lookups.
Prediction with_remarks(Prediction prediction, const Lookup& lookup);

} // namespace sextant::model
