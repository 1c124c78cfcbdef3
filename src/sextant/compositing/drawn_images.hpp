// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/compositing/composite_task.hpp"
#include "sextant/schedule/program.hpp"
#include "sextant/schedule/prove.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace sextant::compositing {

/// An image of a task with a bounding rectangle. Pixels outside the rectangle are empty and are not
/// read.
struct DrawnImage {
    PlacedImage at;
    std::int64_t left = 0, top = 0, width = 0, height = 0; ///< row 0 is the top
};

/// Direct-Send of rectangles. The composited image is cut into cells: rectangles whose pixels are
/// covered by the same images. A position owns the cells of consecutive rows, so that all positions
/// read and write about the same number of pixels. Every position sends each other position the
/// pixels of its images that are in the other position's cells, and blends its own cells. Pixels
/// outside the rectangles of images are neither read nor sent. The result is bit-identical to a
/// serial fold.
///
/// One object makes the programs of all positions.
class DrawnImages {
  public:
    /// Input     `task`: with positions as ranks; its root may be rank positions() (Seat). `width`:
    ///           the width of an image. `images`: all images, front to back, each with a rectangle
    ///           inside the image, or an empty one.
    /// Cost      cubic in the number of images, in the worst case.
    DrawnImages(const Task& task, Elements width, std::span<const DrawnImage> images);

    /// The program of a position, or of a root without images. Kernel k blends k images that it
    /// reads in place, front to back; kernel 0 makes empty pixels.
    /// Cost      at most p − 1 messages per position, and one to the root.
    Program program(int position) const;

    /// The pixels that a position owns: whole rows.
    Piece piece(int position) const;

    /// The claim to prove: every pixel combines all images that cover it, front to back.
    Claim claim() const;

  private:
    /// A rectangle of the composited image that is covered by the same images.
    struct Cell {
        std::int64_t left, right, top, bottom;
        std::vector<int> images; ///< indices, front to back
        Elements pixels() const { return (right - left) * (bottom - top); }
    };
    using Band = std::vector<Cell>; ///< a row of cells of the same height

    Band band_of(std::int64_t top, std::int64_t bottom) const;
    std::vector<Band> bands() const;
    void share(const std::vector<Band>& bands);
    Region region_of(const DrawnImage& image, const Cell& cell, int input) const;
    const DrawnImage& image(int i) const { return images_[static_cast<std::size_t>(i)]; }
    const std::vector<Cell>& cells_of(int position) const {
        return cells_[static_cast<std::size_t>(position)];
    }

    Task task_;
    Elements width_;
    std::vector<DrawnImage> images_;
    std::vector<std::vector<Cell>> cells_; ///< by position
    std::vector<std::int64_t> rows_;       ///< by position: its first row; then the image height
};

} // namespace sextant::compositing
