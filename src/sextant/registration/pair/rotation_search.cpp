// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/pair/rotation_search.hpp"

#include "sextant/registration/pair/partition.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace sextant::registration {

namespace {

constexpr int steps = 360; ///< angles over a half turn
constexpr double step = std::numbers::pi / steps;
/// Angles closer together than this are found by the same search (Correlation).
constexpr int least_apart = 8;

/// Subtracts the mean of a ring, and divides by the square root of the standard deviation: rings
/// with more signal count more, but the lowest frequencies do not decide alone.
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
      of_column_(padded_.height, false),
      of_row_(padded_.width, false),
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
    place(reference, moved);
    transform();
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

void RotationSearch::place(const kernel::FloatImage& reference, const kernel::FloatImage& moved) {
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

void RotationSearch::transform() {
    const auto lines = [&](Elements count, const FourierLines& of_lines, Values& from, Values& to) {
        const Bands bands(count);
        run_parts(team_, bands.count(), [&](int band, int) {
            of_lines.transform(from.data(), to.data(), count, bands.first(band),
                               bands.first(band + 1));
        });
    };
    lines(padded_.width, of_column_, samples_, columns_);
    lines(padded_.height, of_row_, columns_, samples_);
}

/// Returns |F(k)| or |G(k)|, given F + iG at k and −k (Correlation::whiten).
float RotationSearch::modulus(const std::complex<float>& here, const std::complex<float>& there,
                              bool of_moved) const {
    return std::abs(of_moved ? here - std::conj(there) : here + std::conj(there));
}

/// Correlates a ring of both spectra over the angle.
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
        const std::complex<float> here = at(x, y), there = at(-x, -y);
        return std::pair(modulus(here, there, false), modulus(here, there, true));
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
    // conj(R) T, whose transform is the sum of R(θ) T(θ + α) over θ.
    for (std::size_t i = 0; i < both.size(); ++i) {
        const std::complex<float> here = spectrum[i], there = spectrum[(steps - i) % steps];
        const std::complex<float> r = here + std::conj(there), d = here - std::conj(there);
        const std::complex<float> t(d.imag(), -d.real());
        both[i] = std::conj(r) * t;
    }
    back_.transform(both.data(), of_rings_[static_cast<std::size_t>(ring)].data(), 1, 0, 1);
}

/// Chooses the highest maxima over the angle, and no others if they stand out.
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
        constexpr double least = .5; // of the highest
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
