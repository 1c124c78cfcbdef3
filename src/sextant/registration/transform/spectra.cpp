// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/transform/spectra.hpp"

#include "sextant/core/memory.hpp"
#include "sextant/registration/pair/fourier_lines.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace sextant::registration {

namespace {

using Values = std::vector<std::complex<float>>;

/// Returns the central square of an image. The side is the largest power of two that fits, at most
/// `most`. Returns an empty area if the side would be less than `smallest`.
PixelArea central_square(ImageShape shape, Elements smallest, Elements most) {
    const Elements largest = std::min({shape.width, shape.height, most});
    if (largest < smallest)
        return {};
    Elements side = smallest;
    while (2 * side <= largest)
        side *= 2;
    return {(shape.width - side) / 2, (shape.height - side) / 2, {side, side}};
}

/// Returns the discrete Fourier transform of a complex image whose real and imaginary parts are two
/// images. Of each image, only a square part is used, with its average subtracted and a Hann window
/// applied. Pixels for which is_known(pixel) is false are replaced by the average.
template <class IsKnown>
Values transform_of(std::span<const float> one, std::span<const float> other, ImageShape shape,
                    const PixelArea& area, const IsKnown& is_known) {
    const Elements side = area.shape.width;
    const auto each = [&](const auto& body) {
        for (Elements y = 0; y < side; ++y) {
            for (Elements x = 0; x < side; ++x) {
                const auto pixel =
                    static_cast<std::size_t>((area.y + y) * shape.width + area.x + x);
                if (is_known(pixel))
                    body(x, y, static_cast<double>(one[pixel]), static_cast<double>(other[pixel]));
            }
        }
    };
    double sum_of_one = 0, sum_of_other = 0, count = 0;
    each([&](Elements, Elements, double a, double b) {
        sum_of_one += a;
        sum_of_other += b;
        ++count;
    });
    std::vector<double> window;
    for (Elements i = 0; i < side; ++i)
        window.push_back(.5 - .5 * std::cos(2 * std::numbers::pi * (static_cast<double>(i) + .5) /
                                            static_cast<double>(side)));
    Values values, columns;
    for (Values* buffer : {&values, &columns})
        resize_buffer(*buffer, static_cast<std::size_t>(side * side));
    each([&](Elements x, Elements y, double a, double b) {
        const double weight =
            window[static_cast<std::size_t>(x)] * window[static_cast<std::size_t>(y)];
        values[static_cast<std::size_t>(y * side + x)] = {
            static_cast<float>((a - sum_of_one / count) * weight),
            static_cast<float>((b - sum_of_other / count) * weight)};
    });
    FourierImage(area.shape, false).transform(values, columns);
    return values;
}

/// Sums over a ring: the products of both images, and the power of each image.
struct Ring {
    double product = 0, power = 0, other = 0, count = 0;

