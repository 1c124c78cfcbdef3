// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/image.hpp"

#include <cstddef>
#include <functional>
#include <vector>

namespace sextant {

/// One contour, as a range of ContourLines::pixels.
struct ContourLine {
    Elements first = 0;
    Elements points = 0;
    bool closed = false; ///< true if the last point is followed by the first
};

/// The linear representation of contours: each contour's points in order, from its head on.
/// Contours are ordered by their heads, row by row.
struct ContourLines {
    ImageShape image;
    std::vector<Elements> pixels; ///< all points, each as y · width + x
    std::vector<ContourLine> lines;
};

/// Reads contours in order, from any storage: each contour, then its points.
class LineReader {
  public:
    virtual ~LineReader() = default;

    virtual ImageShape image() const = 0;
    /// The number of points of all contours.
    virtual Elements points() const = 0;
    /// Advances to the next contour. Returns false after the last one. Requires all points of the
    /// previous contour to have been read.
    virtual bool next(ContourLine& line) = 0;
    /// The next point of the current contour, as y · width + x.
    virtual Elements next_pixel() = 0;
    /// Begins again with the first contour.
    virtual void rewind() = 0;
};

/// Receives all contours of an image, for example to write a file (format/line_formats.hpp).
using LineSink = std::function<void(LineReader& contours)>;

/// Reads all remaining contours.
inline ContourLines read_lines(LineReader& reader) {
    ContourLines all{reader.image(), {}, {}};
    for (ContourLine line; reader.next(line);) {
        all.lines.push_back(line);
        for (Elements i = 0; i < line.points; ++i)
            all.pixels.push_back(reader.next_pixel());
    }
    return all;
}

/// Reads contours from memory, which must outlive the reader.
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
    void rewind() override { line_ = pixel_ = 0; }

  private:
    const ContourLines& lines_;
    std::size_t line_ = 0, pixel_ = 0;
};

} // namespace sextant
