// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/pair/correlation.hpp"

#include "sextant/core/run_control.hpp"
#include "sextant/kernel/fit/rigid_map.hpp"
#include "sextant/registration/pair/level.hpp"
#include "sextant/registration/pair/partition.hpp"
#include "sextant/registration/pair/spectrum_products.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numbers>

namespace sextant::registration {

namespace {

/// Fraction of the Tukey window that is tapered; the rest is flat.
constexpr double tapered = .5;
/// Peaks closer together than this, in pixels, count as one peak.
constexpr Elements distinct = 3;

/// Converts an index of a periodic correlation to the signed shift of least magnitude.
Elements unwrapped(Elements at, Elements period) {
    return at <= period / 2 ? at : at - period;
}

} // namespace

Correlation::Correlation(ImageShape shape, Team* team)
    : shape_(shape),
      padded_{fast_fourier_size(shape.width), fast_fourier_size(shape.height)},
      team_(team),
      forward_{{padded_.height, false}, {padded_.width, false}},
      backward_{{padded_.height, true}, {padded_.width, true}},
      window_x_(tukey(shape.width, tapered)),
      window_y_(tukey(shape.height, tapered)),
      peaks_(static_cast<std::size_t>(most_angles * halves)),
      deepest_(peaks_.size()) {
    const auto count = static_cast<std::size_t>(padded_.elements());
    for (int pair = 0; pair <= pair_of(most_angles - 1); ++pair)
        pairs_.push_back({kernel::FloatPlane(shape), Values(count), Values(count)});
    for (Peaks& peaks : peaks_)
        peaks.reserve(most + 1);
    highest_.reserve(most + 1);
    results_.reserve(2 * most);
}

std::span<const Resemblance> Correlation::search(const kernel::FloatImage& reference,
                                                 const kernel::FloatImage& moved, Point centre,
                                                 const CorrelationRange& range) {
    range_ = range;
    fill_all(reference, moved, centre);
    transform(forward_);
    whiten_all();
    transform(backward_);
    results_.clear();
    collect_all(false);
    const double deepest =
        *std::max_element(deepest_.begin(), deepest_.begin() + range.angles * halves);
    if (range.inverts && (highest_.empty() || deepest > highest_.front().found.height))
        collect_all(true);
    return results_;
}

double Correlation::alpha_of(int angle) const {
    return range_.around + (angle - range_.angles / 2) * degrees_apart * std::numbers::pi / 180;
}

/// Appends the positive peaks to the results, or the negative peaks if `inverted`.
void Correlation::collect_all(bool inverted) {
    const int parts = range_.angles * halves;
    run_parts(team_, parts,
              [&](int part, int) { collect(part / halves, part % halves, inverted); });
    highest_.clear();
    for (int part = 0; part < parts; ++part) {
        for (const Peak& peak : peaks_[static_cast<std::size_t>(part)])
            keep(highest_, peak);
    }
    for (const Peak& peak : highest_)
        results_.push_back(peak.found);
}

/// Returns the pairs that the angles of the range need.
std::span<Correlation::Pair> Correlation::pairs() {
    return std::span(pairs_).first(static_cast<std::size_t>(pair_of(range_.angles - 1) + 1));
}

/// Calls body(pair, first line, end line) for bands of lines of every pair.
template <class Body>
void Correlation::for_each_band(Elements lines, const Body& body) {
    const Bands bands(lines);
    run_parts(team_, static_cast<int>(pairs().size()) * bands.count(), [&](int part, int) {
        const int band = part % bands.count();
        body(part / bands.count(), bands.first(band), bands.first(band + 1));
    });
}

/// Fills the pairs: the first pair with the reference and the moved image at the first angle, each
/// other pair with the moved image at two angles.
void Correlation::fill_all(const kernel::FloatImage& reference, const kernel::FloatImage& moved,
                           Point centre) {
    for_each_band(shape_.height, [&](int number, Elements first, Elements last) {
        Pair& pair = pairs_[static_cast<std::size_t>(number)];
        if (number == 0)
            fill(pair.values, reference, true, first, last);
        for (int angle = 0; angle < range_.angles; ++angle) {
            if (pair_of(angle) != number)
                continue;
            kernel::warp_rows(moved, map_of({alpha_of(angle), 0, 0}, centre), 0, shape_, first,
                              last, pair.rotated.plane());
            fill(pair.values, pair.rotated.image(), is_imaginary(angle), first, last);
        }
        if (last == shape_.height)
            std::fill(pair.values.begin() + last * padded_.width, pair.values.end(), 0.F);
    });
}

/// Writes the windowed rows [first, last) of an image to the real or imaginary part of `samples`.
void Correlation::fill(Values& samples, const kernel::FloatImage& image, bool imaginary,
                       Elements first, Elements last) const {
    for (Elements y = first; y < last; ++y) {
        std::complex<float>* const to = samples.data() + y * padded_.width;
        const float* const row = image.row(y);
        check_cancelled(padded_.width);
        const float weight = window_y_[static_cast<std::size_t>(y)];
        for (Elements x = 0; x < padded_.width; ++x) {
            const bool known = x < shape_.width && !std::isnan(row[x]);
            const float sample =
                known ? row[x] * window_x_[static_cast<std::size_t>(x)] * weight : 0;
            imaginary ? to[x].imag(sample) : to[x].real(sample);
        }
    }
}

/// Transforms every pair in place: the columns into transposed scratch, then the rows back into
/// `values`.
void Correlation::transform(const Transform& by) {
    const auto lines = [&](Elements count, const FourierLines& of_lines, Values Pair::*from,
                           Values Pair::*to) {
        for_each_band(count, [&](int number, Elements first, Elements last) {
            Pair& pair = pairs_[static_cast<std::size_t>(number)];
            of_lines.transform((pair.*from).data(), (pair.*to).data(), count, first, last);
        });
    };
    lines(padded_.width, by.of_column, &Pair::values, &Pair::columns);
    lines(padded_.height, by.of_row, &Pair::columns, &Pair::values);
}

/// Whitens all pairs. k and −k are processed together, because the result at each depends on both.
void Correlation::whiten_all() {
    const Elements width = padded_.width, height = padded_.height;
    constexpr Elements rows_at_a_time = 8;
    const Bands bands(height / 2 + 1, rows_at_a_time);
    run_parts(team_, bands.count(), [&](int band, int) {
        for (Elements y = bands.first(band); y < bands.first(band + 1); ++y) {
            const Elements opposite_y = (height - y) % height;
            check_cancelled(width);
            for (Elements x = 0; x < width; ++x) {
                const Elements opposite_x = (width - x) % width;
                if (opposite_y != y || opposite_x >= x)
                    whiten(static_cast<std::size_t>(y * width + x),
                           static_cast<std::size_t>(opposite_y * width + opposite_x));
            }
        }
    });
}

/// Replaces the spectra of each pair by the whitened cross spectra with the reference. The
/// reference is the imaginary part of the first pair.
void Correlation::whiten(std::size_t here, std::size_t there) {
    const Values& first_values = pairs_.front().values;
    const std::complex<float> reference = separated(first_values[here], first_values[there]).g;
    for (Pair& pair : pairs()) {
        const TwoSpectra both = separated(pair.values[here], pair.values[there]);
        const bool with_reference = &pair == &pairs_.front();
        const std::complex<float> first = whitened(reference, both.f);
        const std::complex<float> second =
            with_reference ? std::complex<float>() : whitened(reference, both.g);
        const std::complex<float> i_second(-second.imag(), second.real());
        pair.values[here] = first + i_second;
        pair.values[there] = std::conj(first - i_second);
    }
}

double Correlation::overlap(Elements shift_x, Elements shift_y) const {
    return (1 - std::abs(static_cast<double>(shift_x)) / static_cast<double>(shape_.width)) *
           (1 - std::abs(static_cast<double>(shift_y)) / static_cast<double>(shape_.height));
}

/// Finds peaks in the real or imaginary part of one angle's correlation, in the upper or lower half
/// of the shifts; negative peaks if `inverted`. Also finds the deepest minimum.
void Correlation::collect(int angle, int half, bool inverted) {
    const Values& samples = pairs_[static_cast<std::size_t>(pair_of(angle))].values;
    const bool imaginary = is_imaginary(angle);
    Peaks& peaks = peaks_[static_cast<std::size_t>(angle * halves + half)];
    peaks.clear();
    const Elements width = padded_.width, height = padded_.height;
    const auto at = [&](Elements x, Elements y) {
        const std::complex<float> both =
            samples[static_cast<std::size_t>((y + height) % height * width + (x + width) % width)];
        const float value = imaginary ? both.imag() : both.real();
        return inverted ? -value : value;
    };
    const auto is_peak = [&](Elements x, Elements y, float value) {
        return value > at(x - 1, y) && value >= at(x + 1, y) && value > at(x, y - 1) &&
               value >= at(x, y + 1) && value > at(x - 1, y - 1) && value >= at(x + 1, y + 1) &&
               value > at(x + 1, y - 1) && value >= at(x - 1, y + 1);
    };
    constexpr double inexact = 1; // shifts are whole pixels
    float least = 0, lowest = 0;
    double& deepest = deepest_[static_cast<std::size_t>(angle * halves + half)];
    deepest = 0;
    const double largest_square = (range_.farthest + inexact) * (range_.farthest + inexact);
    for (Elements y = half * height / halves; y < (half + 1) * height / halves; ++y) {
        const Elements shift_y = unwrapped(y, height);
        check_cancelled(width);
        if (2 * std::abs(shift_y) > shape_.height)
            continue;
        // Real and imaginary parts alternate in memory.
        const float* const row = reinterpret_cast<const float*>(samples.data() + y * width);
        for (Elements x = 0; x < width; ++x) {
            const float sample = row[2 * x + (imaginary ? 1 : 0)];
            const float value = inverted ? -sample : sample;
            if (value <= least && value >= lowest)
                continue;
            const Elements shift_x = unwrapped(x, width);
            if (2 * std::abs(shift_x) > shape_.width ||
                static_cast<double>(shift_x * shift_x + shift_y * shift_y) > largest_square)
                continue;
            if (!(value > least)) {
                if (value < lowest) {
                    deepest =
                        std::max(deepest, static_cast<double>(-value) / overlap(shift_x, shift_y));
                    lowest = static_cast<float>(-deepest / 4); // same bound as for `least`
                }
                continue;
            }
            const double over_overlap = static_cast<double>(value) / overlap(shift_x, shift_y);
            const bool full = peaks.size() == most;
            if ((full && over_overlap <= peaks.back().found.height) || !is_peak(x, y, value))
                continue;
            // T∘R(α) shifted by s is T∘φ with t = R(α)s.
            const RigidMotion shift{0, static_cast<double>(shift_x), static_cast<double>(shift_y)};
            keep(peaks, {{compose({alpha_of(angle), 0, 0}, shift), over_overlap, inverted},
                         shift_x,
                         shift_y});
            // Heights are values divided by an overlap of at least 1/4, so a value below a quarter
            // of the lowest peak in a full list cannot enter the list.
            if (peaks.size() == most)
                least = static_cast<float>(peaks.back().found.height / 4);
        }
    }
}

/// Inserts a peak into the list of the highest peaks. Keeps only the highest of several peaks at
/// nearly the same shift.
void Correlation::keep(Peaks& peaks, const Peak& peak) const {
    const auto near = [&](const Peak& other) {
        return std::abs(other.shift_x - peak.shift_x) < distinct &&
               std::abs(other.shift_y - peak.shift_y) < distinct;
    };
    const auto higher = [](const Peak& one, const Peak& other) {
        return one.found.height > other.found.height;
    };
    const auto same = std::find_if(peaks.begin(), peaks.end(), near);
    if (same != peaks.end()) {
        if (same->found.height >= peak.found.height)
            return;
        peaks.erase(same);
    }
    peaks.insert(std::upper_bound(peaks.begin(), peaks.end(), peak, higher), peak);
    if (peaks.size() > most)
        peaks.pop_back();
}

namespace {

constexpr int steps = 360; ///< number of angles in a half turn
constexpr double step = std::numbers::pi / steps;
/// Angles closer together than this, in steps, are covered by the same Correlation search.
constexpr int least_apart = 8;

/// Subtracts the mean of a ring and divides by the square root of its standard deviation. Rings
/// with more signal then have more weight, but the lowest frequencies do not dominate.
void normalise(std::vector<float>& ring) {
    double sum = 0, squares = 0;
    for (const float value : ring) {
        sum += static_cast<double>(value);
        squares += static_cast<double>(value) * static_cast<double>(value);
    }
    const double mean = sum / steps;
    const double deviation = std::sqrt(std::max(0., squares / steps - mean * mean));
    for (float& value : ring)
        value = deviation > 0
                    ? static_cast<float>((static_cast<double>(value) - mean) / std::sqrt(deviation))
                    : 0;
}

} // namespace

RotationSearch::RotationSearch(ImageShape shape, Team* team)
    : shape_(shape),
      padded_{fast_fourier_size(shape.width), fast_fourier_size(shape.height)},
      team_(team),
      of_image_(padded_, false),
      of_ring_(steps, false),
      back_(steps, true),
      first_ring_(3),
      rings_(std::max<Elements>(0, std::min(shape.width, shape.height) * 9 / 20 - first_ring_)),
      window_(static_cast<std::size_t>(shape.elements())),
      samples_(static_cast<std::size_t>(padded_.elements())),
      columns_(samples_.size()),
      of_rings_(static_cast<std::size_t>(rings_), Values(steps)),
      sums_(steps) {
    const double radius = static_cast<double>(std::min(shape.width, shape.height)) / 2;
    const double x0 = static_cast<double>(shape.width - 1) / 2;
    const double y0 = static_cast<double>(shape.height - 1) / 2;
    for (Elements y = 0; y < shape.height; ++y) {
        for (Elements x = 0; x < shape.width; ++x) {
            const double at =
                std::hypot(static_cast<double>(x) - x0, static_cast<double>(y) - y0) / radius;
            window_[static_cast<std::size_t>(y * shape.width + x)] =
                at < 1 ? static_cast<float>(.5 + .5 * std::cos(std::numbers::pi * at)) : 0;
        }
    }
    angles_.reserve(most);
}

std::span<const double> RotationSearch::angles(const kernel::FloatImage& reference,
                                               const kernel::FloatImage& moved) {
    fill(reference, moved);
    of_image_.transform(samples_, columns_, team_);
    run_parts(team_, static_cast<int>(rings_), [&](int ring, int) { correlate(ring); });
    std::fill(sums_.begin(), sums_.end(), 0.);
    for (Elements ring = 0; ring < rings_; ++ring) {
        for (std::size_t i = 0; i < sums_.size(); ++i)
            sums_[i] += static_cast<double>(first_ring_ + ring) *
                        static_cast<double>(of_rings_[static_cast<std::size_t>(ring)][i].real());
    }
    choose();
    return angles_;
}

void RotationSearch::fill(const kernel::FloatImage& reference, const kernel::FloatImage& moved) {
    std::fill(samples_.begin(), samples_.end(), std::complex<float>());
    for (Elements y = 0; y < shape_.height; ++y) {
        const float *const r = reference.row(y), *const t = moved.row(y);
        const float* const window = window_.data() + y * shape_.width;
        std::complex<float>* const to = samples_.data() + y * padded_.width;
        for (Elements x = 0; x < shape_.width; ++x)
            to[x] = {std::isnan(r[x]) ? 0 : window[x] * r[x],
                     std::isnan(t[x]) ? 0 : window[x] * t[x]};
    }
}

/// Correlates one ring of the two spectra over the angle.
void RotationSearch::correlate(Elements ring) {
    const double side = static_cast<double>(std::min(shape_.width, shape_.height));
    const double frequency = static_cast<double>(first_ring_ + ring) / side;
    std::vector<float> of_reference(steps), of_moved(steps);
    const auto moduli = [&](Elements x, Elements y) {
        const auto at = [&](Elements column, Elements row) {
            return samples_[static_cast<std::size_t>((row + padded_.height) % padded_.height *
                                                         padded_.width +
                                                     (column + padded_.width) % padded_.width)];
        };
        // F + iG at k and −k gives |F(k)| and |G(k)| (see separated()).
        const std::complex<float> here = at(x, y), there = std::conj(at(-x, -y));
        return std::pair(std::abs(here + there), std::abs(here - there));
    };
    for (int i = 0; i < steps; ++i) {
        const double x = frequency * std::cos(i * step) * static_cast<double>(padded_.width);
        const double y = frequency * std::sin(i * step) * static_cast<double>(padded_.height);
        const auto left = static_cast<Elements>(std::floor(x)),
                   top = static_cast<Elements>(std::floor(y));
        const double right = x - static_cast<double>(left), down = y - static_cast<double>(top);
        float r = 0, t = 0;
        for (const Elements below : {0, 1}) {
            for (const Elements beside : {0, 1}) {
                const auto weight = static_cast<float>((beside == 1 ? right : 1 - right) *
                                                       (below == 1 ? down : 1 - down));
                const auto [one, other] = moduli(left + beside, top + below);
                r += weight * one;
                t += weight * other;
            }
        }
        of_reference[static_cast<std::size_t>(i)] = r;
        of_moved[static_cast<std::size_t>(i)] = t;
    }
    normalise(of_reference);
    normalise(of_moved);
    Values spectrum(steps), both(steps);
    for (std::size_t i = 0; i < both.size(); ++i)
        both[i] = {of_reference[i], of_moved[i]};
    of_ring_.transform(both.data(), spectrum.data(), 1, 0, 1);
    // Compute conj(R) T. Its inverse transform is the sum of R(θ) T(θ + α) over θ.
    for (std::size_t i = 0; i < both.size(); ++i) {
        const std::complex<float> here = spectrum[i], there = spectrum[(steps - i) % steps];
        const std::complex<float> r = here + std::conj(there), d = here - std::conj(there);
        const std::complex<float> t(d.imag(), -d.real());
        both[i] = std::conj(r) * t;
    }
    back_.transform(both.data(), of_rings_[static_cast<std::size_t>(ring)].data(), 1, 0, 1);
}

/// Chooses the highest maxima over the angle. Maxima below half of the highest one are dropped.
void RotationSearch::choose() {
    const auto at = [&](int i) { return sums_[static_cast<std::size_t>((i + steps) % steps)]; };
    std::vector<int> maxima;
    for (int i = 0; i < steps; ++i) {
        if (at(i) > at(i - 1) && at(i) >= at(i + 1))
            maxima.push_back(i);
    }
    std::stable_sort(maxima.begin(), maxima.end(), [&](int a, int b) { return at(a) > at(b); });
    std::vector<int> chosen;
    for (const int one : maxima) {
        const bool apart = std::all_of(chosen.begin(), chosen.end(), [&](int other) {
            const int distance = std::abs(one - other);
            return std::min(distance, steps - distance) >= least_apart;
        });
        constexpr double least = .5; // fraction of the highest maximum
        if (apart && 2 * chosen.size() < most && at(one) >= least * at(maxima.front()))
            chosen.push_back(one);
    }
    angles_.clear();
    for (const int one : chosen) {
        const double angle = one * step;
        angles_.push_back(std::remainder(angle, 2 * std::numbers::pi));
        angles_.push_back(std::remainder(angle + std::numbers::pi, 2 * std::numbers::pi));
    }
}

} // namespace sextant::registration
