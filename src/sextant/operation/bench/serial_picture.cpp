// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/bench/serial_picture.hpp"

#include "sextant/core/image.hpp"
#include "sextant/kernel/fold/convert.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

namespace sextant::operation {

namespace {

Image folded(const CompositeCase& what, const Operator& op, int ranks) {
    Image sum(what.shape, op.element), next(what.shape, op.element);
    fill_image(sum, what.image, 0, ranks);
    for (int rank = 1; rank < ranks; ++rank) {
        fill_image(next, what.image, rank, ranks);
        const std::array<const std::byte*, 2> operands = {sum.bytes().data(), next.bytes().data()};
        op.fold(operands, sum.bytes().data(), what.shape.elements());
    }
    return sum;
}

} // namespace

SerialPicture::SerialPicture(const CompositeCase& what, const Operator& op, int ranks)
    : what_(what),
      operator_(op),
      ranks_(ranks),
      channels_(as_floats(folded(what, op, ranks).bytes())) {}

std::vector<float> SerialPicture::as_floats(std::span<const std::byte> pixels) const {
    const ElementFormat& wide = has_depth(operator_.element) ? rgba_depth_f32 : rgba_f32;
    const Elements count = static_cast<Elements>(pixels.size()) / operator_.element.size;
    std::vector<float> values(static_cast<std::size_t>(count * wide.size) / sizeof(float));
    kernel::convert(operator_.element, pixels, wide, std::as_writable_bytes(std::span(values)));
    return values;
}

/// How far bracketing in another way may take a channel: a unit a fold, and some.
float SerialPicture::tolerance() const {
    const float unit = operator_.element == rgba_f32   ? 0x1p-23f
                       : operator_.element == rgba_f16 ? 0x1p-10f
                       : operator_.element == rgba_u8  ? 1.0f / 255
                                                       : 0;
    return static_cast<float>(ranks_) * unit;
}

void SerialPicture::check(const std::string& who, std::span<const Elements> pixels,
                          std::span<const std::byte> shown) const {
    const std::vector<float> own = as_floats(shown);
    const std::size_t channels =
        channels_.size() / static_cast<std::size_t>(what_.shape.elements());
    const auto alike = [&](float a, float b) { return a == b || std::abs(a - b) <= tolerance(); };
    const auto at = [&](const std::vector<float>& values, Elements pixel) {
        return values.begin() + static_cast<std::ptrdiff_t>(channels) * pixel;
    };
    bool right = own.size() == pixels.size() * channels;
    for (std::size_t i = 0; right && i < pixels.size(); ++i) {
        const auto mine = at(own, static_cast<Elements>(i));
        right = std::equal(mine, mine + static_cast<std::ptrdiff_t>(channels),
                           at(channels_, pixels[i]), alike);
    }
    if (!right) {
        throw std::logic_error(
            fmt::format("{} in case '{}': another picture than a serial fold", who, what_.name));
    }
}

} // namespace sextant::operation
