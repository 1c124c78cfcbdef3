// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/distributed/image_in_memory.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>
#include <variant>

namespace sextant::distributed {

namespace {

/// The rows of strips: several strips per thread, so that all threads end at about the same time,
/// but not so few rows that the work on their borders counts.
Elements rows_of_strips(const Tile& tile, int threads, Elements fewest) {
    constexpr Elements most_pixels = Elements{1} << 22; // a few milliseconds between checks
    constexpr Elements per_thread = 2;
    if (threads == 1 && tile.elements() <= 2 * most_pixels)
        return tile.height;
    const Elements parts = threads == 1 ? 1 : per_thread * threads;
    const Elements equal = (tile.height + parts - 1) / parts;
    const Elements limit = std::max<Elements>(most_pixels / std::max<Elements>(tile.width, 1), 1);
    return std::clamp(std::min(equal, limit), std::min(fewest, tile.height), tile.height);
}

std::vector<Tile> strips_of(const Tile& tile, Elements rows) {
    std::vector<Tile> strips;
    for (Elements y = 0; y < tile.height; y += rows)
        strips.push_back({tile.x, tile.y + y, tile.width, std::min(rows, tile.height - y)});
    return strips;
}

/// Counts strips, and reports their number from one thread.
class StripProgress {
  public:
    StripProgress(const RunControl& control, const char* part, std::size_t strips)
        : control_(control), part_(part), strips_(static_cast<std::int64_t>(strips)) {}

    void begin(int member) const {
        control_.check();
        if (member == 0)
            control_.report(part_, done_, strips_);
    }
    void end() { ++done_; }

  private:
    const RunControl& control_;
    const char* const part_;
    const std::int64_t strips_;
    std::atomic<std::int64_t> done_{0};
};

} // namespace

void NotFinite::add(const float* values, Elements count) {
    // Compilers vectorise the comparison of bits.
    constexpr std::uint32_t magnitude = 0x7fffffff, infinity = 0x7f800000;
    const auto bits = [&](Elements i) {
        return std::bit_cast<std::uint32_t>(values[i]) & magnitude;
    };
    std::uint32_t largest = 0;
    for (Elements i = 0; i < count; ++i)
        largest = std::max(largest, bits(i));
    if (largest < infinity)
        return;
    for (Elements i = 0; i < count; ++i) {
        infinite += bits(i) == infinity;
        nan += bits(i) > infinity;
    }
}

Elements filter_in_memory(const kernel::SampleView& image, const Filter& filter,
                          std::span<const kernel::Plane> outputs, Team& team,
                          const RunControl& control, NotFinite* results) {
    std::vector<std::optional<kernel::FilterBank>> banks(static_cast<std::size_t>(team.size()));
    banks[0].emplace(bank_of(filter));
    // The rows around a strip cost about a third of those inside.
    const Elements fewest = std::max<Elements>(32, 4 * banks[0]->reach_y());
    const Elements rows =
        team.size() == 1 ? image.tile.height : rows_of_strips(image.tile, team.size(), fewest);
    const std::vector<Tile> tiles = strips_of(image.tile, std::max<Elements>(rows, 1));
    std::vector<Elements> not_numbers(tiles.size());
    std::vector<NotFinite> not_finite(tiles.size());
    StripProgress filtered(control, "filter", tiles.size());
    team.run(static_cast<int>(tiles.size()), [&](int part, int member) {
        filtered.begin(member);
        const Tile& tile = tiles[static_cast<std::size_t>(part)];
        auto& bank = banks[static_cast<std::size_t>(member)];
        if (!bank)
            bank.emplace(bank_of(filter));
        std::vector<kernel::Plane> planes(outputs.begin(), outputs.end());
        for (kernel::Plane& plane : planes)
            plane.first += (tile.y - image.tile.y) * plane.stride;
        bank->apply(image, tile, planes, [&] { control.check(); });
        for (const kernel::Plane& plane : planes) {
            for (Elements y = 0; results && y < tile.height; ++y)
                not_finite[static_cast<std::size_t>(part)].add(plane.first + y * plane.stride,
                                                               tile.width);
        }
        if (const auto* const* floats = std::get_if<const float*>(&image.first)) {
            for (Elements y = 0; y < tile.height; ++y) {
                const float* const row = *floats + (tile.y - image.tile.y + y) * image.stride;
                not_numbers[static_cast<std::size_t>(part)] += std::count_if(
                    row, row + tile.width, [](float value) { return value != value; });
            }
        }
        filtered.end();
    });
    for (const NotFinite& each : not_finite) {
        if (results) {
            results->infinite += each.infinite;
            results->nan += each.nan;
        }
    }
    return std::accumulate(not_numbers.begin(), not_numbers.end(), Elements{0});
}

} // namespace sextant::distributed
