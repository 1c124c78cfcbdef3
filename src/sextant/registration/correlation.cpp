// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/correlation.hpp"

#include "sextant/kernel/rigid_map.hpp"
#include "sextant/registration/level.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <new>
#include <numbers>

#include <kiss_fftnd.h>

namespace sextant::registration {

namespace {

/// Of a Tukey window: half of it is flat.
constexpr double tapered = .5;
/// Peaks nearer than this to one another, in pixels, are one.
constexpr Elements distinct = 3;

std::vector<float> tukey(Elements size) {
    std::vector<float> window;
    const double ramp = tapered * static_cast<double>(size) / 2;
    for (Elements i = 0; i < size; ++i) {
        const double from_end = .5 + static_cast<double>(std::min(i, size - 1 - i));
        const double rise = std::min(1., from_end / ramp);
        window.push_back(static_cast<float>((1 - std::cos(std::numbers::pi * rise)) / 2));
    }
    return window;
}

kiss_fft_cpx* as_kiss(std::vector<std::complex<float>>& values) {
    static_assert(sizeof(kiss_fft_cpx) == sizeof(std::complex<float>));
    return reinterpret_cast<kiss_fft_cpx*>(values.data());
}

Elements fast_size(Elements size) {
    return kiss_fft_next_fast_size(static_cast<int>(size));
}

/// The shift that a place in a periodic correlation stands for: the shorter way round.
Elements unwrapped(Elements at, Elements period) {
    return at <= period / 2 ? at : at - period;
}

} // namespace

struct Correlation::Transforms {
    struct Free {
        void operator()(kiss_fftnd_cfg plan) const { kiss_fft_free(plan); }
    };
    using Plan = std::unique_ptr<kiss_fftnd_state, Free>;

    explicit Transforms(ImageShape shape) : forward(make(shape, 0)), backward(make(shape, 1)) {}

    static Plan make(ImageShape shape, int inverse) {
        const std::array sizes = {static_cast<int>(shape.height), static_cast<int>(shape.width)};
        Plan plan(kiss_fftnd_alloc(sizes.data(), 2, inverse, nullptr, nullptr));
        if (!plan)
            throw std::bad_alloc();
        return plan;
    }

