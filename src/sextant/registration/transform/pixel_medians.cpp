// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/transform/pixel_medians.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace sextant::registration {

namespace {

constexpr std::size_t most_by_network = 64;

float mean_of(float one, float other) {
    return static_cast<float>((static_cast<double>(one) + static_cast<double>(other)) / 2);
}

/// Both zeros compare equal, so which one is in the middle depends on the method.
float without_sign_of_zero(float value) {
    return value + 0.F;
}

} // namespace

float middle_of(std::span<float> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    if (values.size() % 2 == 1)
        return without_sign_of_zero(*middle);
    return without_sign_of_zero(mean_of(*std::max_element(values.begin(), middle), *middle));
}

/// Returns the exchanges that sort values, without those that do not affect the middle values.
PixelMedians::Network PixelMedians::network_of(std::size_t count) {
    Network all;
    const std::size_t highest = std::bit_ceil(count) / 2;
    for (std::size_t p = highest; p > 0; p /= 2) {
        for (std::size_t q = highest, r = 0, d = p;; d = q - p, q /= 2, r = p) {
            for (std::size_t i = 0; i + d < count; ++i) {
                if ((i & p) == r)
                    all.push_back({i, i + d});
            }
            if (q == p)
                break;
        }
    }
    // Going backwards, an exchange is kept if any value that it changes is needed later.
    std::vector<bool> needed(count);
    needed[(count - 1) / 2] = needed[count / 2] = true;
    Network backwards;
    for (auto at = all.rbegin(); at != all.rend(); ++at) {
        if (!needed[at->low] && !needed[at->high])
            continue;
        needed[at->low] = needed[at->high] = true;
        backwards.push_back(*at);
    }
    return {backwards.rbegin(), backwards.rend()};
}

void PixelMedians::find(const float* values, std::size_t count, std::size_t stride,
                        float* medians) {
    held_.resize(std::max(held_.size(), count * pixels));
    if (count > most_by_network) {
        for (std::size_t i = 0; i < count; ++i) {
            for (std::size_t k = 0; k < pixels; ++k)
                held_[k * count + i] = values[i * stride + k];
        }
        for (std::size_t k = 0; k < pixels; ++k)
            medians[k] = middle_of(std::span(held_).subspan(k * count, count));
        return;
    }
    networks_.resize(std::max(networks_.size(), count + 1));
    if (networks_[count].empty())
        networks_[count] = network_of(count);
    for (std::size_t i = 0; i < count; ++i)
        std::copy_n(values + i * stride, pixels, held_.data() + i * pixels);
    for (const Exchange& exchange : networks_[count]) {
        float* const low = held_.data() + exchange.low * pixels;
        float* const high = held_.data() + exchange.high * pixels;
        // Copies, because the compiler must assume that `low` and `high` overlap.
        std::array<float, pixels> least, largest;
        for (std::size_t k = 0; k < pixels; ++k)
            least[k] = std::min(low[k], high[k]);
        for (std::size_t k = 0; k < pixels; ++k)
            largest[k] = std::max(low[k], high[k]);
        std::ranges::copy(least, low);
        std::ranges::copy(largest, high);
    }
    const float* const below = held_.data() + (count - 1) / 2 * pixels;
    const float* const above = held_.data() + count / 2 * pixels;
    for (std::size_t k = 0; k < pixels; ++k)
        medians[k] = without_sign_of_zero(count % 2 == 1 ? above[k] : mean_of(below[k], above[k]));
}

} // namespace sextant::registration
