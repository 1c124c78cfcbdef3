// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/contour/catalogue.hpp"
#include "sextant/contours/components.hpp"
#include "sextant/core/units.hpp"
#include "sextant/kernel/edge/edge_detector.hpp"
#include "sextant/tiles/tiled_image.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace sextant {

/// Exact quantiles of the values of all ranks, without storing the values. For each share, the
/// quantile is the value at position ⌊share · (n − 1)⌋ of the n sorted values. NaNs are ignored;
/// the quantile of no values is 0.
///
/// Input     values >= 0, in pieces of any size; the same values again in each of the `passes`
///           passes, with a call of `end_pass()` after each pass.
/// Requires  shares from 0 to 1.
/// Cost      one count per value and pass; memory for 64 Ki counts, and another 64 Ki for each
///           share; all-gathers of 256 counts, four per share.
/// Deterministic  the result does not depend on how the values are divided among ranks.
class Quantiles {
  public:
    static constexpr int passes = 2;

    explicit Quantiles(std::vector<double> shares);

    void add(std::span<const float> values);
    /// Ends a pass. Collective.
    void end_pass(const Communicator& communicator);
    /// Returns the quantile for the share at index `share`. Valid after the last pass.
    float value(std::size_t share) const;

  private:
    using Counts = std::vector<Elements>;
    struct Sought {
        double share;
        std::uint32_t found = 0; // leading bits of the quantile
        Elements place = 0;      // position of the quantile among values with these bits
        bool nothing = false;
        Counts counts; // by trailing bits: number of values with these leading bits
    };

    std::vector<Sought> sought_;
    Counts leading_;
    int pass_ = 0;
};

/// Returns the quantiles of values in memory. Collective.
std::vector<float> quantiles(const Communicator& communicator, std::span<const float> values,
                             std::vector<double> shares);

/// The connected components of a tile's edges, each marked if it has a strong point. Hysteresis
/// keeps components that have a strong point in any tile.
class EdgeComponents {
  public:
    /// Throws InvalidTask if kernel::Labeller does not accept the tile.
    EdgeComponents(const kernel::EdgePlane& codes, const Tile& tile, ImageShape image);

    /// Returns the components for join_components() or frontier_of(). Components with a strong
    /// point are marked.
    ComponentsOfTile components() const;
    /// Removes the edges of unmarked components; all remaining edge points become weak.
    void keep(std::span<const WholeComponent> parts) const;

  private:
    kernel::EdgePlane codes_;
    kernel::SampleView view_;
    kernel::Labeller labeller_;
    std::vector<Elements> first_pixels_;
    std::vector<std::uint8_t> strong_;
};

inline constexpr ElementFormat direction_i8{"direction i8", sizeof(kernel::Direction)};

/// Throws InvalidTask unless 0 ≤ low ≤ high ≤ 1.
void require_edge_quantiles(double low, double high);

/// Returns edge thresholds: the quantiles `low` and `high` of the gradient magnitudes of all
/// pixels, at `sigma`. Stores the magnitudes in 4 bytes per pixel, not the gradient.
/// Requires  0 ≤ low ≤ high ≤ 1, and a sigma that kernel::GaussianDerivatives accepts; otherwise
///           every rank throws AgreedFailure.
/// Collective.
/// Deterministic  the same for every grid.
kernel::EdgeThresholds quantiles_of(const distributed::Image& image, double sigma, double low,
                                    double high);

/// Returns the pattern that merges hysteresis lists, given the length of this rank's list. All
/// ranks call the function at the same time, and it must return the same pattern on all of them.
using PatternForEntries = std::function<const contour::Pattern&(Elements entries)>;
PatternForEntries always(const contour::Pattern& pattern);

/// Finds Canny's edges of a tiled image and returns them as a map of directions. The steps are:
/// find maxima of the gradient at `sigma` (kernel::EdgeFinder), keep components that have a strong
/// point (hysteresis), thin these to lines one pixel wide (kernel::Thinning), and give each pixel
/// the direction of the next pixel along the edge (kernel::find_directions). Components are joined
/// across tiles by `pattern`.
///
/// Output    elements of direction_i8, for ContourRanking.
/// Cost      2 bytes per pixel, and the lists of edge components.
/// Requires  thresholds 0 ≤ low ≤ high, a sigma that kernel::GaussianDerivatives accepts, samples
///           of gray_f32, gray_u8 or gray_u16; otherwise every rank throws AgreedFailure.
/// Collective.
/// Deterministic  the result of kernel::canny_reference(), for every grid, pattern and number of
///           ranks.
/// Source    Canny, IEEE TPAMI 8(6), 1986, doi:10.1109/TPAMI.1986.4767851
distributed::Image edge_directions(const distributed::Image& image, double sigma,
                                   kernel::EdgeThresholds thresholds,
                                   const PatternForEntries& pattern);

} // namespace sextant
