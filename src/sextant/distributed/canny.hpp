// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/contour/catalogue.hpp"
#include "sextant/core/units.hpp"
#include "sextant/distributed/components.hpp"
#include "sextant/distributed/tiled_image.hpp"
#include "sextant/distributed/window_filter.hpp"
#include "sextant/kernel/edge/edge_detector.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace sextant {

/// Quantiles of the values of all ranks, which need not be kept: of each share the value at
/// ⌊share · (n − 1)⌋ of the n values in order, exact. What is not a number is left out; 0 where
/// nothing is left.
///
/// Input     values, 0 or more, in any pieces, the same again in every pass; `end_pass()` after
///           each of `passes`.
/// Requires  shares from 0 to 1.
/// Cost      a count a value and pass; 64 Ki counts, and as many for each share. Messages of 256
///           counts, four for each share.
/// Deterministic  the same however the values are dealt.
class Quantiles {
  public:
    static constexpr int passes = 2;

    explicit Quantiles(std::vector<double> shares);

    void add(std::span<const float> values);
    /// Collective.
    void end_pass(const Communicator& communicator);
    /// After the last pass, that of a share.
    float value(std::size_t share) const;

  private:
    using Counts = std::vector<Elements>;
    struct Sought {
        double share;
        std::uint32_t found = 0; // the leading bits
        Elements place = 0;      // among the values that begin with them
        bool nothing = false;
        Counts counts; // of the trailing bits, of values that begin so
    };

    std::vector<Sought> sought_;
    Counts leading_;
    int pass_ = 0;
};

/// The same of values that are at hand. Collective.
std::vector<float> quantiles(const Communicator& communicator, std::span<const float> values,
                             std::vector<double> shares);

/// Edges of a tile that hang together, and which of them have a strong point: hysteresis is the
/// question which have one anywhere.
class HangingEdges {
  public:
    /// Throws InvalidTask as kernel::Labeller.
    HangingEdges(const kernel::EdgePlane& codes, const Tile& tile, ImageShape image);

    /// For join_components() or frontier_of(); marked where strong.
    ComponentsOfTile components() const;
    /// Takes away the edges of parts that are not marked; the rest become weak ones.
    void keep(std::span<const PartOf> parts) const;

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

/// Thresholds below which lie these shares of all pixels' gradients at `sigma`, by length, of which
/// 4 bytes a pixel are kept.
/// Requires  0 ≤ low ≤ high ≤ 1, and a sigma as kernel::GaussianDerivatives; otherwise every rank
///           throws AgreedFailure.
/// Collective.
/// Deterministic  the same for every grid.
kernel::EdgeThresholds quantiles_of(const distributed::Image& image, double sigma, double low,
                                    double high);

/// By which pattern hysteresis is merged, once this rank knows how many entries its list has. All
/// ranks ask at once, and must be told the same.
using PatternForEntries = std::function<const contour::Pattern&(Elements entries)>;
PatternForEntries always(const contour::Pattern& pattern);

/// Canny's edges of an image in tiles as a map of directions: maxima of the gradient at
/// `sigma` (kernel::EdgeFinder), of those what hangs together with a strong one, thinned to lines
/// of one pixel (kernel::Thinning), each followed by the next along the edge
/// (kernel::find_directions).
///
/// Hysteresis goes across tiles as components do: by `pattern`.
///
/// Output    elements of direction_i8, for ContourRanking.
/// Cost      2 bytes a pixel, and what is kept of edges.
/// Requires  thresholds 0 ≤ low ≤ high, a sigma as kernel::GaussianDerivatives, samples of
///           gray_f32, gray_u8 or gray_u16; otherwise every rank throws AgreedFailure.
/// Collective.
/// Deterministic  the same for every grid, pattern and number of ranks: kernel::canny_reference().
/// Source    Canny, IEEE TPAMI 8(6), 1986, doi:10.1109/TPAMI.1986.4767851
distributed::Image edge_directions(const distributed::Image& image, double sigma,
                                   kernel::EdgeThresholds thresholds,
                                   const PatternForEntries& pattern);

} // namespace sextant
