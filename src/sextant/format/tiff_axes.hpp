// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

namespace sextant::format {

/// No axis is longer.
constexpr std::int64_t longest_axis = std::numeric_limits<std::int32_t>::max();

/// The position of a page in a hyperstack, from 0.
struct PlanePosition {
    std::int64_t channel = 0, slice = 0, frame = 0;
};

/// An axis that pages lie on.
struct PageAxis {
    std::int64_t count = 1;
    std::int64_t step = 1; ///< pages from one position to the next
};

/// The axes of a hyperstack: its pages follow one another, the axis of step 1 fastest.
struct PageAxes {
    PageAxis channels, slices, frames;

    /// How many planes there are.
    std::int64_t planes() const;
    PlanePosition position_of(std::int64_t page) const;
    std::int64_t page_of(const PlanePosition& position) const;
};

/// Sets the steps of axes that are named from the fastest to the slowest: "CZT".
PageAxes in_order(PageAxes axes, std::string_view order);

/// Of channels that are samples of a pixel as well, those that are pages.
std::int64_t without_samples(std::int64_t channels, int samples);

/// The number that a text begins with, 0 if there is none.
double decimal_in(std::string_view text);
/// The same for whole numbers that are not negative.
std::int64_t whole_number_in(std::string_view text, std::int64_t otherwise);
/// The same for the length of an axis, 1 if there is none.
std::int64_t length_of_axis(std::string_view text);

} // namespace sextant::format
