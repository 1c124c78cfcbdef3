// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/image.hpp"
#include "sextant/mosaic/positions.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace sextant::mosaic {

/// Two tiles that overlap, and the expected position of `b` minus that of `a`, in pixels.
struct Neighbours {
    int a = 0, b = 0;
    Point expected;
};

/// Finds all pairs of tiles whose boxes overlap by at least `least` pixels along both axes.
/// Input     the expected position of each tile's first pixel; the shape of all tiles.
/// Output    pairs a < b, in the order of b and then a.
/// Cost      O(n log n) for tiles on a grid.
std::vector<Neighbours> neighbours_of(std::span<const Point> positions, ImageShape tile,
                                      Elements least);

/// What was found about a pair of tiles.
enum class LinkState {
    found,     ///< the offset is known
    ambiguous, ///< another offset explains the overlap almost as well, as on a lattice
    unrelated, ///< the overlap is no more alike than noise
    empty,     ///< one of the tiles is constant in the overlap, or has no finite samples
    thin       ///< the overlap is too thin to be compared
};

/// The result of registering two tiles in their overlap.
struct Link {
    Offset offset; ///< the covariance is known for `found` and `ambiguous` links only
    /// The covariance if noise were white, up to a factor that all links share
    /// (FamilyResult::model_covariance).
    Symmetric model = {};
    LinkState state = LinkState::empty;
    double ncc = 0;      ///< of the filtered overlaps
    double lead = 0;     ///< over the best other offset (RigidResult::lead); 0 without a search
    Elements pixels = 0; ///< of the overlap
    double level = 0;    ///< mean of `b` in the overlap divided by that of `a`; 0 if not positive
};

/// Registers pairs of tiles in their overlaps by translations.
///
/// A search registers the parts of both tiles that overlap if the expected offset is right, by
/// correlation, so it finds errors of up to half the width and height of the overlap. The overlap
/// is then cut again at the offset that was found, rounded to whole pixels, and registered from
/// there by Gauss-Newton steps.
///
/// Not thread-safe.
class PairLinker {
  public:
    explicit PairLinker(ImageShape tile, double prefilter);
    PairLinker(PairLinker&&) noexcept;
    ~PairLinker();

    /// Searches for the offset near an expected one.
    /// Input     the samples of both tiles, in rows; NaN where a sample is missing.
    Link search(const Neighbours& pair, std::span<const float> a, std::span<const float> b);
    /// Registers from an offset that is correct to within a few pixels.
    Link refine(const Neighbours& pair, std::span<const float> a, std::span<const float> b);

  private:
    struct Strips;
    struct Search;

    Strips cut(const Neighbours& pair, ImageShape least, std::span<const float> a,
               std::span<const float> b);
    Link fit(Link link, const Strips& strips, Point start);

    const ImageShape tile_;
    const double prefilter_;
    std::vector<float> samples_[2];
    std::unique_ptr<Search> search_; ///< for strips of the last shape
};

} // namespace sextant::mosaic
