// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/transform/power_spectrum.hpp"

#include "sextant/registration/pair/fourier_lines.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <stdexcept>

namespace sextant::registration {

namespace {

using Values = std::vector<std::complex<float>>;

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
    const FourierLines of_lines(side, false);
    Values columns(values.size());
    of_lines.transform(values.data(), columns.data(), side, 0, side);
    of_lines.transform(columns.data(), values.data(), side, 0, side);
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
