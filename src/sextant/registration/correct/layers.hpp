// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/thread_team.hpp"
#include "sextant/core/image.hpp"
#include "sextant/registration/pair/fourier_lines.hpp"
#include "sextant/registration/pair/motion.hpp"

#include <array>
#include <complex>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace sextant::registration {

/// The separation of a series into a moving layer and a static layer.
///
/// The spectrum of frame k is modelled as F_k(q) = A(q) exp(−i q·t_k) + S(q), where A is the moving
/// layer (the specimen) in frame 0, S is the static layer, and t_k is the displacement of the
/// specimen in frame k, in pixels to the right and downward. With a = mean exp(−i q·t_k), the
/// least-squares solution is, at each frequency,
///   A = (mean F_k exp(i q·t_k) − conj(a) mean F_k) / (1 − |a|²),   S = mean F_k − a A.
/// The layers can be separated only at frequencies at which 1 − |a|² is not small, so not at
/// wavelengths that are long compared with the distance over which the specimen has moved.
struct Layers {
    std::vector<Point> shifts; ///< t_k, relative to the first frame
    /// The displacements according to pairs of frames, which a static layer biases towards zero.
    std::vector<Point> apparent;
    /// For each layer, the correlation (−1 to 1) between its estimates from the first and from the
    /// second half of the frames. Noise does not correlate; neither do parts of one layer that
    /// wrong displacements leave in the other.
    double moving = 0, still = 0;
    double moving_above_noise = 0; ///< noise alone does not reach this `moving`
    bool biased = false;           ///< LayerFit::is_biased() of `apparent`
    double strength = 0; ///< power of the static layer, relative to that of the moving layer
    double travel = 0;   ///< largest extent of `shifts` along an axis, relative to the frames' side
    double ring = 0;     ///< the same in the ring of frequencies in which it is largest
    double determined =
        0; ///< fraction of the weighted frequencies at which layers can be separated

    /// True if the specimen crosses the frames by more than a seventh of their side.
    bool moves_far() const { return travel >= .15; }

    /// True if both layers exist.
    bool has_still_layer() const;
};

/// Returns the RMS of displacements from their mean, in pixels.
double spread_of(std::span<const Point> shifts);

/// Finds the layers of some frames, which may be reduced in size.
///
/// Starts are the displacements from pairs of frames, and from pairs of frames of which the mean of
/// all frames has been subtracted; the latter are not attracted by the static layer. From each
/// start, Gauss-Newton steps minimise Σ_k |F_k − S − A_k exp(−i q·t_k)|² over all t_k, where A_k is
/// the moving layer without frame k. The start with the smaller residual is kept.
///
/// Cost      O(frames · pixels · log pixels), and ten steps of O(frames · pixels).
/// Deterministic
/// Source    the model: Bergen, Burt, Hingorani, Peleg, IEEE TPAMI 14, 1992,
///           doi:10.1109/34.161348
class LayerFit {
  public:
    static constexpr std::size_t least_frames = 4;
    /// A series of fewer frames is examined in finer detail.
    static constexpr std::size_t many_frames = 6;

    /// Input     at least two images of one shape, of at least 16x16 pixels, in order of time; NaN
    ///           is interpolated.
    LayerFit(ImageShape shape, std::span<const std::vector<float>> images);

    /// Returns the layers, or nothing if the contrast of some images is inverted; of fewer than
    /// `least_frames` images, only `apparent` and `biased`. With `quick`, also returns nothing,
    /// without a fit, if displacements from pairs of frames already show that the specimen moves
    /// and that no static layer exists.
    std::optional<Layers> fit(bool quick);

    /// Returns true if a static layer seems to bias the displacements of the images.
    ///
    /// Without a static layer, waves of all lengths have the same displacement. A static layer has
    /// another spectrum than the specimen, so it biases waves of some lengths more than others. Let
    /// M be the mean of the aligned images, and D their change along `shifts`. Remaining
    /// displacements contribute to the imaginary part of D conj(M); changes of contrast do not, and
    /// the contributions of rotations, distortions and noise have no systematic sign. The mean
    /// displacements of rings of frequencies, and of the frequencies along the axes, which rows and
    /// columns of a detector have, are compared by a chi-squared test. Their mean, in which all
    /// have the weights of the test, is compared with the mean in which they have those of
    /// a registration.
    ///
    /// Two of fewer than `many_frames` images that seem to be at rest relative to each other are
    /// also compared by the odd part of their correlation, to which a static layer does not
    /// contribute.
    bool is_biased(std::span<const Point> shifts) const;

    /// Returns the displacement of another image of the same series, relative to the first image.
    Point locate(std::span<const float> image) const;

  private:
    using Values = std::vector<std::complex<float>>;
    /// A frequency that is used: one of each pair q and −q.
    struct Frequency {
        Elements column, row; ///< index in a transform
        float x, y;           ///< radians per pixel
        float weight;
    };

    /// Two images whose displacement is to be found.
    struct Pair {
        const Values *from, *to;
    };

    std::array<Values, 2> spectra_of(std::span<const float> one,
                                     std::span<const float> other) const;
    std::size_t index(Elements column, Elements row) const;
    template <class Visit>
    void for_each_phase(Point shift, const Visit& visit) const;
    struct Peak {
        Point shift;
        bool inverted = false; ///< true if the deepest minimum is deeper than the peak is high
    };
    std::array<Peak, 2> peaks(const Pair& first, const Pair& second) const;
    struct Chain {
        std::vector<Point> shifts;
        bool inverted = false; ///< true if any two adjacent frames have opposite contrast
    };
    Chain chained(std::span<const Values> spectra, std::size_t farthest) const;
    struct Split {
        Values moving, still;
        std::vector<float> determined; ///< 1 − |a|²
    };
    Split split(std::span<const Values> spectra, std::span<const Point> shifts) const;
    double odd_peak(const Pair& pair, Point shift) const;
    std::optional<Point> step(const Values& spectrum, Point shift, const Split& layers,
                              std::size_t others) const;
    std::vector<Point> refined(std::vector<Point> shifts) const;
    double residual(std::span<const Point> shifts) const;
    double strongest_ring(std::span<const Point> shifts) const;
    Layers judged(std::vector<Point> shifts) const;

    ImageShape shape_, padded_;
    FourierImage forward_, backward_;
    std::vector<float> window_x_, window_y_, around_gaps_;
    std::vector<Frequency> frequencies_;
    std::vector<Values> spectra_; ///< [frame][frequency]
    Split found_;
};

} // namespace sextant::registration
