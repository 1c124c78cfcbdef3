// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/kernel/label/labels.hpp"

#include <cstddef>
#include <string_view>
#include <vector>

namespace sextant::kernel {

/// Components of successive parts of an image or volume, which are joined where parts meet, and
/// then numbered in the order of parts and of labels within a part. If parts and their labels are
/// in the order of first pixels, so are the numbers.
class JoinedParts {
  public:
    static constexpr Elements most_labels = 2147483647;

    /// `parts`: what the parts are called in errors; `most`: the largest allowed number of their
    /// components together.
    explicit JoinedParts(std::string_view parts, Elements most = most_labels)
        : parts_(parts), most_(most) {}

    /// Adds the next part. Returns the number of components before it. Throws InvalidTask if there
    /// are too many.
    Label add(Elements components);
    /// The number of components of all parts.
    Elements count() const { return static_cast<Elements>(parents_.size()); }
    /// Joins two components, counted from 0 through all parts.
    void join(Elements a, Elements b);
    /// Before number(): the first of the components that are joined to a component.
    Label root(Elements component);
    /// Numbers the components, from 1; returns how many there are. Call once, after the last join.
    Label number();
    /// After number(): the number of a component.
    Label operator[](Elements component) const {
        return parents_[static_cast<std::size_t>(component)];
    }

  private:
    const std::string_view parts_;
    const Elements most_;
    std::vector<Label> parents_; // [component]: an earlier component joined to it, or itself
};

} // namespace sextant::kernel
