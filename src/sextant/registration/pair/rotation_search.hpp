// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/thread_team.hpp"
#include "sextant/core/image.hpp"
#include "sextant/kernel/filter/float_plane.hpp"
#include "sextant/registration/pair/fourier_lines.hpp"

#include <complex>
#include <cstddef>
#include <span>
#include <vector>

namespace sextant::registration {

/// Finds the angles by which one image may be rotated relative to another, over the full circle.
///
/// The modulus of an image's spectrum does not depend on translations, and rotates with the image.
/// The moduli of both images, multiplied by a radial Hann window, are resampled on rings around the
/// zero frequency. Each ring is normalised, and the rings of both images are correlated over the
/// angle. Since a modulus is the same at opposite frequencies, each angle is found together with
/// the opposite one; images of a lattice have as many angles as the lattice has symmetries.
class RotationSearch {
  public:
    /// The team must outlive this object.
    explicit RotationSearch(ImageShape shape, Team* team = nullptr);

    /// Returns the angles α for which T∘R(α) and R are most alike, in radians between −π and π: the
    /// most likely first, each followed by the opposite one; none with a correlation of less than
    /// half the highest.
    /// Input     images of this object's shape with a mean of about 0. NaN counts as 0.
    /// Output    at most `most` angles, valid until the next call.
    /// Cost      one complex transform of n pixels, and two of 360 angles for each ring.
    /// Deterministic  The bits do not depend on the number of threads.
    std::span<const double> angles(const kernel::FloatImage& reference,
                                   const kernel::FloatImage& moved);

    static constexpr std::size_t most = 8;

  private:
    using Values = std::vector<std::complex<float>>;

    void place(const kernel::FloatImage& reference, const kernel::FloatImage& moved);
    void transform();
    void correlate(Elements ring);
    float modulus(const std::complex<float>& here, const std::complex<float>& there,
                  bool of_moved) const;
    void choose();

    ImageShape shape_, padded_;
    Team* team_;
    FourierLines of_column_, of_row_, of_ring_, back_;
    Elements first_ring_, rings_;
    std::vector<float> window_;    ///< per pixel
    Values samples_, columns_;     ///< both images, as real and imaginary parts; scratch
    std::vector<Values> of_rings_; ///< the correlation of each ring over the angle
    std::vector<double> sums_;     ///< over the rings
    std::vector<double> angles_;
};

} // namespace sextant::registration
