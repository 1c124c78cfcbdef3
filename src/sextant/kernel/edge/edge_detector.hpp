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

// The steps of an edge detector that look at a few pixels only, of an image or a tile; from an
// image to edges in one go: edge_finder.hpp; thinning: thinning.hpp. Hysteresis, which looks at
// all, lies in distributed/canny.hpp.
namespace sextant::kernel {

/// The gradient of a rectangle of an image, which may be the whole of it.
struct GradientView {
    const float *x = nullptr, *y = nullptr; ///< at the top left
    Elements stride = 0;                    ///< of both
    Tile tile;                              ///< where the rectangle lies in the image
    ImageShape image;                       ///< the whole
};

/// Lengths of the gradient: edges are followed down to `low` from where they exceed `high`.
struct EdgeThresholds {
    double low = 0, high = 0;
};

/// Where codes of edges go (edge_code.hpp).
struct EdgePlane {
    std::uint8_t* first = nullptr; ///< at the top left
    Elements stride = 0;           ///< from one row to the next
};

/// Codes of edges of a rectangle of an image; where a code is not 0 there is an edge.
struct EdgeView {
    const std::uint8_t* first = nullptr; ///< at the top left of `tile`
    Elements stride = 0;
    Tile tile;
    ImageShape image;
};

/// Suppresses what is no maximum: an edge point's gradient is longer than that of the neighbour
/// before it, row by row, and no shorter than that of the one behind it, of the two that lie along
/// the gradient (rounded to eighths of a turn); beyond the image it is 0.
///
/// Input     the gradient of the tile and the pixels around it, as far as the image goes.
/// Output    of each pixel of the tile not_edge, or its heading and weak_edge from `low` on,
///           strong_edge from `high` on. A gradient that is no number is none.
/// Requires  thresholds 0 ≤ low ≤ high, a tile within the image, a gradient that holds what it
///           reads; otherwise throws InvalidTask.
/// Cost      O(pixels / lanes); three rows of lengths are kept.
/// Deterministic  the same however the image is cut, on every processor.
/// Source    Canny, IEEE TPAMI 8(6), 1986, doi:10.1109/TPAMI.1986.4767851
void find_edges(const GradientView& gradient, const Tile& tile, EdgeThresholds thresholds,
                const EdgePlane& codes);

/// Throws InvalidTask unless 0 ≤ low ≤ high.
void require_thresholds(EdgeThresholds thresholds);

/// Which neighbour follows each edge point: of those ahead, the one nearest to the direction of the
/// edge, at right angles to the gradient with the brighter side to the left of who goes along it;
/// it counts as that of the middle of its sixteenth of a turn. Where none lies ahead the point is
/// an end.
///
/// Input     codes of the tile and the pixels around it, as far as the image goes.
/// Output    directions of the tile, row by row; they may take the place of the view's codes, from
///           the first on.
/// Deterministic  the same however the image is cut.
void find_directions(const EdgeView& edges, const Tile& tile, Direction* directions);

/// Finds edges of a tile in rows of its gradient, given one after another from the top down: of
/// them three are kept.
class EdgeRows {
  public:
    /// Requires  thresholds 0 ≤ low ≤ high, a tile within the image, not empty.
    EdgeRows(const Tile& tile, ImageShape image, EdgeThresholds thresholds, const EdgePlane& codes);

    /// The pixels whose gradients are needed: the tile and those around it.
    const Tile& needed() const { return needed_; }
    /// The next row of `needed()`.
    void take(const float* x, const float* y);

  private:
    std::size_t place(Elements y) const { return static_cast<std::size_t>((y + 3) % 3) * pitch_; }
    void classify(Elements y);

    const Tile tile_, needed_;
    const EdgePlane codes_;
    const float low_, high_; // the lower one is more than 0
    const std::size_t pitch_;
    Elements next_;
    std::vector<float> lengths_; // from the pixel left of the tile on; 0 beyond the image
    std::vector<std::uint8_t> headings_;
};

/// A rectangle with so many pixels around it, as far as the image goes.
Tile grown(const Tile& tile, Elements by, ImageShape image);

/// Edges of an image by its Gaussian derivatives, which are kept nowhere: strip by strip, rows of
/// the gradient become rows of edges while they are in the nearest cache.
///
/// Input     samples that hold the tile and `margin()` pixels around it, as far as the image goes,
///           in pieces that do not overlap; beyond the image the border is replicated.
/// Output    as find_edges() of the derivatives.
/// Requires  a sigma as GaussianDerivatives, a tile within the image, samples that hold what it
///           reads, thresholds 0 ≤ low ≤ high; otherwise throws InvalidTask.
/// Cost      the derivatives', and O(pixels / lanes); memory is read once and written once, a byte
///           a pixel. One object a thread.
/// Deterministic  the same however the image is cut, on every processor.
class EdgeFinder {
  public:
    explicit EdgeFinder(double sigma);

    Elements margin() const { return derivatives_.reach_x() + 1; }

    void find(SamplePieces input, const Tile& tile, EdgeThresholds thresholds,
              const EdgePlane& codes);
    /// The length of each gradient of the tile, row by row.
    void measure(SamplePieces input, const Tile& tile, float* to);

  private:
    template <class Body>
    void each_strip(const Tile& tile, Body&& body) const;

    GaussianDerivatives derivatives_;
};

} // namespace sextant::kernel

// Edges that hang together, of a tile whose codes (edge_code.hpp) a Labeller has labelled last.
namespace sextant::kernel {

/// Which components have a strong point: [label − 1], 0 or 1.
/// Cost      O(pixels / lanes + runs).
std::vector<std::uint8_t> strong_components(const EdgeView& edges, const Labeller& labeller,
                                            Label components);

/// Edges of the components whose [label − 1] is 0 are taken away, the others become weak ones.
/// Cost      as strong_components().
void keep_components(const EdgePlane& edges, const Tile& tile, const Labeller& labeller,
                     std::span<const std::uint8_t> kept);

/// How many pixels around a tile a round of thinning reads.
inline constexpr Elements thinning_margin = 4;

/// Thins edges to lines of one pixel, in rounds: takes off pixels whose neighbours hang together
/// without them, but no ends of lines; first those of even columns and rows, then of odd columns,
/// of odd rows, of both, so that no two that are taken off at once touch, and lines stay connected.
///
/// Input     codes of edges, not 0, of the tile and `thinning_margin` pixels around it, as far as
///           the image goes. Between rounds whoever holds those around it brings them up to date.
/// Output    the tile's as after the rounds, 0 where a pixel was taken off; those around it are
///           changed too.
/// Cost      O(pixels / (64 lanes)) the first round; later ones look at rows that have changed, and
///           at those beside them. A bit a pixel is kept.
/// Deterministic  the same however the image is cut, on every processor.
class Thinning {
  public:
    Thinning(std::uint8_t* edges, const Tile& held, const Tile& tile, ImageShape image);

    /// Returns how many of the tile's were taken off.
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
    const Elements words_, pitch_; // of a row, and from one to the next
    std::vector<Bits> bits_;       // of rows, of one before the first, and of one behind the last
    std::vector<Bits> mask_, removed_, fresh_;
    Elements pass_ = 0;               // how many there were
    std::vector<Elements> changed_;   // [row + 1]: the last pass that changed it
    std::vector<Elements> looked_at_; // [2 row + parity of columns]: the last pass that did
};

} // namespace sextant::kernel
