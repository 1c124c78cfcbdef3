// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/grid.hpp"
#include "sextant/core/image.hpp"
#include "sextant/kernel/edge/edge_vectors.hpp"
#include "sextant/kernel/filter/gaussian.hpp"
#include "sextant/kernel/label/directions.hpp"
#include "sextant/kernel/label/labels.hpp"

#include <cstdint>
#include <span>
#include <vector>

// The local steps of an edge detector, for an image or a tile. Hysteresis, which needs the whole
// image, is in contours/canny.hpp.
namespace sextant::kernel {

/// Hysteresis thresholds for the length of the gradient: edges start at points of at least `high`
/// and continue along points of at least `low`.
struct EdgeThresholds {
    double low = 0, high = 0;
};

/// The destination of edge codes (edge_vectors.hpp).
struct EdgePlane {
    std::uint8_t* first = nullptr; ///< the code at the top left
    Elements stride = 0;           ///< distance between rows
};

/// Edge codes of a rectangle of an image; a code other than 0 is an edge point.
struct EdgeView {
    const std::uint8_t* first = nullptr; ///< the code at the top left of `tile`
    Elements stride = 0;
    Tile tile;
    ImageShape image;
};

/// Throws InvalidTask unless 0 ≤ low ≤ high.
void require_thresholds(EdgeThresholds thresholds);

/// Finds the successor of each edge point: among the neighbouring edge points ahead, the one
/// nearest to the edge direction. The edge direction is perpendicular to the gradient, with the
/// brighter side on the left, and is rounded to the middle of its 22.5° sector. A point without
/// edge points ahead is an end.
///
/// Input     codes of the tile and of the pixels around it inside the image.
/// Output    directions of the tile, row by row. They may overwrite the view's codes, starting at
///           the first.
/// Deterministic  the same for any tiling of the image.
void find_directions(const EdgeView& edges, const Tile& tile, Direction* directions);

/// Finds the edge points of a tile by non-maximum suppression, from rows of its gradient, passed
/// from the top down. A pixel is an edge point if its gradient is larger than that of the first
/// neighbour along the gradient (rounded to 45°, in row order), and no smaller than that of the
/// second. Outside the image the gradient is 0.
///
/// Output    for each pixel of the tile: not_edge, or its heading with weak_edge (gradient of at
///           least `low`) or strong_edge (at least `high`). Pixels with a NaN gradient are not
///           edges.
/// Cost      O(pixels / lanes); three rows of lengths are kept.
/// Deterministic  the same for any tiling of the image, on every processor.
/// Source    Canny, IEEE TPAMI 8(6), 1986, doi:10.1109/TPAMI.1986.4767851
class EdgeRows {
  public:
    /// Requires  thresholds 0 ≤ low ≤ high, and a nonempty tile within the image.
    EdgeRows(const Tile& tile, ImageShape image, EdgeThresholds thresholds, const EdgePlane& codes);

    /// The pixels whose gradients are needed: the tile and the pixels around it.
    const Tile& needed() const { return needed_; }
    /// Takes the next row of the gradient in `needed()`.
    void take(const float* x, const float* y);

  private:
    std::size_t place(Elements y) const { return static_cast<std::size_t>((y + 3) % 3) * pitch_; }
    void classify(Elements y);

    const Tile tile_, needed_;
    const EdgePlane codes_;
    const float low_, high_; // low_ > 0
    const std::size_t pitch_;
    Elements next_;
    std::vector<float> lengths_; // start one pixel left of the tile; 0 outside the image
    std::vector<std::uint8_t> headings_;
};

/// Finds edges of an image from its Gaussian derivatives without storing the derivatives: the image
/// is processed in strips, and rows of the gradient are converted to rows of edges while they are
/// in the cache.
///
/// Input     samples of the tile and `margin()` pixels around it inside the image, in pieces that
///           do not overlap; outside the image the border is replicated.
/// Output    the same as EdgeRows computes from the derivatives.
/// Requires  a sigma as accepted by GaussianDerivatives, a tile within the image, samples that
///           cover all input pixels, thresholds 0 ≤ low ≤ high; otherwise throws InvalidTask.
/// Cost      that of the derivatives, and O(pixels / lanes); memory is read once, and one byte per
///           pixel is written. Use one object per thread.
/// Deterministic  the same for any tiling of the image, on every processor.
class EdgeFinder {
  public:
    explicit EdgeFinder(double sigma);

    Elements margin() const { return derivatives_.reach_x() + 1; }

    void find(SamplePieces input, const Tile& tile, EdgeThresholds thresholds,
              const EdgePlane& codes);
    /// Computes the length of each gradient of the tile, row by row.
    void measure(SamplePieces input, const Tile& tile, float* to);

  private:
    template <class Body>
    void each_strip(const Tile& tile, Body&& body) const;

    GaussianDerivatives derivatives_;
};

// Functions on the connected edges of a tile. The last call of the Labeller must have labelled the
// codes (edge_vectors.hpp) of this tile.

/// Returns, at index label − 1, 1 if the component has a strong point, otherwise 0.
/// Cost      O(pixels / lanes + runs).
std::vector<std::uint8_t> strong_components(const EdgeView& edges, const Labeller& labeller,
                                            Label components);

/// Removes the edges of components with kept[label − 1] = 0, and makes all others weak edges.
/// Cost      the same as strong_components().
void keep_components(const EdgePlane& edges, const Tile& tile, const Labeller& labeller,
                     std::span<const std::uint8_t> kept);

/// The number of pixels around a tile that a round of thinning reads.
inline constexpr Elements thinning_margin = 4;

/// Thins edges to lines one pixel wide, in rounds. A round removes pixels whose neighbours stay
/// connected without them, except the ends of lines. It has four passes: pixels in even columns of
/// even rows, in odd columns of even rows, in even columns of odd rows, in odd columns of odd rows.
/// Pixels of one pass do not touch, so lines stay connected.
///
/// Input     edge codes (0: no edge) of the tile and of `thinning_margin` pixels around it inside
///           the image. Between rounds the caller must update the pixels around the tile.
/// Output    the tile's codes, with 0 for removed pixels. The codes around the tile are changed
///           too.
/// Cost      O(pixels / (64 lanes)) for the first round; later rounds process only rows that have
///           changed and their neighbours. Keeps one bit per pixel.
/// Deterministic  the same for any tiling of the image, on every processor.
class Thinning {
  public:
    Thinning(std::uint8_t* edges, const Tile& held, const Tile& tile, ImageShape image);

    /// Returns the number of the tile's pixels that were removed.
    Elements round();

  private:
    using Bits = std::uint64_t;

    Bits* row(Elements y);
    void read();
    void read(Elements y, Elements first, Elements end);
    void begin_pass(const Tile& part, Elements parity);
    bool is_news(Elements y, Elements parity);
    Elements take_off(Elements y);

    std::uint8_t* const edges_;
    const Tile held_, tile_;
    const ImageShape image_;
    const Elements words_, pitch_; // words per row, without and with padding
    std::vector<Bits> bits_;       // all rows, with one empty row before and one after them
    std::vector<Bits> mask_, removed_, fresh_;
    Elements pass_ = 0;             // number of passes so far
    std::vector<Elements> changed_; // [row + 1]: the last pass that changed the row
    // [2 * row + parity]: the last pass that processed the columns of this parity
    std::vector<Elements> processed_;
};

} // namespace sextant::kernel
