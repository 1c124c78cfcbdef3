// SPDX-License-Identifier: BSD-3-Clause
// Gaussian derivatives compared with scipy.ndimage, and with double precision for the largest
// floats.
#include "sextant/kernel/filter/gaussian_weights.hpp"

#include <algorithm>

#include "tests/kernel/pictures.hpp"

namespace sextant::test {
namespace {

using kernel::gaussian_weights;
using kernel::GaussianKernel;
using Doubles = std::vector<double>;

const GaussianKernel scipy_at_8{GaussianKernel::Weights::truncated, 8};

/// Derivative in double precision, computed along x and then along y.
Doubles serial_derivative(const Picture<float>& picture, double sigma, Derivative derivative,
                          BorderRule rule, const GaussianKernel& kernel) {
    const auto [width, height] = picture.image();
    const Doubles along_x = gaussian_weights(sigma, derivative.x, kernel);
    const Doubles along_y = gaussian_weights(sigma, derivative.y, kernel);
    const auto reach_x = static_cast<Elements>(along_x.size() / 2);
    const auto reach_y = static_cast<Elements>(along_y.size() / 2);
    const auto weighted = [](const Doubles& weights, Elements reach, auto&& sample) {
        double sum = 0;
        for (Elements k = -reach; k <= reach; ++k)
            sum += weights[static_cast<std::size_t>(k + reach)] * sample(k);
        return sum;
    };
    const double beyond = weighted(along_x, reach_x, [&](Elements) { return rule.constant; });
    Doubles rows, made;
    for (Elements y = 0; y < height; ++y) {
        for (Elements x = 0; x < width; ++x)
            rows.push_back(weighted(along_x, reach_x, [&](Elements k) {
                const auto at = kernel::seen_at(rule.border, x + k, width);
                return static_cast<double>(at ? picture.at(*at, y) : rule.constant);
            }));
    }
    for (Elements y = 0; y < height; ++y) {
        for (Elements x = 0; x < width; ++x)
            made.push_back(weighted(along_y, reach_y, [&](Elements k) {
                const auto at = kernel::seen_at(rule.border, y + k, height);
                return at ? rows[static_cast<std::size_t>(*at * width + x)] : beyond;
            }));
    }
    return made;
}

double largest_of(const Doubles& values) {
    double largest = 0;
    for (const double value : values)
        largest = std::max(largest, std::abs(value));
    return largest;
}

/// The largest error, relative to the largest magnitude.
double error_of(const Planes& planes, std::size_t k, const Doubles& expected) {
    double error = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
        const auto at = static_cast<Elements>(i);
        const double found = planes.at(k, at % planes.image().width, at / planes.image().width);
        error = std::isfinite(found) ? std::max(error, std::abs(found - expected[i])) : found;
        if (!std::isfinite(error))
            break;
    }
    return error / largest_of(expected);
}

/// A row of the output of tests/kernel/scipy_gaussian.py.
struct ScipyRow {
    Border border;
    double sigma;
    int x, y;
    double truncation, largest, first, middle, last;
};
const ScipyRow scipy_rows[] = {
#include "tests/kernel/scipy_gaussian.inc"
};

Picture<float> scipy_picture() {
    Picture<float> picture(ImageShape{31, 23});
    return std::move(picture.fill(
        [](Elements x, Elements y) { return (7 * x * x + 13 * y * y + 5 * x * y + 3 * x) % 251; }));
}

void expect_row(const ScipyRow& row, const Planes& planes, double within) {
    const double error = within * row.largest;
    EXPECT_NEAR(planes.at(0, 0, 0), row.first, error) << row.sigma << " " << row.x << " " << row.y;
    EXPECT_NEAR(planes.at(0, 15, 11), row.middle, error) << row.sigma << " " << row.x << row.y;
    EXPECT_NEAR(planes.at(0, 30, 22), row.last, error) << row.sigma << " " << row.x << row.y;
}

TEST(GaussianAccuracy, is_within_1e_4_of_scipy_with_truncate_8_relative_to_the_maximum) {
    const auto picture = scipy_picture();
    int rows = 0;
    for (const ScipyRow& row : scipy_rows) {
        if (row.truncation != 8)
            continue;
        expect_row(row,
                   derivatives_of(picture.view(), row.sigma, {{row.x, row.y}}, {row.border, 0}),
                   1e-4);
        ++rows;
    }
    EXPECT_EQ(rows, 4 * 5 * 9);
}

TEST(GaussianAccuracy, with_scipys_truncation_equals_scipy) {
    const auto picture = scipy_picture();
    int rows = 0;
    for (const ScipyRow& row : scipy_rows) {
        const GaussianKernel kernel{GaussianKernel::Weights::truncated, row.truncation};
        const Planes planes =
            derivatives_of(picture.view(), row.sigma, {{row.x, row.y}}, {row.border, 0}, kernel);
        expect_row(row, planes, 1e-5);
        ++rows;
    }
    EXPECT_EQ(rows, 4 * 5 * 9 + 9);
}

TEST(GaussianAccuracy, holds_for_noise_and_an_offset_step_with_all_orders_and_borders) {
    const ImageShape image{57, 43};
    auto noise = random_picture(image, 1);
    Picture<float> step(image);
    step.fill([](Elements x, Elements y) { return 1000 + (x > 30 && y > 20 ? 40 : 0); });
    const auto wanted = every_derivative();
    for (const auto* picture : {&noise, &step}) {
        for (const BorderRule rule : border_rules) {
            for (const double sigma : {.5, .7, 1., 1.6, 3., 7.3, 20.}) {
                const Planes planes = derivatives_of(picture->view(), sigma, wanted, rule);
                for (std::size_t k = 0; k < wanted.size(); ++k) {
                    const Doubles expected =
                        serial_derivative(*picture, sigma, wanted[k], rule, scipy_at_8);
                    EXPECT_LE(error_of(planes, k, expected), 1e-4)
                        << "sigma " << sigma << ", orders " << wanted[k].x << ", " << wanted[k].y;
                }
            }
        }
    }
}

TEST(GaussianAccuracy, is_kept_for_a_sine_whose_period_far_exceeds_the_scale) {
    const ImageShape image{160, 9};
    Picture<float> waves(image);
    waves.fill([](Elements x, Elements) { return 50 + 40 * std::sin(static_cast<double>(x) / 9); });
    for (const int order : {1, 2, 3, 4}) {
        const Derivative derivative{order, 0};
        const Doubles expected = serial_derivative(waves, 3, derivative, {}, scipy_at_8);
        EXPECT_LE(error_of(derivatives_of(waves.view(), 3, {derivative}), 0, expected), 1e-4)
            << order;
    }
}

/// Expects derivatives within 1e-5 of the largest value, and infinite ones beyond the range of
/// floats.
void expect_as_in_double_precision(const Picture<float>& picture, double sigma) {
    const auto wanted = every_derivative();
    const Planes planes = derivatives_of(picture.view(), sigma, wanted);
    const auto width = picture.image().width;
    constexpr double limit = std::numeric_limits<float>::max();
    for (std::size_t k = 0; k < wanted.size(); ++k) {
        const Doubles expected = serial_derivative(picture, sigma, wanted[k], {}, {});
        const double largest = largest_of(expected);
        for (std::size_t i = 0; i < expected.size(); ++i) {
            const auto at = static_cast<Elements>(i);
            const double found = planes.at(k, at % width, at / width);
            if (std::abs(expected[i]) < .9999 * limit) {
                ASSERT_NEAR(found, expected[i], 1e-5 * largest) << wanted[k].x << wanted[k].y;
            } else if (std::abs(expected[i]) > 1.0001 * limit) {
                ASSERT_EQ(found,
                          std::copysign(std::numeric_limits<double>::infinity(), expected[i]));
            }
        }
    }
}

TEST(GaussianAccuracy, is_kept_if_sums_of_samples_overflow_a_float) {
    const ImageShape image{75, 21};
    for (const double sigma : {.5, 1., 3.}) {
        Picture<float> noise(image), signs(image);
        Random random(3);
        noise.fill([&](Elements, Elements) { return random.number(-1000, 1000) * 3.4e35; });
        signs.fill([&](Elements, Elements) { return random.chance(50) ? 3.4e38 : -3.4e38; });
        for (const auto* picture : {&noise, &signs})
            expect_as_in_double_precision(*picture, sigma);
    }
    Picture<float> flat(image);
    flat.fill([](Elements, Elements) { return 3e38; });
    const Planes smooth = derivatives_of(flat.view(), 2, {{0, 0}});
    EXPECT_NEAR(smooth.at(0, 40, 10) / 3e38, 1, 1e-6);
}

TEST(GaussianAccuracy, is_kept_for_small_samples) {
    const ImageShape image{41, 17};
    const auto picture = random_picture(image, 4);
    Picture<float> small(image);
    small.fill([&](Elements x, Elements y) { return std::ldexp(picture.at(x, y), -60); });
    for (const double sigma : {.5, 2., 9.}) {
        const Planes expected = derivatives_of(picture.view(), sigma, five);
        const Planes found = derivatives_of(small.view(), sigma, five);
        for (std::size_t k = 0; k < five.size(); ++k) {
            for (Elements x = 0; x < image.width; ++x)
                ASSERT_EQ(std::ldexp(found.at(k, x, 5), 60), expected.at(k, x, 5));
        }
    }
}

} // namespace
} // namespace sextant::test
