// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/image.hpp"

#include <functional>
#include <span>
#include <vector>

namespace sextant {
class Team;
}

namespace sextant::mosaic {

/// Reads the samples of a tile, row by row; NaN where a sample is missing. Called by several
/// threads at a time; `thread` is below the number of threads.
using ReadTile = std::function<void(int tile, std::span<float> to, int thread)>;

/// The brightness of an evenly lit empty specimen, relative to its mean, which all tiles of a scan
/// share: a smooth function of the position in the tile.
class FlatField {
  public:
    /// An even field.
    explicit FlatField(ImageShape tile);

    ImageShape shape() const {
        return {static_cast<Elements>(x_.size()), static_cast<Elements>(y_.size())};
    }
    bool is_even() const { return coefficients_.empty(); }
    /// The field at a pixel.
    double at(Elements x, Elements y) const;
    /// The ratio of the largest to the smallest value of the field.
    double range() const;
    /// Divides the samples of a tile by the field.
    void correct(std::span<float> samples) const;

  private:
    friend FlatField estimate_flat_field(ImageShape tile, int tiles, const ReadTile& read,
                                         Team& team);
    static constexpr int degree = 4;

    void row(Elements y, std::span<float> to) const;

    std::vector<double> x_, y_;        ///< positions from -1 to 1, of each column and row
    std::vector<double> coefficients_; ///< of the logarithm, by powers of x and y
};

/// Estimates the flat field of a scan from its tiles. Each tile is divided into cells, of which the
/// logarithm of the mean is taken. Medians separate it into a level per tile and a field per cell,
/// so specimens that cover less than half of a cell's tiles have no effect. A polynomial of the
/// position, of degree 4, is fitted to the field.
///
/// Input     the number of tiles, of which at most 100 are read, evenly distributed.
/// Output    an even field if there are fewer than 9 tiles, or if samples are not positive.
/// Deterministic: the same bits for any number of threads.
FlatField estimate_flat_field(ImageShape tile, int tiles, const ReadTile& read, Team& team);

} // namespace sextant::mosaic
