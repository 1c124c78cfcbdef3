// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/thread_team.hpp"
#include "sextant/core/image.hpp"
#include "sextant/kernel/filter/float_plane.hpp"
#include "sextant/registration/pair/fourier_lines.hpp"
#include "sextant/registration/pair/motion.hpp"

#include <complex>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

namespace sextant::registration {

/// A candidate motion between two images.
struct Resemblance {
    RigidMotion motion;
    double height = 0;     ///< height of the correlation peak; comparable for the same two images
    bool inverted = false; ///< true if the images have opposite contrast: the peak is negative
};

/// The motions that a Correlation searches.
struct CorrelationRange {
    double around = 0; ///< the middle of the angles, in radians
    /// The largest shift, in pixels; shifts are also limited to half the image size along each
    /// axis.
    double farthest = std::numeric_limits<double>::infinity();
    bool inverts = false; ///< also search for opposite contrast
    /// The number of angles, `degrees_apart` apart: odd, at most Correlation::most_angles.
    int angles = 9;
};

/// Finds the peaks of the correlation of two images over all shifts up to half the image size and
/// up to nine angles around a given angle. These peaks are starts for methods that converge only
/// locally. On a lattice, where a shift by one period correlates almost as well, the true shift is
/// among several peaks.
///
/// Both images are multiplied by a Tukey window; the template is first rotated by each angle. The
/// cross spectrum is divided by the square root of its modulus. This is a compromise: full phase
/// correlation weights noise as much as signal, and without whitening the strongest frequencies
/// dominate. Peak heights are divided by the overlapping fraction of the images.
class Correlation {
  public:
    /// The team must outlive this object.
    explicit Correlation(ImageShape shape, Team* team = nullptr);

    /// Returns the highest peaks at distinct shifts, highest first.
    /// Input     images of this object's shape with a mean of about 0; the centre of rotation. NaN
    ///           counts as 0.
    /// Output    at most `most` peaks, valid until the next search. With `inverts`, up to `most`
    ///           negative peaks follow if the correlation has a minimum deeper than its highest
    ///           peak.
    /// Cost      one more transform of n pixels, O(n log n), than there are angles. Allocates
    /// nothing. Deterministic  the bits do not depend on the number of threads.
    std::span<const Resemblance> search(const kernel::FloatImage& reference,
                                        const kernel::FloatImage& moved, Point centre,
                                        const CorrelationRange& range = {});

    static constexpr std::size_t most = 12;
    static constexpr int most_angles = 9;
    static constexpr double degrees_apart = .6;

  private:
    struct Transform {
        FourierLines of_column, of_row;
    };
    using Values = std::vector<std::complex<float>>;

    struct Peak {
        Resemblance found;
        Elements shift_x = 0, shift_y = 0;
    };
    /// Two real images that are transformed together, as the real and imaginary parts of one
    /// complex transform. The reference is paired with the first angle.
    struct Pair {
        kernel::FloatPlane rotated;
        Values values, columns; ///< `values`: samples or spectra; `columns`: scratch
    };
    /// The peaks at one angle in one half of all shifts, highest first.
    using Peaks = std::vector<Peak>;
    static constexpr int halves = 2;

    static int pair_of(int angle) { return (angle + 1) / 2; }
    static bool is_imaginary(int angle) { return angle > 0 && angle % 2 == 0; }

    std::span<Pair> pairs();
    template <class Body>
    void for_each_band(Elements lines, const Body& body);
    void fill_all(const kernel::FloatImage& reference, const kernel::FloatImage& moved,
                  Point centre);
    void fill(Values& samples, const kernel::FloatImage& image, bool imaginary, Elements first,
              Elements last) const;
    void transform(const Transform& by);
    void whiten_all();
    void whiten(std::size_t here, std::size_t there);
    void collect_all(bool inverted);
    void collect(int angle, int half, bool inverted);
    double alpha_of(int angle) const;
    void keep(Peaks& peaks, const Peak& peak) const;
    double overlap(Elements shift_x, Elements shift_y) const;

    ImageShape shape_, padded_; ///< padded_: sides are products of 2, 3 and 5
    Team* team_;
    Transform forward_, backward_;
    std::vector<float> window_x_, window_y_;
    std::vector<Pair> pairs_;
    CorrelationRange range_;
    std::vector<Peaks> peaks_;    ///< [angle][half]
    std::vector<double> deepest_; ///< [angle][half]: depth of the deepest minimum
    Peaks highest_;
    std::vector<Resemblance> results_;
};

/// Finds the angles by which one image may be rotated relative to another, over the full circle.
///
/// The modulus of an image's spectrum is invariant under translations and rotates with the image.
/// Both images are multiplied by a radial Hann window, and the moduli of their spectra are
/// resampled on rings around the zero frequency. Each ring is normalised, and the rings of both
/// images are correlated over the angle. A modulus is equal at opposite frequencies, so each angle
/// is found together with the opposite angle. Images of a lattice have one angle per rotational
/// symmetry of the lattice.
class RotationSearch {
  public:
    /// The team must outlive this object.
    explicit RotationSearch(ImageShape shape, Team* team = nullptr);

    /// Returns the angles α, in radians between −π and π, for which the spectra of T∘R(α) and R
    /// correlate best. The best angle comes first; each angle is followed by the opposite angle.
    /// Angles whose correlation is less than half of the highest one are dropped.
    /// Input     images of this object's shape with a mean of about 0. NaN counts as 0.
    /// Output    at most `most` angles, valid until the next call.
    /// Cost      one complex transform of n pixels, and two transforms of 360 angles per ring.
    /// Deterministic  the bits do not depend on the number of threads.
    std::span<const double> angles(const kernel::FloatImage& reference,
                                   const kernel::FloatImage& moved);

    static constexpr std::size_t most = 8;

  private:
    using Values = std::vector<std::complex<float>>;

    void fill(const kernel::FloatImage& reference, const kernel::FloatImage& moved);
    void correlate(Elements ring);
    void choose();

    ImageShape shape_, padded_;
    Team* team_;
    FourierImage of_image_;
    FourierLines of_ring_, back_;
    Elements first_ring_, rings_;
    std::vector<float> window_;    ///< per pixel
    Values samples_, columns_;     ///< both images, as real and imaginary parts; scratch
    std::vector<Values> of_rings_; ///< correlation of each ring over the angle
    std::vector<double> sums_;     ///< sum of the correlations over the rings
    std::vector<double> angles_;
};

} // namespace sextant::registration
