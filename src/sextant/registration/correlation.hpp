// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/thread_team.hpp"
#include "sextant/kernel/filter/float_plane.hpp"
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
    /// A team stays.
    explicit Correlation(ImageShape shape, Team* team = nullptr);
    ~Correlation();

    /// The highest peaks, highest first, of distinct shifts.
    /// Input     images of that shape, of mean about 0; the place that angles turn about. What is
    ///           NaN counts 0.
    /// Output    at most `most`; valid until the next search.
    /// Cost      for n pixels 10 transforms in O(n log n). Allocates nothing.
    /// Deterministic  the same bits for any number of threads.
    std::span<const Resemblance> search(const kernel::FloatImage& reference,
                                        const kernel::FloatImage& moved, Point centre);

    static constexpr std::size_t most = 12;
    static constexpr int angles = 9;
    static constexpr double degrees_apart = .6;

  private:
    struct Transform;
    using Values = std::vector<std::complex<float>>;

    struct Peak {
        Resemblance found;
        Elements shift_x = 0, shift_y = 0;
    };
    /// Two images that share a transform, since samples are real: one as the imaginary part. The
    /// reference shares that of the first angle.
    struct Pair {
        kernel::FloatPlane turned;
        Values values, columns; ///< samples or waves; on the way from one to the other
    };
    /// Where the images of an angle resemble one another, in one half of all shifts, highest first.
    using Peaks = std::vector<Peak>;
    static constexpr int halves = 2;

    static int pair_of(int angle) { return (angle + 1) / 2; }
    static bool is_imaginary(int angle) { return angle > 0 && angle % 2 == 0; }

    template <class Body>
    void for_each_band(Elements lines, const Body& body);
    void place_all(const kernel::FloatImage& reference, const kernel::FloatImage& moved,
                   Point centre);
    void place(Values& samples, const kernel::FloatImage& image, bool imaginary, Elements first,
               Elements last) const;
    void transform(const Transform& by);
    void whiten_all();
    void whiten(std::size_t here, std::size_t there);
    void collect(int angle, int half);
    void keep(Peaks& peaks, const Peak& peak) const;
    double overlap(Elements shift_x, Elements shift_y) const;

    ImageShape shape_, padded_; ///< a transform is fast for products of 2, 3 and 5
    Team* team_;
    std::unique_ptr<const Transform> forward_, backward_;
    std::vector<float> window_x_, window_y_;
    std::vector<Pair> pairs_;
    std::vector<Peaks> peaks_; ///< of each angle and half
    Peaks highest_;
    std::vector<Resemblance> results_;
};

} // namespace sextant::registration
