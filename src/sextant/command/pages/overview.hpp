// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/row_source.hpp"
#include "sextant/core/image.hpp"
#include "sextant/core/statistics.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sextant::command {

/// Returns the values to show as black and white: quantiles of the finite values, such that a
/// fraction `beyond` is clipped at each end; 0 and 1 if no value is finite.
Interval grey_range(std::vector<double> values, double beyond = .003);
/// Returns the grey pixel for a value; NaN is black.
RgbaF32 grey_pixel(double value, const Interval& range);

/// Encodes an image of rgba_f32 as a PNG file.
std::vector<std::byte> png_of(const Image& image);

/// A reduced grey image for pages, made while the rows of a large image are processed. Each pixel
/// is the mean of a square block of the image, ignoring NaNs.
class Overview {
  public:
    /// Makes an empty overview of at most `most` pixels per side.
    explicit Overview(ImageShape image, Elements most = 640);

    /// Returns the number of image pixels per overview pixel, in each direction.
    Elements scale() const { return scale_; }
    ImageShape shape() const { return shape_; }

    /// Adds rows of the image, starting with row `first`, in any order. Throws std::logic_error
    /// unless `rows` contains whole rows.
    void add(Elements first, std::span<const float> rows);

    /// Returns the means; NaN for blocks without a finite value.
    std::vector<double> means() const;
    /// Returns grey values from 0 (black) to 1 (white), scaled by grey_range(). Pixels without a
    /// finite value are black.
    std::vector<float> shades() const;
    /// Returns the grey values as a PNG file.
    std::vector<std::byte> png() const;

  private:
    ImageShape image_;
    Elements scale_;
    ImageShape shape_;
    std::vector<double> sums_;
    std::vector<Elements> counts_;
};

/// Reads an image, some rows at a time, and returns its overview. Throws InvalidFile.
Overview overview_of(RowSource& source);

/// Coloured labels over the overview of an image, made while the rows of labels are processed. Each
/// pixel shows the label in one corner of its block, because labels have no mean. Consecutive
/// labels differ in hue.
class LabelOverview {
  public:
    explicit LabelOverview(const Overview& below);

    /// Adds rows of labels, starting with row `first`, of an image of this width.
    void add(Elements first, std::span<const std::uint64_t> rows, Elements width);

    std::vector<std::byte> png() const;

  private:
    Elements scale_;
    ImageShape shape_;
    std::vector<float> shades_;
    std::vector<std::uint64_t> labels_;
};

/// Returns the colour of a label: one of 360 colours, of which successive ones differ in hue.
RgbaF32 colour_of_label(std::uint64_t label);

} // namespace sextant::command
