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

double alpha_of(int angle) {
    return (angle - Correlation::angles / 2) * Correlation::degrees_apart * std::numbers::pi / 180;
}

/// The spectra of two real images.
struct Both {
    std::complex<float> f, g;
};

/// F and G of F + iG at a wave and at its opposite, by F(−k) = F(k)* and G(−k) = G(k)*.
Both taken_apart(std::complex<float> here, std::complex<float> there) {
    const std::complex<float> opposite = std::conj(there);
    const std::complex<float> difference = .5F * (here - opposite);
    return {.5F * (here + opposite), {difference.imag(), -difference.real()}};
}

/// a*b over the root of its modulus.
std::complex<float> whitened(std::complex<float> a, std::complex<float> b) {
    constexpr float least = 1e-20F; // of a squared modulus: no wave at all
    const std::complex<float> product{a.real() * b.real() + a.imag() * b.imag(),
                                      a.real() * b.imag() - a.imag() * b.real()};
    return product / std::sqrt(std::sqrt(std::norm(product) + least));
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

Correlation::Correlation(ImageShape shape, Team* team)
    : shape_(shape),
      padded_{fast_size(shape.width), fast_size(shape.height)},
      team_(team),
      window_x_(tukey(shape.width)),
      window_y_(tukey(shape.height)),
      reference_(static_cast<std::size_t>(padded_.elements())),
      peaks_(angles) {
    for (int member = 0; member < members_of(team); ++member)
        transforms_.push_back(std::make_unique<Transforms>(padded_));
    for (int pair = 0; pair <= pair_of(angles - 1); ++pair)
        pairs_.push_back(
            {kernel::FloatPlane(shape), Spectrum(reference_.size()), Spectrum(reference_.size())});
    for (Peaks& peaks : peaks_)
        peaks.reserve(most + 1);
    highest_.reserve(most + 1);
    results_.reserve(most);
}

Correlation::~Correlation() = default;

std::span<const Resemblance> Correlation::search(const kernel::FloatImage& reference,
                                                 const kernel::FloatImage& moved, Point centre) {
    const auto pairs = static_cast<int>(pairs_.size());
    const auto transforms = [&](int member) -> const Transforms& {
        return *transforms_[static_cast<std::size_t>(member)];
    };
    run_parts(team_, pairs, [&](int number, int member) {
        Pair& pair = pairs_[static_cast<std::size_t>(number)];
        std::fill(pair.samples.begin() + shape_.height * padded_.width, pair.samples.end(), 0.F);
        if (number == 0)
            place(pair.samples, reference, true);
        for (int angle = 0; angle < angles; ++angle) {
            if (pair_of(angle) == number)
                place_turned(pair, moved, angle, centre);
        }
        kiss_fftnd(transforms(member).forward.get(), as_kiss(pair.samples), as_kiss(pair.spectrum));
    });
    take_reference();
    run_parts(team_, pairs, [&](int number, int member) {
        Pair& pair = pairs_[static_cast<std::size_t>(number)];
        whiten(pair, number == 0);
        kiss_fftnd(transforms(member).backward.get(), as_kiss(pair.spectrum),
                   as_kiss(pair.samples));
    });
    run_parts(team_, angles, [&](int angle, int) { collect(angle); });
    highest_.clear();
    for (const Peaks& peaks : peaks_) {
        for (const Peak& peak : peaks)
            keep(highest_, peak);
    }
    results_.clear();
    for (const Peak& peak : highest_)
        results_.push_back(peak.found);
    return results_;
}

void Correlation::place(Spectrum& samples, const kernel::FloatImage& image, bool imaginary) const {
    for (Elements y = 0; y < shape_.height; ++y) {
        std::complex<float>* const to = samples.data() + y * padded_.width;
        const float* const row = image.row(y);
        const float weight = window_y_[static_cast<std::size_t>(y)];
        for (Elements x = 0; x < padded_.width; ++x) {
            const bool known = x < shape_.width && !std::isnan(row[x]);
            const float sample =
                known ? row[x] * window_x_[static_cast<std::size_t>(x)] * weight : 0;
            imaginary ? to[x].imag(sample) : to[x].real(sample);
        }
    }
}

void Correlation::place_turned(Pair& pair, const kernel::FloatImage& moved, int angle,
                               Point centre) const {
    kernel::warp(moved, map_of({alpha_of(angle), 0, 0}, centre), 0, shape_, pair.turned.plane());
    place(pair.samples, pair.turned.image(), is_imaginary(angle));
}

/// The reference's spectrum is the imaginary part of the first pair's.
void Correlation::take_reference() {
    const Elements width = padded_.width, height = padded_.height;
    const Spectrum& spectrum = pairs_.front().spectrum;
    for (Elements y = 0; y < height; ++y) {
        for (Elements x = 0; x < width; ++x) {
            const auto here = static_cast<std::size_t>(y * width + x);
            const auto there =
                static_cast<std::size_t>((height - y) % height * width + (width - x) % width);
            reference_[here] = taken_apart(spectrum[here], spectrum[there]).g;
        }
    }
}

/// Takes the spectra of the two images apart, and puts the whitened cross spectra in their place.
void Correlation::whiten(Pair& pair, bool with_reference) const {
    const Elements width = padded_.width, height = padded_.height;
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
            const Both both = taken_apart(pair.spectrum[here], pair.spectrum[there]);
            const std::complex<float> first = whitened(reference_[here], both.f);
            const std::complex<float> second =
                with_reference ? std::complex<float>() : whitened(reference_[here], both.g);
            const std::complex<float> turned_second(-second.imag(), second.real());
            pair.spectrum[here] = first + turned_second;
            pair.spectrum[there] = std::conj(first - turned_second);
        }
    }
}

