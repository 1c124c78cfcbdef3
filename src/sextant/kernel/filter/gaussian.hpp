// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/memory.hpp"
#include "sextant/kernel/filter/gaussian_weights.hpp"
#include "sextant/kernel/filter/line_vectors.hpp"
#include "sextant/kernel/filter/samples.hpp"

#include <array>
#include <functional>
#include <span>
#include <vector>

namespace sextant::kernel {

/// The last 2 reach + 1 of a series of rows of floats: a row takes the place of the oldest.
class RowRing {
  public:
    RowRing() = default;
    /// Rows are aligned to 64 bytes and readable up to `width` rounded up to `line_unit`.
    RowRing(int reach, Elements width);

    /// Where row y >= 0 lies, or is to be written.
    float* row(Elements y) { return rows_[static_cast<std::size_t>(y % count())]; }
    /// [k] is row y + k, for |k| <= reach.
    const float* const* around(Elements y) const {
        return rows_.data() + (y - reach_) % count() + reach_;
    }

  private:
    Elements count() const { return 2 * reach_ + 1; }

    Elements reach_ = 0;
    Memory memory_;
    std::vector<float*> rows_; // all of them twice, so that any so many in turn are neighbours
};

/// How often an image is differentiated along x (to the right) and along y (downward).
struct Derivative {
    int x = 0, y = 0;
};

/// Several Gaussian derivatives of one image in one sweep, with the weights of
/// gaussian_weights.hpp. Rows are filtered once for each order along x, and their results, while
/// they are in the cache, along y.
///
/// Input     what `apply` is given: samples of any rectangle that holds `reads(tile)`, and of each
///           derivative, in their order, a plane of the tile's size.
/// Output    the derivatives, in units of the samples over pixels to the power of the orders.
///           Within 2·10⁻⁶ Σ|w_x| Σ|w_y| max|f| of gaussian_derivative(), also where sums on the
///           way would not fit in a float; infinite where the result does not. NaN where a sample
///           that counts is NaN (the middle row or column of an odd order does not count).
/// Requires  sigma, orders and kernel as gaussian_weights, at least one derivative, none twice; a
///           tile within the image, samples that hold what it reads, a plane for each derivative;
///           otherwise throws InvalidTask, before anything is written. Planes do not overlap the
///           samples or one another (not checked).
/// Cost      a sample: for each order along x, reach + 1 additions and multiply-adds; for each
///           derivative as many by its order along y. `apply` allocates nothing: an object owns
///           half a MiB, or, for large sigma, as many rows of 128 samples as there are weights. One
///           object a thread.
/// Deterministic  the same bits however the image is cut into tiles, on every processor, and
///           whatever else is computed in the same sweep.
/// Source    Seinstra and Koelma, IEEE TPDS 13(7), 2002, section 4
class GaussianDerivatives {
  public:
    GaussianDerivatives(double sigma, std::span<const Derivative> derivatives, BorderRule rule = {},
                        const GaussianKernel& kernel = {});

    int reach_x() const { return reach_x_; }
    int reach_y() const { return reach_y_; }
    /// For one pixel of all derivatives.
    int multiply_adds() const;
    /// The rectangle of the image that these derivatives of a tile, not empty, are computed from.
    Tile reads(const Tile& tile, ImageShape image) const;

    /// `progress`, if any, is called after every few rows.
    void apply(const SampleView& input, const Tile& tile, std::span<const Plane> outputs,
               const std::function<void()>& progress = {});

    /// The widest tile that `each_row` takes.
    Elements strip_width() const { return strip_width_; }
    /// As `apply`, but rows are kept nowhere: `take` is given each in turn, of every derivative;
    /// and the samples may lie in pieces, of one kind of samples, that do not overlap.
    void each_row(SamplePieces input, const Tile& strip,
                  const std::function<void(std::span<const float* const>)>& take);

  private:
    static constexpr std::size_t orders = 5;
    static constexpr int none = -1;

    /// Orders of filters over the same lines.
    struct Pair {
        int even = none, odd = none;
    };
    /// One run of `apply`.
    struct Sweep {
        SamplePieces input;
        const Tile& tile;
        std::span<const Plane> outputs;
        bool stream;
        const std::function<void(Elements)>& after_row;
    };

    using Wanted = std::array<bool, orders>;
    static std::vector<Pair> pairs(const Wanted& wanted);

    void check(SamplePieces input, const Tile& tile) const;
    void check(const Tile& tile, std::span<const Plane> outputs) const;
    void apply_strip(const Sweep& sweep, const Tile& strip);
    void filter_row(SamplePieces input, const Tile& strip, Elements y);
    void filter_columns(const Sweep& sweep, const Tile& strip, Elements y);
    HalfFilter filter_into_plane(const Sweep& sweep, const Tile& strip, Elements y, int order_x,
                                 int order_y) const;

    BorderRule rule_;
    int reach_x_ = 0, reach_y_ = 0;
    using Half = std::vector<float>; // the weight of what lies k >= 0 after; empty: not needed
    // Rows are scaled by a power of two to the magnitude of the samples, columns scale them back.
    std::array<Half, orders> row_weights_;                        // [order]
    std::array<std::array<Half, orders>, orders> column_weights_; // [order along x][along y]
    std::array<std::array<int, orders>, orders> plane_; // [order along x][along y], or none
    std::size_t planes_ = 0;
    std::vector<Pair> rows_;
    std::array<std::vector<Pair>, orders> columns_; // [order along x]
    Elements strip_width_ = 0;
    std::array<RowRing, orders> filtered_; // [order along x]: rows of a strip
    Memory line_;                          // a row of the image, and what lies beside the strip
    std::vector<const float*> shifted_;    // into the line, from −reach_x on
    Memory row_;                           // of each derivative, for each_row
};

} // namespace sextant::kernel
