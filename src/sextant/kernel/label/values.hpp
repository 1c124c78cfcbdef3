// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/kernel/filter/samples.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <variant>

namespace sextant::kernel {

/// Samples of a rectangle of an image as they are stored, to be compared: floating-point numbers by
/// value, all others by their bits.
struct ValueView {
    using First = std::variant<const float*, const std::uint8_t*, const std::uint16_t*,
                               const std::uint32_t*, const std::uint64_t*, const double*>;

    ValueView() = default;
    ValueView(First samples, Elements next_row, const Tile& rectangle, ImageShape whole)
        : first(samples), stride(next_row), tile(rectangle), image(whole) {}
    ValueView(const SampleView& view) // NOLINT: what filters take can be compared
        : first(std::visit([](const auto* samples) { return First(samples); }, view.first)),
          stride(view.stride),
          tile(view.tile),
          image(view.image) {}

    First first; ///< the sample at the top left
    Elements stride = 0;
    Tile tile;
    ImageShape image;
};

/// The code of a sample that equals no other, as one that is not a number.
inline constexpr std::uint64_t unequal_code = 0;

/// Samples other than 0 are equal if their codes are, save for `unequal_code`.
template <class Sample>
std::uint64_t value_code(Sample value) {
    if constexpr (std::is_same_v<Sample, float>)
        return std::isnan(value) ? unequal_code : std::bit_cast<std::uint32_t>(value);
    else if constexpr (std::is_same_v<Sample, double>)
        return std::isnan(value) ? unequal_code : std::bit_cast<std::uint64_t>(value);
    else
        return value;
}

} // namespace sextant::kernel