double Correlation::overlap(Elements shift_x, Elements shift_y) const {
    return (1 - std::abs(static_cast<double>(shift_x)) / static_cast<double>(shape_.width)) *
           (1 - std::abs(static_cast<double>(shift_y)) / static_cast<double>(shape_.height));
}

/// Looks for peaks among the real or the imaginary parts of the correlation of one angle.
void Correlation::collect(int angle) {
    const Spectrum& samples = pairs_[static_cast<std::size_t>(pair_of(angle))].samples;
    const bool imaginary = is_imaginary(angle);
    Peaks& peaks = peaks_[static_cast<std::size_t>(angle)];
    peaks.clear();
    const Elements width = padded_.width, height = padded_.height;
    const auto at = [&](Elements x, Elements y) {
        const std::complex<float> both =
            samples[static_cast<std::size_t>((y + height) % height * width + (x + width) % width)];
        return imaginary ? both.imag() : both.real();
    };
    const auto is_peak = [&](Elements x, Elements y, float value) {
        return value > at(x - 1, y) && value >= at(x + 1, y) && value > at(x, y - 1) &&
               value >= at(x, y + 1) && value > at(x - 1, y - 1) && value >= at(x + 1, y + 1) &&
               value > at(x + 1, y - 1) && value >= at(x - 1, y + 1);
    };
    float least = 0;
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
            const bool full = peaks.size() == most;
            if ((full && over_overlap <= peaks.back().found.height) || !is_peak(x, y, value))
                continue;
            // T∘R(α) shifted by s is T∘φ of t = R(α)s.
            const RigidMotion shift{0, static_cast<double>(shift_x), static_cast<double>(shift_y)};
            keep(peaks,
                 {{compose({alpha_of(angle), 0, 0}, shift), over_overlap}, shift_x, shift_y});
            // At least a quarter overlaps: what is lower than this is none of the highest.
            if (peaks.size() == most)
                least = static_cast<float>(peaks.back().found.height / 4);
        }
    }
}

/// Among the highest peaks so far, of those near one another the highest alone.
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

} // namespace sextant::registration
