// SPDX-License-Identifier: BSD-3-Clause
// Labels and derivatives of an image by threads equal those by one thread, bit for bit.
#include "sextant/distributed/image_in_memory.hpp"

#include "sextant/core/error.hpp"
#include "sextant/core/run_control.hpp"

#include <atomic>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/time_limit.hpp"
#include <gtest/gtest.h>

namespace sextant::test {
namespace {

using kernel::Label;

/// Random samples of few values, so that there are components of many sizes.
template <class Sample>
std::vector<Sample> random_samples(ImageShape shape, unsigned values) {
    std::mt19937 random(7);
    std::vector<Sample> samples(static_cast<std::size_t>(shape.elements()));
    for (Sample& sample : samples)
        sample = static_cast<Sample>(random() % values);
    return samples;
}

template <class Sample>
void expect_same_labels(ImageShape shape, unsigned values) {
    const std::vector<Sample> samples = random_samples<Sample>(shape, values);
    const kernel::ValueView view(samples.data(), shape.width, {0, 0, shape.width, shape.height},
                                 shape);
    for (const auto neighbours : {kernel::Neighbours::four, kernel::Neighbours::eight}) {
        for (const auto same : {kernel::Sameness::foreground, kernel::Sameness::value}) {
            const kernel::Connection connection{neighbours, same};
            std::vector<Label> expected(samples.size());
            kernel::Labeller labeller(connection);
            const Label count = labeller.apply(view, {expected.data(), shape.width});
            for (const int threads : {1, 2, 3, 5}) {
                Team team(threads);
                const Elements stride = shape.width + 3;
                std::vector<Label> labels(static_cast<std::size_t>(stride * shape.height), -1);
                std::vector<kernel::Component> components;
                EXPECT_EQ(distributed::label_in_memory(view, connection, {labels.data(), stride},
                                                       team, {}, &components),
                          count);
                EXPECT_EQ(components, labeller.components());
                for (Elements i = 0; i < stride * shape.height; ++i) {
                    const Elements x = i % stride, y = i / stride;
                    const Label label = labels[static_cast<std::size_t>(i)];
                    ASSERT_EQ(label, x < shape.width
                                         ? expected[static_cast<std::size_t>(y * shape.width + x)]
                                         : -1)
                        << x << ", " << y << " with " << threads << " threads";
                }
            }
        }
    }
}

TEST(ImageInMemory, HasTheLabelsOfOneThread) {
    for (const ImageShape shape : {ImageShape{70, 400}, {1, 513}, {513, 1}, {129, 33}}) {
        expect_same_labels<std::uint8_t>(shape, 2);
        expect_same_labels<std::uint16_t>(shape, 3);
        expect_same_labels<float>(shape, 2);
        expect_same_labels<double>(shape, 2);
    }
    expect_same_labels<std::uint8_t>({0, 0}, 2);
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
    const std::vector<std::uint8_t> samples = random_samples<std::uint8_t>(shape, 2);
    const kernel::ValueView view(samples.data(), shape.width, {0, 0, shape.width, shape.height},
                                 shape);
    std::vector<Label> labels(samples.size());
    Team team(3);
    std::atomic<int> checks = 0;
    RunControl control;
    control.cancelled = [&] { return ++checks > 2; };
    EXPECT_THROW(
        distributed::label_in_memory(view, {}, {labels.data(), shape.width}, team, control),
        Cancelled);
}

TEST(ImageInMemory, ReportsProgress) {
    const ImageShape shape{100, 2000};
    const std::vector<std::uint8_t> samples = random_samples<std::uint8_t>(shape, 2);
    const kernel::ValueView view(samples.data(), shape.width, {0, 0, shape.width, shape.height},
                                 shape);
    std::vector<Label> labels(samples.size());
    const std::thread::id caller = std::this_thread::get_id();
    for (const int threads : {1, 3}) {
        Team team(threads);
        const TimeLimit limit;
        std::vector<std::string> parts; // not locked: only the calling thread reports
        std::atomic<std::int64_t> strips = 0, begun = 0;
        std::atomic<bool> writes = false;
        RunControl control;
        control.progress = [&](std::string_view part, std::int64_t done, std::int64_t all) {
            EXPECT_EQ(std::this_thread::get_id(), caller);
            EXPECT_LT(done, all);
            parts.emplace_back(part);
            strips = all;
            writes = part == "write";
        };
        // Called before each strip. The other threads wait until the calling thread has reported
        // the same part, so that they do not take all its strips.
        control.cancelled = [&] {
            const std::int64_t strip = begun++;
            if (std::this_thread::get_id() != caller)
                limit.wait_until([&] { return strips > 0 && (strip < strips || writes); });
            return false;
        };
        distributed::label_in_memory(view, {}, {labels.data(), shape.width}, team, control);
        ASSERT_FALSE(parts.empty());
        EXPECT_EQ(parts.front(), "label");
        EXPECT_EQ(parts.back(), threads == 1 ? "label" : "write");
    }
}

} // namespace
} // namespace sextant::test
