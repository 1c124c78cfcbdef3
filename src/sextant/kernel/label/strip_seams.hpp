// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/kernel/label/labels.hpp"

#include <span>
#include <vector>

namespace sextant::kernel {

/// A row of a strip at its seam to another.
struct SeamRow {
    std::span<const Label> labels; ///< of the strip alone
    /// value_code() of the samples; may be missing where values do not count
    std::span<const std::uint64_t> values;
};

/// Components of an image that is labelled in strips of rows, one after another from the top down:
/// which of the strips' components are one, and which numbers they have in the whole image. Of the
/// image no more is kept than the last row.
///
/// Input     each strip's components, labelled 1, 2, … in the order of their first pixels, and its
///           first and last row.
/// Output    numbers 1, 2, … in the order of the components' first pixels, row by row of the image:
///           those of Labeller.
/// Requires  rows of one width; fewer than 2³¹ components of all strips, counted one by one
///           (InvalidTask).
/// Cost      O(width) a strip, O(components of the strips); 4 bytes for each of them.
class StripSeams {
  public:
    /// `most`: how many components the strips may have.
    explicit StripSeams(Connection connection, Elements most = most_labels)
        : connection_(connection), most_(most) {}

    /// The next strip.
    void add(Label components, const SeamRow& first, const SeamRow& last);
    /// After the last one. Returns how many components there are.
    Label finish();
    /// After that, of strip k: [label − 1] is the number in the whole image.
    std::span<const Label> numbers(std::size_t strip) const;

    static constexpr Elements most_labels = 2147483647;

  private:
    void join_with_above(const SeamRow& row, Label begin);
    void join(Label a, Label b);
    Label root(Label component);

    const Connection connection_;
    const Elements most_;
    std::vector<Label> parents_;      // [component of the strips]: one before it, or itself
    std::vector<std::size_t> begins_; // [strip]: where its components begin
    std::vector<Label> above_;        // of the last row: components, −1 the background
    std::vector<std::uint64_t> values_above_;
};

} // namespace sextant::kernel
