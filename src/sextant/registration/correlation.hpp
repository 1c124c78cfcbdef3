// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/kernel/float_plane.hpp"
#include "sextant/registration/motion.hpp"

#include <complex>
#include <memory>
#include <span>
#include <vector>

namespace sextant::registration {

/// A motion under which two images resemble one another.
struct Resemblance {
    RigidMotion motion;
    double height = 0; ///< of its peak in the correlation; comparable within one search
};

/// Where the correlation of two images peaks, over every shift up to half their size and nine
/// angles: a start for what finds motions only nearby. On a lattice, where a shift by a period
/// looks almost as good, the right one is among several.
///
/// Both are windowed (Tukey), the template once for each angle; the cross spectrum is divided by
/// the square root of its modulus: whole division (phase correlation) gives noise the same say as
/// signal, none at all lets the strongest waves decide alone. Heights are divided by the share of
/// the images that overlaps.
class Correlation {
  public:
    explicit Correlation(ImageShape shape);
    ~Correlation();

    /// The highest peaks, highest first, of distinct shifts.
    /// Input     images of that shape, of mean about 0; the place that angles turn about.
    /// Output    at most `most`; valid until the next search.
    /// Cost      for n pixels 10 transforms in O(n log n). Allocates nothing.
    std::span<const Resemblance> search(const kernel::FloatImage& reference,
                                        const kernel::FloatImage& moved, Point centre);

    static constexpr std::size_t most = 12;
    static constexpr int angles = 9;
    static constexpr double degrees_apart = .6;

  private:
    struct Transforms;
    using Spectrum = std::vector<std::complex<float>>;

    void place(const kernel::FloatImage& image, bool imaginary);
    void place_turned(const kernel::FloatImage& moved, double alpha, Point centre, bool imaginary);
    void whiten(bool with_reference);
    void collect(double alpha, bool imaginary);
    void keep(const Resemblance& found, Elements shift_x, Elements shift_y);
    double overlap(Elements shift_x, Elements shift_y) const;

    struct Peak {
        Resemblance found;
        Elements shift_x = 0, shift_y = 0;
    };

    ImageShape shape_, padded_; ///< a transform is fast for products of 2, 3 and 5
    std::unique_ptr<Transforms> transforms_;
    std::vector<float> window_x_, window_y_;
    kernel::FloatPlane turned_;
    Spectrum samples_, spectrum_, reference_;
    std::vector<Peak> peaks_;
    std::vector<Resemblance> results_;
};

} // namespace sextant::registration
