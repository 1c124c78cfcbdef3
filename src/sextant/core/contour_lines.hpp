// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/image.hpp"

#include <cstddef>
#include <vector>

namespace sextant {

/// A contour's points among those of all.
struct ContourLine {
    Elements first = 0;
    Elements points = 0;
    bool closed = false; ///< its last point is followed by its first
};

/// The linear representation of contours: the points of each one after another, by rank, from its
/// head on; contours in the order of their heads, row by row.
struct ContourLines {
    ImageShape image;
    std::vector<Elements> pixels; ///< y · width + x
    std::vector<ContourLine> lines;
};

/// The same read once, in order, wherever it lies: a contour, then its points.
class LineReader {
  public:
    virtual ~LineReader() = default;

    virtual ImageShape image() const = 0;
    /// Of all contours.
    virtual Elements points() const = 0;
    /// Whether there is one more contour. Requires  all points of the one before to have been read.
    virtual bool next(ContourLine& line) = 0;
    /// The next point of the contour.
    virtual Elements next_pixel() = 0;
};

/// Of lines in memory, which must outlive it.
class LinesInMemory final : public LineReader {
  public:
    explicit LinesInMemory(const ContourLines& lines) : lines_(lines) {}

    ImageShape image() const override { return lines_.image; }
    Elements points() const override { return static_cast<Elements>(lines_.pixels.size()); }
    bool next(ContourLine& line) override {
        if (line_ == lines_.lines.size())
            return false;
        line = lines_.lines[line_++];
        return true;
    }
    Elements next_pixel() override { return lines_.pixels[pixel_++]; }

  private:
    const ContourLines& lines_;
    std::size_t line_ = 0, pixel_ = 0;
};

} // namespace sextant
