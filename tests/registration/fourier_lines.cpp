// SPDX-License-Identifier: BSD-3-Clause
// Transforms of lines, compared with their definition.
#include "sextant/registration/pair/fourier_lines.hpp"

#include <cmath>
#include <complex>
#include <numbers>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

namespace sextant::test {
namespace {

using registration::FourierLines;
using Value = std::complex<float>;

std::vector<Value> some_values(std::size_t count) {
    std::vector<Value> values(count);
    for (std::size_t i = 0; i < count; ++i)
        values[i] = {static_cast<float>(std::sin(1.7 * static_cast<double>(i * i % 97))),
                     static_cast<float>(std::cos(2.3 * static_cast<double>(i * i % 89)))};
    return values;
}

/// Sample k of the transform of a line of an image, by the definition.
std::complex<double> defined(const std::vector<Value>& image, Elements count, Elements length,
                             Elements line, Elements k, bool inverse) {
    std::complex<double> sum;
    for (Elements i = 0; i < length; ++i) {
        const double phase = 2 * std::numbers::pi * static_cast<double>(i * k % length) /
                             static_cast<double>(length);
        sum += std::complex<double>(image[static_cast<std::size_t>(i * count + line)]) *
               std::polar(1., inverse ? phase : -phase);
    }
    return sum;
}

TEST(FourierLines, equal_the_definition_for_all_small_factors_and_any_number_of_lines) {
    for (const Elements length : {2, 3, 4, 5, 8, 15, 60, 64, 90, 100, 576}) {
        const FourierLines forward(length, false), backward(length, true);
        for (const Elements count : {1, 3, 4, 7, 8}) {
            const std::vector<Value> image = some_values(static_cast<std::size_t>(length * count));
            std::vector<Value> found(image.size()), back(image.size());
            forward.transform(image.data(), found.data(), count, 0, count);
            backward.transform(image.data(), back.data(), count, 0, count);
            const double most = 1e-6 * static_cast<double>(length);
            for (Elements line = 0; line < count; ++line) {
                for (Elements k = 0; k < length; k += std::max<Elements>(1, length / 7)) {
                    const auto at = static_cast<std::size_t>(line * length + k);
                    EXPECT_LT(std::abs(std::complex<double>(found[at]) -
                                       defined(image, count, length, line, k, false)),
                              most)
                        << length << " " << count << " " << line << " " << k;
                    EXPECT_LT(std::abs(std::complex<double>(back[at]) -
                                       defined(image, count, length, line, k, true)),
                              most)
                        << length << " " << count << " " << line << " " << k;
                }
            }
        }
    }
}

TEST(FourierLines, of_some_lines_leave_the_others_as_they_are) {
    constexpr Elements length = 12, count = 9;
    const std::vector<Value> image = some_values(length * count);
    const FourierLines forward(length, false);
    std::vector<Value> all(image.size()), parts(image.size(), Value(7));
    forward.transform(image.data(), all.data(), count, 0, count);
    forward.transform(image.data(), parts.data(), count, 2, 8);
    for (std::size_t i = 0; i < all.size(); ++i)
        EXPECT_EQ(parts[i], i >= 2 * length && i < 8 * length ? all[i] : Value(7));
}

TEST(FourierLines, sizes_are_multiples_of_four_without_large_factors) {
    EXPECT_EQ(registration::fast_fourier_size(1), 4);
    EXPECT_EQ(registration::fast_fourier_size(64), 64);
    EXPECT_EQ(registration::fast_fourier_size(65), 72);
    EXPECT_EQ(registration::fast_fourier_size(97), 100);
    EXPECT_EQ(registration::fast_fourier_size(233), 240);
    EXPECT_THROW(FourierLines(77, false), std::logic_error);
    EXPECT_THROW(FourierLines(1, false), std::logic_error);
}

} // namespace
} // namespace sextant::test
