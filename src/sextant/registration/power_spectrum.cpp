// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/power_spectrum.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <memory>
#include <new>
#include <numbers>
#include <stdexcept>

#include <kiss_fft.h>

namespace sextant::registration {

namespace {

using Values = std::vector<std::complex<float>>;

struct Free {
    void operator()(kiss_fft_cfg plan) const { kiss_fft_free(plan); }
};

/// Transforms all rows, and then all columns, in place.
void transform(Values& values, Elements side) {
    static_assert(sizeof(kiss_fft_cpx) == sizeof(std::complex<float>));
    const std::unique_ptr<kiss_fft_state, Free> plan(
        kiss_fft_alloc(static_cast<int>(side), 0, nullptr, nullptr));
    if (!plan)
        throw std::bad_alloc();
    Values line(static_cast<std::size_t>(side));
    const auto as_kiss = [](std::complex<float>* at) {
        return reinterpret_cast<kiss_fft_cpx*>(at);
    };
    for (Elements row = 0; row < side; ++row) {
        std::complex<float>* const at = values.data() + row * side;
        kiss_fft(plan.get(), as_kiss(at), as_kiss(line.data()));
        std::copy(line.begin(), line.end(), at);
    }
    for (Elements column = 0; column < side; ++column) {
        kiss_fft_stride(plan.get(), as_kiss(values.data() + column), as_kiss(line.data()),
                        static_cast<int>(side));
        for (Elements row = 0; row < side; ++row)
            values[static_cast<std::size_t>(row * side + column)] =
                line[static_cast<std::size_t>(row)];
    }
}

} // namespace

PowerSpectrum log_power_spectrum(const Combined& combined, ImageShape shape, Elements most) {
    const auto pixels = static_cast<std::size_t>(shape.elements());
    if (std::min(shape.width, shape.height) < 2 || combined.mean.size() != pixels ||
        combined.count.size() != pixels)
        throw std::logic_error("the power spectrum of an image without pixels");
    Elements side = 2;
    while (2 * side <= std::min({shape.width, shape.height, most}))
        side *= 2;
    const Elements left = (shape.width - side) / 2, top = (shape.height - side) / 2;
    const auto pixel_at = [&](Elements x, Elements y) {
        return static_cast<std::size_t>((top + y) * shape.width + left + x);
    };
    double sum = 0, covered = 0;
    for (Elements y = 0; y < side; ++y) {
        for (Elements x = 0; x < side; ++x) {
            const std::size_t pixel = pixel_at(x, y);
            if (combined.count[pixel] > 0)
                sum += static_cast<double>(combined.mean[pixel]), ++covered;
        }
    }
    const double average = covered > 0 ? sum / covered : 0;
    std::vector<double> window;
    for (Elements i = 0; i < side; ++i)
        window.push_back(.5 - .5 * std::cos(2 * std::numbers::pi * (static_cast<double>(i) + .5) /
                                            static_cast<double>(side)));
    Values values(static_cast<std::size_t>(side * side));
    for (Elements y = 0; y < side; ++y) {
        for (Elements x = 0; x < side; ++x) {
            const std::size_t pixel = pixel_at(x, y);
            if (combined.count[pixel] > 0)
                values[static_cast<std::size_t>(y * side + x)] = static_cast<float>(
                    (static_cast<double>(combined.mean[pixel]) - average) *
                    window[static_cast<std::size_t>(x)] * window[static_cast<std::size_t>(y)]);
        }
    }
    transform(values, side);
    PowerSpectrum spectrum{side, std::vector<float>(values.size())};
    for (Elements y = 0; y < side; ++y) {
        for (Elements x = 0; x < side; ++x) {
            const Elements from = (y + side / 2) % side * side + (x + side / 2) % side;
            spectrum.values[static_cast<std::size_t>(y * side + x)] =
                std::log1p(std::norm(values[static_cast<std::size_t>(from)]));
        }
    }
    return spectrum;
}

} // namespace sextant::registration
