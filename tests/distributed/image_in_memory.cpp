// SPDX-License-Identifier: BSD-3-Clause
// Derivatives of an image by threads equal those by one thread, bit for bit.
#include "sextant/distributed/image_in_memory.hpp"

#include "sextant/core/error.hpp"
#include "sextant/core/run_control.hpp"

#include <atomic>

#include "tests/support/filter_runs.hpp"

namespace sextant::test {
namespace {

TEST(ImageInMemory, has_the_derivatives_of_one_thread) {
    const ImageShape shape{90, 700};
    std::vector<std::byte> samples = samples_of(gray_f32, shape);
    reinterpret_cast<float*>(samples.data())[5000] = std::nanf("");
    for (const double sigma : {1., 6.}) {
        const distributed::Filter filter{sigma, {"x", "laplacian"}, {}};
        const std::vector<float> expected = filtered(samples, gray_f32, shape, filter);
        for (const int threads : {1, 2, 3, 7}) {
            std::vector<float> found(expected.size());
            const std::vector<kernel::Plane> outputs = {
                {found.data(), shape.width}, {found.data() + shape.elements(), shape.width}};
            Team team(threads);
            EXPECT_EQ(distributed::filter_in_memory(view_of(samples, gray_f32, shape), filter,
                                                    outputs, team, {}),
                      1);
            EXPECT_TRUE(
                same_bits(std::as_bytes(std::span(found)), std::as_bytes(std::span(expected))))
                << threads;
        }
    }
}

TEST(ImageInMemory, ends_when_it_is_cancelled) {
    const ImageShape shape{100, 2000};
    const std::vector<std::byte> samples = samples_of(gray_f32, shape);
    std::vector<float> plane(static_cast<std::size_t>(shape.elements()));
    const std::vector<kernel::Plane> outputs = {{plane.data(), shape.width}};
    Team team(3);
    std::atomic<int> checks = 0;
    RunControl control;
    control.cancelled = [&] { return ++checks > 2; };
    EXPECT_THROW(distributed::filter_in_memory(view_of(samples, gray_f32, shape), {2, {"x"}, {}},
                                               outputs, team, control),
                 Cancelled);
}

} // namespace
} // namespace sextant::test