    Plan forward, backward;
};

Correlation::Correlation(ImageShape shape)
    : shape_(shape),
      padded_{fast_size(shape.width), fast_size(shape.height)},
      transforms_(std::make_unique<Transforms>(padded_)),
      window_x_(tukey(shape.width)),
      window_y_(tukey(shape.height)),
      turned_(shape),
      samples_(static_cast<std::size_t>(padded_.elements())),
      spectrum_(samples_.size()),
      reference_(samples_.size()) {
    peaks_.reserve(most + 1);
    results_.reserve(most);
}

Correlation::~Correlation() = default;

std::span<const Resemblance> Correlation::search(const kernel::FloatImage& reference,
                                                 const kernel::FloatImage& moved, Point centre) {
    peaks_.clear();
    const auto alpha = [](int number) {
        return (number - angles / 2) * degrees_apart * std::numbers::pi / 180;
    };
    // Samples are real: two images share a transform, one as its imaginary part. The reference
    // shares that of the first angle.
    for (int angle = 0; angle < angles; angle += angle == 0 ? 1 : 2) {
        if (angle == 0) {
            place(reference, true);
            place_turned(moved, alpha(0), centre, false);
        } else {
            place_turned(moved, alpha(angle), centre, false);
            place_turned(moved, alpha(angle + 1), centre, true);
        }
        kiss_fftnd(transforms_->forward.get(), as_kiss(samples_), as_kiss(spectrum_));
        whiten(angle == 0);
        kiss_fftnd(transforms_->backward.get(), as_kiss(spectrum_), as_kiss(samples_));
        collect(alpha(angle), false);
        if (angle > 0)
            collect(alpha(angle + 1), true);
    }
    results_.clear();
    for (const Peak& peak : peaks_)
        results_.push_back(peak.found);
    return results_;
}

void Correlation::place(const kernel::FloatImage& image, bool imaginary) {
    for (Elements y = 0; y < shape_.height; ++y) {
        std::complex<float>* const to = samples_.data() + y * padded_.width;
        const float* const row = image.row(y);
        const float weight = window_y_[static_cast<std::size_t>(y)];
        for (Elements x = 0; x < padded_.width; ++x) {
            const float sample =
                x < shape_.width ? row[x] * window_x_[static_cast<std::size_t>(x)] * weight : 0;
            imaginary ? to[x].imag(sample) : to[x].real(sample);
        }
    }
    const auto below = samples_.begin() + shape_.height * padded_.width;
    std::fill(below, samples_.end(), 0.F);
}

void Correlation::place_turned(const kernel::FloatImage& moved, double alpha, Point centre,
                               bool imaginary) {
    kernel::warp(moved, map_of({alpha, 0, 0}, centre), 0, shape_, turned_.plane());
    place(turned_.image(), imaginary);
}

/// Takes the spectra of the two images apart, F and G of F + iG, which hold F(−k) = F(k)*, and puts
/// the whitened cross spectra in their place.
void Correlation::whiten(bool with_reference) {
    const Elements width = padded_.width, height = padded_.height;
    constexpr float least = 1e-20F; // of a squared modulus: no wave at all
    const auto whitened = [](std::complex<float> a, std::complex<float> b) {
        const std::complex<float> product{a.real() * b.real() + a.imag() * b.imag(),
                                          a.real() * b.imag() - a.imag() * b.real()};
        return product / std::sqrt(std::sqrt(std::norm(product) + least));
    };
    // k and −k are done together, since each reads both.
    for (Elements y = 0; y < height; ++y) {
        const Elements opposite_y = (height - y) % height;
        if (opposite_y < y)
            continue;
        for (Elements x = 0; x < width; ++x) {
            const Elements opposite_x = (width - x) % width;
            if (opposite_y == y && opposite_x < x)
                continue;
            const auto here = static_cast<std::size_t>(y * width + x);
            const auto there = static_cast<std::size_t>(opposite_y * width + opposite_x);
            const std::complex<float> z = spectrum_[here], opposite = std::conj(spectrum_[there]);
            const std::complex<float> f = .5F * (z + opposite), difference = .5F * (z - opposite);
            const std::complex<float> g(difference.imag(), -difference.real());
            if (with_reference) {
                reference_[here] = g;
                reference_[there] = std::conj(g);
            }
            const std::complex<float> first = whitened(reference_[here], f);
            const std::complex<float> second =
                with_reference ? std::complex<float>() : whitened(reference_[here], g);
            const std::complex<float> turned_second(-second.imag(), second.real());
            spectrum_[here] = first + turned_second;
            spectrum_[there] = std::conj(first - turned_second);
        }
    }
}

double Correlation::overlap(Elements shift_x, Elements shift_y) const {
    return (1 - std::abs(static_cast<double>(shift_x)) / static_cast<double>(shape_.width)) *
           (1 - std::abs(static_cast<double>(shift_y)) / static_cast<double>(shape_.height));
}

/// Looks for peaks among the real or the imaginary parts of the correlation of one angle.
void Correlation::collect(double alpha, bool imaginary) {
    const Elements width = padded_.width, height = padded_.height;
    const auto at = [&](Elements x, Elements y) {
        const std::complex<float> both =
            samples_[static_cast<std::size_t>((y + height) % height * width + (x + width) % width)];
        return imaginary ? both.imag() : both.real();
    };
    // At least a quarter overlaps: a value lower than this is no peak among the highest so far.
    const double lowest = peaks_.size() == most ? peaks_.back().found.height : 0;
    const auto least = static_cast<float>(lowest / 4);
    const auto is_peak = [&](Elements x, Elements y, float value) {
        return value > at(x - 1, y) && value >= at(x + 1, y) && value > at(x, y - 1) &&
               value >= at(x, y + 1) && value > at(x - 1, y - 1) && value >= at(x + 1, y + 1) &&
               value > at(x + 1, y - 1) && value >= at(x - 1, y + 1);
    };
    for (Elements y = 0; y < height; ++y) {
        const Elements shift_y = unwrapped(y, height);
        if (2 * std::abs(shift_y) > shape_.height)
            continue;
        for (Elements x = 0; x < width; ++x) {
            const Elements shift_x = unwrapped(x, width);
            if (2 * std::abs(shift_x) > shape_.width)
                continue;
            const float value = at(x, y);
            if (!(value > least))
                continue;
            const double over_overlap = static_cast<double>(value) / overlap(shift_x, shift_y);
            const bool full = peaks_.size() == most;
            if ((full && over_overlap <= peaks_.back().found.height) || !is_peak(x, y, value))
                continue;
            // T∘R(α) shifted by s is T∘φ of t = R(α)s.
            const RigidMotion shift{0, static_cast<double>(shift_x), static_cast<double>(shift_y)};
            keep({compose({alpha, 0, 0}, shift), over_overlap}, shift_x, shift_y);
        }
    }
}

/// Among the highest peaks so far, of those near one another the highest alone.
void Correlation::keep(const Resemblance& found, Elements shift_x, Elements shift_y) {
    const auto near = [&](const Peak& peak) {
        return std::abs(peak.shift_x - shift_x) < distinct &&
               std::abs(peak.shift_y - shift_y) < distinct;
    };
    const auto higher = [](const Peak& peak, const Peak& other) {
        return peak.found.height > other.found.height;
    };
    const auto same = std::find_if(peaks_.begin(), peaks_.end(), near);
    if (same != peaks_.end()) {
        if (same->found.height >= found.height)
            return;
        peaks_.erase(same);
    }
    const Peak peak{found, shift_x, shift_y};
    peaks_.insert(std::upper_bound(peaks_.begin(), peaks_.end(), peak, higher), peak);
    if (peaks_.size() > most)
        peaks_.pop_back();
}

} // namespace sextant::registration
