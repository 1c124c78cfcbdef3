// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/image.hpp"
#include "sextant/core/row_source.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sextant::command {

/// A gray image as small as pages hold it, made while the rows of a large one go by: each pixel is
/// the mean of a square of the image's, of those that are numbers.
class Overview {
  public:
    /// Of at most `most` pixels a side.
    explicit Overview(ImageShape image, Elements most = 640);

    /// How many pixels of the image a pixel of it stands for, each way.
    Elements scale() const { return scale_; }
    ImageShape shape() const { return shape_; }

    /// Rows of the image from row `first` on, in whatever order. Whole rows (std::logic_error).
    void add(Elements first, std::span<const float> rows);

    /// From 0, black, to 1, white; a few pixels lie beyond. What holds no number is black.
    std::vector<float> shades() const;
    /// The same as the bytes of a PNG file.
    std::vector<std::byte> png() const;

  private:
    ImageShape image_;
    Elements scale_;
    ImageShape shape_;
    std::vector<double> sums_;
    std::vector<Elements> counts_;
};

/// Of an image that is read for it, some rows at a time. Throws InvalidFile.
Overview overview_of(RowSource& source);

/// Labels in colours over an image's overview, made while their rows go by. Each pixel shows the
/// label in the corner of its square, for labels have no mean; neighbouring numbers differ in hue.
class LabelOverview {
  public:
    explicit LabelOverview(const Overview& below);

    /// Rows of labels from row `first` of an image so wide on.
    void add(Elements first, std::span<const std::int32_t> rows, Elements width);

    std::vector<std::byte> png() const;

  private:
    Elements scale_;
    ImageShape shape_;
    std::vector<float> shades_;
    std::vector<std::int32_t> labels_;
};

/// An image of rgba_f32 as the bytes of a PNG file.
std::vector<std::byte> png_of(const Image& image);

} // namespace sextant::command
