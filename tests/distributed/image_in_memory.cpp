// SPDX-License-Identifier: BSD-3-Clause
// Derivatives of an image by threads equal those by one thread, bit for bit.
#include "sextant/distributed/image_in_memory.hpp"

#include "sextant/core/error.hpp"
#include "sextant/core/run_control.hpp"

#include <atomic>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace sextant::test {
namespace {

/// Random samples of few values, so that there are components of many sizes.
template <class Sample>
std::vector<Sample> random_samples(ImageShape shape, unsigned values) {
    std::mt19937 random(7);
    std::vector<Sample> samples(static_cast<std::size_t>(shape.elements()));
    for (Sample& sample : samples)
        sample = static_cast<Sample>(random() % values);
    return samples;
}

TEST(ImageInMemory, HasTheDerivativesOfOneThread) {
    const ImageShape shape{90, 700};
    std::vector<float> samples = random_samples<float>(shape, 1000);
    samples[5000] = std::nanf("");
    const kernel::SampleView view(samples.data(), shape.width, {0, 0, shape.width, shape.height},
                                  shape);
    for (const double sigma : {1., 6.}) {
        const distributed::Filter filter{sigma, {"x", "laplacian"}, {}};
        const auto planes = [&](int threads) {
            std::vector<float> all(static_cast<std::size_t>(2 * shape.elements()));
            const std::vector<kernel::Plane> outputs = {
                {all.data(), shape.width}, {all.data() + shape.elements(), shape.width}};
            Team team(threads);
            EXPECT_EQ(distributed::filter_in_memory(view, filter, outputs, team, {}), 1);
            return all;
        };
        const std::vector<float> expected = planes(1);
        for (const int threads : {2, 3, 7}) {
            const std::vector<float> found = planes(threads);
            EXPECT_EQ(std::memcmp(found.data(), expected.data(), expected.size() * sizeof(float)),
                      0)
                << threads;
        }
    }
}

TEST(ImageInMemory, EndsWhenItIsCancelled) {
    const ImageShape shape{100, 2000};
    const std::vector<float> samples = random_samples<float>(shape, 2);
    const kernel::SampleView view(samples.data(), shape.width, {0, 0, shape.width, shape.height},
                                  shape);
    std::vector<float> plane(samples.size());
    const std::vector<kernel::Plane> outputs = {{plane.data(), shape.width}};
    Team team(3);
    std::atomic<int> checks = 0;
    RunControl control;
    control.cancelled = [&] { return ++checks > 2; };
    EXPECT_THROW(distributed::filter_in_memory(view, {2, {"x"}, {}}, outputs, team, control),
                 Cancelled);
}

} // namespace
} // namespace sextant::test
