// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/filter/float_plane.hpp"

#include "sextant/core/run_control.hpp"
#include "sextant/kernel/filter/gaussian_weights.hpp"
#include "sextant/kernel/filter/line_vectors.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace sextant::kernel {

FloatPlane::FloatPlane(ImageShape shape)
    : shape_(shape),
      stride_((shape.width + line_unit - 1) / line_unit * line_unit),
      memory_((stride_ * shape.height + line_unit) * static_cast<Bytes>(sizeof(float))) {}

namespace {

constexpr double sigma = 1;

Memory make_line(Elements width) {
    return Memory((width + 2 * line_unit) * static_cast<Bytes>(sizeof(float)));
}

float* floats(Memory& memory) {
    return reinterpret_cast<float*>(memory.data());
}

} // namespace

Halving::Halving(ImageShape fine)
    : fine_(fine),
      line_(make_line(fine.width)),
      even_(make_line(halved(fine).width)),
      odd_(make_line(halved(fine).width)) {
    if (gaussian_reach(sigma, 0, p3pc_kernel) != reach)
        throw std::logic_error(
            "the radius of a pyramid's Gaussian does not match the line buffers");
    const std::vector<double> weights = gaussian_weights(sigma, 0, p3pc_kernel);
    for (int k = 0; k <= reach; ++k)
        weights_[static_cast<std::size_t>(k)] =
            static_cast<float>(weights[static_cast<std::size_t>(reach + k)]);
    for (int k = -reach; k <= reach; ++k) {
        const bool is_odd = k % 2 != 0;
        const Elements shift = is_odd ? (k - 1) / 2 : k / 2; // exact: the dividend is even
        columns_[static_cast<std::size_t>(reach + k)] =
            floats(is_odd ? odd_ : even_) + margin + shift;
    }
}

void Halving::apply(const FloatImage& fine, Plane coarse) {
    apply_rows(fine, coarse, 0, halved(fine_).height);
}

void Halving::apply_rows(const FloatImage& fine, Plane coarse, Elements first, Elements last) {
    const ImageShape shape = halved(fine_);
    for (Elements y = first; y < last; ++y) {
        check_cancelled(fine_.width);
        std::array<const float*, 2 * reach + 1> rows;
        for (int k = -reach; k <= reach; ++k)
            rows[static_cast<std::size_t>(reach + k)] =
                fine.row(std::clamp<Elements>(2 * y + k, 0, fine_.height - 1));
        weigh_lines(
            {rows.data() + reach, fine_.width, {weights_.data(), reach, floats(line_)}, {}});
        split(shape.width);
        weigh_lines({columns_.data() + reach,
                     shape.width,
                     {weights_.data(), reach, coarse.first + y * coarse.stride},
                     {}});
    }
}

/// Splits the line into even and odd columns, with replicated samples beyond its ends.
void Halving::split(Elements width) {
    const float* const line = floats(line_);
    float* const even = floats(even_) + margin;
    float* const odd = floats(odd_) + margin;
    const auto seen = [&](Elements x) { return line[std::clamp<Elements>(x, 0, fine_.width - 1)]; };
    const Elements whole = fine_.width / 2;
    for (Elements x = 0; x < whole; ++x) {
        even[x] = line[2 * x];
        odd[x] = line[2 * x + 1];
    }
    for (const Elements x : {Elements{-2}, Elements{-1}, whole, whole + 1, width}) {
        even[x] = seen(2 * x);
        odd[x] = seen(2 * x + 1);
    }
}

namespace {

constexpr float unknown = std::numeric_limits<float>::quiet_NaN();

float slope(float two_before, float before, float after, float two_after) {
    return (8 * (after - before) - (two_after - two_before)) * (1.f / 12);
}

} // namespace

void slopes(const FloatImage& image, FloatPlane& along_x, FloatPlane& along_y) {
    slopes_of_rows(image, 0, image.shape.height, along_x, along_y);
}

void slopes_of_rows(const FloatImage& image, Elements first, Elements last, FloatPlane& along_x,
                    FloatPlane& along_y) {
    const auto [width, height] = image.shape;
    if (along_x.shape() != image.shape || along_y.shape() != image.shape)
        throw std::logic_error("gradient planes must have the image's shape");
    for (Elements y = first; y < last; ++y) {
        check_cancelled(width);
        float* const to_x = along_x.row(y);
        float* const to_y = along_y.row(y);
        const bool known = y >= slope_reach && y < height - slope_reach;
        const Elements begin = known ? std::min(slope_reach, width) : 0;
        const Elements end = known ? std::max(width - slope_reach, begin) : 0;
        std::fill(to_x, to_x + begin, unknown);
        std::fill(to_y, to_y + begin, unknown);
        const float* const row = image.row(y);
        for (Elements x = begin; x < end; ++x) {
            to_x[x] = slope(row[x - 2], row[x - 1], row[x + 1], row[x + 2]);
            to_y[x] = slope(row[x - 2 * image.stride], row[x - image.stride], row[x + image.stride],
                            row[x + 2 * image.stride]);
        }
        std::fill(to_x + end, to_x + along_x.image().stride, unknown);
        std::fill(to_y + end, to_y + along_y.image().stride, unknown);
    }
}

} // namespace sextant::kernel