    double correlation() const {
        return power > 0 && other > 0 ? product / std::sqrt(power * other) : 0;
    }
};

std::vector<Ring> rings_of(const Values& spectrum, Elements side) {
    std::vector<Ring> rings(static_cast<std::size_t>(side / 2 + 1));
    for (Elements y = 0; y < side; ++y) {
        for (Elements x = 0; x < side; ++x) {
            const Elements fx = std::min(x, side - x), fy = std::min(y, side - y);
            // The square root of an integer is never close to a half-integer, so rounding errors do
            // not change the ring.
            const auto ring =
                static_cast<std::size_t>(std::sqrt(static_cast<double>(fx * fx + fy * fy)) + .5);
            if (ring >= rings.size())
                continue;
            // The spectrum is A + iB; at the mirrored frequency it is A* + iB*.
            const auto at = [&](Elements column, Elements row) {
                return std::complex<double>(
                    spectrum[static_cast<std::size_t>(row % side * side + column % side)]);
            };
            const std::complex<double> own = at(x, y), mirror = std::conj(at(side - x, side - y));
            const std::complex<double> a = (own + mirror) / 2., twice = own - mirror,
                                       b = {std::imag(twice) / 2, -std::real(twice) / 2};
            rings[ring].product += std::real(a * std::conj(b));
            rings[ring].power += std::norm(a);
            rings[ring].other += std::norm(b);
            ++rings[ring].count;
        }
    }
    return rings;
}

/// The mean correlation of rings, and its standard deviation for unrelated images.
struct Mean {
    double value = 0, noise = 0;
};

Mean mean_of(std::span<const Ring> rings) {
    Ring sum;
    for (const Ring& ring : rings) {
        sum.product += ring.count * ring.correlation();
        sum.count += ring.count;
    }
    // Half of the coefficients are independent; the window reduces their number by another factor
    // of 1.5².
    return {sum.product / sum.count, std::sqrt(2 * 1.5 * 1.5 / sum.count)};
}

/// Finds the resolved frequencies from the means of neighbouring rings. Low-frequency rings have
/// few coefficients, so the correlation must also be low in the following rings.
void find_resolution(std::span<const Ring> rings, RingCorrelation& result) {
    constexpr std::size_t around = 2;
    constexpr double likely = 2, clear = 3, certain = 5; // standard deviations
    const auto frequency = [&](double ring) { return ring / static_cast<double>(result.side); };
    const auto from_to = [&](std::size_t first, std::size_t end) {
        return mean_of(rings.subspan(first, std::min(end, rings.size()) - first));
    };
    const auto mean_at = [&](std::size_t ring) {
        return from_to(ring > around ? ring - around : 1, ring + around + 1);
    };
    const auto following = [&](std::size_t ring) {
        std::size_t end = ring + 1;
        while (end < rings.size() && likely * from_to(ring, end).noise > least_ring_correlation)
            ++end;
        return from_to(ring, end);
    };
    std::size_t below = 1;
    while (below < rings.size() && (mean_at(below).value >= least_ring_correlation ||
                                    following(below).value >= least_ring_correlation))
        ++below;
    const Mean all = from_to(1, std::max<std::size_t>(2, below));
    if (below == 1 || all.value < std::max(least_ring_correlation, clear * all.noise))
        below = 1;
    else if (below == rings.size())
        result.resolved = .5;
    else {
        const double before = mean_at(below - 1).value, after = mean_at(below).value;
        const double share =
            before > after ? (before - least_ring_correlation) / (before - after) : 0;
        result.resolved = frequency(static_cast<double>(below - 1) + std::clamp(share, 0., 1.));
    }
    for (std::size_t ring = rings.size() - 1; ring > below + 2 * around; --ring) {
        if (const Mean mean = mean_at(ring);
            mean.value >= least_ring_correlation + certain * mean.noise) {
            result.highest = frequency(static_cast<double>(ring));
            return;
        }
    }
}

} // namespace

PixelArea ring_area(ImageShape shape, Elements most) {
    constexpr Elements smallest = 16;
    return central_square(shape, smallest, most);
}

RingCorrelation ring_correlation(std::span<const float> one, std::span<const float> other,
                                 ImageShape shape, Elements most) {
    const auto pixels = static_cast<std::size_t>(shape.elements());
    if (one.size() != pixels || other.size() != pixels)
        throw std::logic_error("images of a ring correlation do not have the given shape");
    RingCorrelation result;
    const PixelArea area = ring_area(shape, most);
    result.side = area.shape.width;
    if (result.side == 0)
        return result;
    const Values values = transform_of(one, other, shape, area, [&](std::size_t pixel) {
        return std::isfinite(one[pixel]) && std::isfinite(other[pixel]);
    });
    const std::vector<Ring> rings = rings_of(values, result.side);
    for (const Ring& ring : rings)
        result.values.push_back(ring.correlation());
    result.values[0] = 1;
    find_resolution(rings, result);
    return result;
}

PowerSpectrum log_power_spectrum(std::span<const float> mean, std::span<const float> count,
                                 ImageShape shape, Elements most) {
    const auto pixels = static_cast<std::size_t>(shape.elements());
    constexpr Elements smallest = 2;
    const PixelArea area = central_square(shape, smallest, most);
    const Elements side = area.shape.width;
    if (side == 0 || mean.size() != pixels || count.size() != pixels)
        throw std::logic_error("the power spectrum of an image without pixels");
    const Values values =
        transform_of(mean, mean, shape, area, [&](std::size_t pixel) { return count[pixel] > 0; });
    PowerSpectrum spectrum{side, std::vector<float>(values.size())};
    for (Elements y = 0; y < side; ++y) {
        for (Elements x = 0; x < side; ++x) {
            const Elements from = (y + side / 2) % side * side + (x + side / 2) % side;
            // With the same image as both parts, the transform is (1 + i)F.
            spectrum.values[static_cast<std::size_t>(y * side + x)] =
                std::log1p(std::norm(values[static_cast<std::size_t>(from)]) / 2);
        }
    }
    return spectrum;
}

} // namespace sextant::registration
