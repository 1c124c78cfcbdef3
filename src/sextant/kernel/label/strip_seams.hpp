// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/kernel/label/joined_parts.hpp"

#include <span>
#include <vector>

namespace sextant::kernel {

/// The first or last row of a strip.
struct SeamRow {
    std::span<const Label> labels; ///< labels, numbered within the strip
    /// value_code() of the samples; may be empty if values are not compared
    std::span<const std::uint64_t> values;
};

/// Joins the components of an image that is labelled in strips of rows, from the top down, and
/// numbers them for the whole image. Keeps only the last row of the image.
///
/// Input     the components of each strip, labelled 1, 2, … in the order of their first pixels, and
///           the strip's first and last row.
/// Output    numbers 1, 2, … in the order of the components' first pixels, row by row of the image:
///           the same as a Labeller assigns to the whole image.
/// Requires  rows of equal width; fewer than 2³¹ components over all strips (InvalidTask).
/// Cost      O(width) per strip, and O(1) per component of a strip; keeps 4 bytes per component.
class StripSeams {
  public:
    /// `most`: the largest allowed number of components in all strips together.
    explicit StripSeams(Connection connection, Elements most = most_labels)
        : connection_(connection), joined_("strips", most) {}

    /// Adds the next strip.
    void add(Label components, const SeamRow& first, const SeamRow& last);
    /// Call after the last strip. Returns the number of components.
    Label finish() { return joined_.number(); }
    /// After finish(), for strip k: [label − 1] is the number in the whole image.
    std::span<const Label> numbers(std::size_t strip) const;

    static constexpr Elements most_labels = JoinedParts::most_labels;

  private:
    void join_with_above(const SeamRow& row, Label begin);

    const Connection connection_;
    JoinedParts joined_;
    std::vector<std::size_t> begins_; // [strip]: index of its first component
    std::vector<Label> above_;        // components of the last row; −1 for the background
    std::vector<std::uint64_t> values_above_;
};

} // namespace sextant::kernel
