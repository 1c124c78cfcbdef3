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

/// A ring buffer of the last 2 reach + 1 rows of floats: each new row replaces the oldest.
class RowRing {
  public:
    RowRing() = default;
    /// Rows are aligned to 64 bytes and readable up to `width` rounded up to `line_unit`.
    RowRing(int reach, Elements width);

    /// Row y >= 0, for reading or writing.
    float* row(Elements y) { return rows_[static_cast<std::size_t>(y % count())]; }
    /// Returns pointers to the rows around row y: [k] is row y + k, for |k| <= reach.
    const float* const* around(Elements y) const {
        return rows_.data() + (y - reach_) % count() + reach_;
    }

    /// The bytes of a ring.
    static Bytes memory_for(int reach, Elements width);

  private:
    Elements count() const { return 2 * reach_ + 1; }

    Elements reach_ = 0;
    Memory memory_;
    std::vector<float*>
        rows_; // all rows twice, so that pointers to any 2 reach + 1 successive rows are contiguous
};

/// The orders of differentiation along x (to the right), y (downward) and, of a volume, z (to the
/// next plane).
struct Derivative {
    int x = 0, y = 0, z = 0;
    bool operator==(const Derivative&) const = default;
};

inline constexpr std::size_t derivative_orders = highest_order + 1;
using WantedOrders = std::array<bool, derivative_orders>;

/// An even and an odd order that are filtered over the same lines; −1 for none.
struct OrderPair {
    int even = -1, odd = -1;
};
/// Pairs even and odd orders, so that a line is read once for both.
std::vector<OrderPair> pairs_of(const WantedOrders& wanted);

/// Half of the weights, at distances k = 0 … reach, scaled by 2^exponent so that results are no
/// larger than the samples.
struct ScaledHalf {
    std::vector<float> weights;
    int exponent = 0;

    HalfFilter into(float* to, bool stream = false) const {
        return {weights.data(), static_cast<int>(weights.size()) - 1, to, stream};
    }
};
/// `pixel`: as for GaussianDerivatives, along the axis of the weights.
ScaledHalf scaled_half(double sigma, int order, const GaussianKernel& kernel, double pixel = 1);

/// The distance between lines of this width: one cache line more than a multiple of `line_unit`, so
/// that lines use different cache sets.
Elements line_stride(Elements width);

/// Computes several Gaussian derivatives of an image in one sweep, with the weights of
/// gaussian_weights.hpp. Rows are filtered once for each order along x; the results, while they are
/// in the cache, are filtered along y.
///
/// Input     for `apply`: samples of any rectangle that contains `reads(tile)`, and for each
///           derivative, in order, a plane of the tile's size.
/// Output    the derivatives, in the samples' unit per pixel to the power of the total order. They
///           differ from gaussian_derivative() by at most 2·10⁻⁶ Σ|w_x| Σ|w_y| max|f|, even if
///           intermediate sums overflow a float. A result that overflows is infinite. A result is
///           NaN if any sample that it depends on is NaN (odd orders do not depend on the middle
///           row or column).
/// Requires  sigma, orders and kernel as accepted by gaussian_weights(); at least one derivative,
///           none twice; a tile within the image; samples that contain `reads(tile)`; a plane for
///           each derivative; otherwise throws InvalidTask, before anything is written. Planes must
///           not overlap the samples or one another (not checked).
/// Cost      per sample: for each order along x, reach + 1 additions and multiply-adds; for each
///           derivative, the same for its order along y. The first `apply` allocates half a MiB or,
///           for large sigma, one row of 128 samples per weight. Use one object per thread.
/// Deterministic  the same bits for any tiling of the image, on every processor, regardless of the
///                other derivatives in the sweep.
/// Source    Seinstra and Koelma, IEEE TPDS 13(7), 2002, section 4
class GaussianDerivatives {
  public:
    /// Results are multiplied by 2^exponent. The orders along z are ignored. `pixel`: the size of a
    /// pixel in the length unit of the derivatives; 1: derivatives are per pixel.
    GaussianDerivatives(const Scales& sigma, std::span<const Derivative> derivatives,
                        BorderRule rule = {}, const GaussianKernel& kernel = {}, int exponent = 0,
                        const Scales& pixel = 1);

    int reach_x() const { return reach_x_; }
    int reach_y() const { return reach_y_; }
    /// The number of multiply-adds per pixel for all derivatives together.
    int multiply_adds() const;
    /// The bytes that an object holds after the first `apply`.
    Bytes memory() const;
    /// The rectangle of samples needed for the derivatives of a non-empty tile.
    Tile reads(const Tile& tile, ImageShape image) const;

    /// `progress`, if set, is called after every few rows.
    void apply(const SampleView& input, const Tile& tile, std::span<const Plane> outputs,
               const std::function<void()>& progress = {});

    /// The widest tile that `each_row` accepts.
    Elements strip_width() const { return strip_width_; }
    /// Like `apply`, but passes each row of all derivatives to `take` instead of storing it. The
    /// samples may be in several pieces of the same sample type, which must not overlap.
    void each_row(SamplePieces input, const Tile& strip,
                  const std::function<void(std::span<const float* const>)>& take);

  private:
    static constexpr std::size_t orders = derivative_orders;
    static constexpr int none = -1;

    /// The arguments of one call to `apply` or `each_row`.
    struct Sweep {
        SamplePieces input;
        const Tile& tile;
        std::span<const Plane> outputs;
        bool stream;
        const std::function<void()>& after_row;
        const std::function<void()>& progress; ///< called after every few rows
    };

    Elements line_length() const;
    void allocate();
    void check(SamplePieces input, const Tile& tile) const;
    void check(const Tile& tile, std::span<const Plane> outputs) const;
    void apply_strip(const Sweep& sweep, const Tile& strip);
    void filter_row(SamplePieces input, const Tile& strip, Elements y);
    void filter_columns(const Sweep& sweep, const Tile& strip, Elements y);
    HalfFilter filter_into_plane(const Sweep& sweep, const Tile& strip, Elements y, int order_x,
                                 int order_y) const;

    BorderRule rule_;
    int reach_x_ = 0, reach_y_ = 0;
    using Half = std::vector<float>; // weights at distances k >= 0; empty if not needed
    // Row weights are scaled by a power of two so that filtered rows have at most the magnitude of
    // the samples. Column weights undo this.
    std::array<Half, orders> row_weights_;                        // [order]
    std::array<std::array<Half, orders>, orders> column_weights_; // [order along x][order along y]
    std::array<std::array<int, orders>, orders> plane_;           // [order along x][order along y]
    std::size_t planes_ = 0;
    std::vector<OrderPair> rows_;
    std::array<std::vector<OrderPair>, orders> columns_; // [order along x]
    Elements strip_width_ = 0;
    std::array<RowRing, orders> filtered_; // [order along x]: rows of a strip
    Memory line_;                          // a row of the image, with margins for the strip
    std::vector<const float*> shifted_;    // pointers into the line, from −reach_x on
    Memory row_;                           // one row per derivative, for each_row
};

} // namespace sextant::kernel
