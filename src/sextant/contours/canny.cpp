// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/contours/canny.hpp"

#include "sextant/comm/agreement.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/run_control.hpp"
#include "sextant/kernel/edge/edge_detector.hpp"
#include "sextant/kernel/filter/line_vectors.hpp"
#include "sextant/tiles/tile_borders.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace sextant {

namespace {

// The code of a value has 32 bits. Each of the two passes counts values by 16 of these bits. The
// counts are summed over the ranks in two steps, each for 8 bits.
constexpr int half = 16, quarter = 8;
constexpr std::size_t digits = 1U << half, groups = 1U << quarter;
using Group = std::array<Elements, groups>;

/// Maps values >= 0 to codes that sort in the same order.
std::uint32_t code_of(float value) {
    return std::bit_cast<std::uint32_t>(value);
}

Group sum_of_all(const Communicator& communicator, const Group& local) {
    Group all{};
    for (const Group& some : communicator.all_gather(local))
        std::ranges::transform(all, some, all.begin(), std::plus<>());
    return all;
}

/// Returns the group that holds the value at sorted position `place`, and makes `place` relative to
/// that group.
std::uint32_t group_of(const Group& counts, Elements& place) {
    std::uint32_t group = 0;
    while (place >= counts[group])
        place -= counts[group++];
    return group;
}

/// Returns the 16-bit digit of the value at sorted position `place`, according to the counts of all
/// ranks, and makes `place` relative to the values with that digit. Collective.
std::uint32_t digit_of(const Communicator& communicator, std::span<const Elements> counts,
                       Elements& place) {
    Group sums;
    for (std::size_t group = 0; group < groups; ++group) {
        const auto first = counts.begin() + static_cast<std::ptrdiff_t>(group * groups);
        sums[group] = std::accumulate(first, first + groups, Elements{0});
    }
    const std::uint32_t upper = group_of(sum_of_all(communicator, sums), place);
    Group single;
    std::copy_n(counts.begin() + upper * groups, groups, single.begin());
    return upper << quarter | group_of(sum_of_all(communicator, single), place);
}

} // namespace

Quantiles::Quantiles(std::vector<double> shares) : leading_(digits, 0) {
    for (const double share : shares)
        sought_.push_back({share, 0, 0, false, Counts(digits, 0)});
}

void Quantiles::add(std::span<const float> values) {
    for (std::size_t i = 0; i < values.size(); ++i) {
        const float value = values[i];
        if ((i + 1) % much_work == 0)
            check_cancelled(much_work);
        if (std::isnan(value))
            continue;
        const std::uint32_t code = code_of(value), leading = code >> half;
        if (pass_ == 0) {
            ++leading_[leading];
            continue;
        }
        for (Sought& sought : sought_) {
            if (leading == sought.found)
                ++sought.counts[code & (digits - 1)];
        }
    }
}

void Quantiles::end_pass(const Communicator& communicator) {
    if (pass_++ == 0) {
        const Elements all = sum_over_ranks(
            communicator, std::accumulate(leading_.begin(), leading_.end(), Elements{0}));
        for (Sought& sought : sought_) {
            sought.nothing = all == 0;
            if (sought.nothing)
                continue;
            sought.place = static_cast<Elements>(sought.share * static_cast<double>(all - 1));
            sought.found = digit_of(communicator, leading_, sought.place);
        }
        return;
    }
    for (Sought& sought : sought_) {
        if (!sought.nothing)
            sought.found =
                sought.found << half | digit_of(communicator, sought.counts, sought.place);
    }
}

float Quantiles::value(std::size_t share) const {
    return std::bit_cast<float>(sought_[share].found);
}

namespace {

/// Returns the quantiles of the values of a single rank, by partial sorting.
std::vector<float> quantiles_by_sorting(std::span<const float> values,
                                        std::span<const double> shares) {
    std::vector<std::uint32_t> codes;
    codes.reserve(values.size());
    for (const float value : values) {
        if (!std::isnan(value))
            codes.push_back(code_of(value));
    }
    if (codes.empty())
        return std::vector<float>(shares.size(), 0);
    std::vector<float> found;
    for (const double share : shares) {
        const double place = share * static_cast<double>(codes.size() - 1);
        const auto sought = codes.begin() + static_cast<std::ptrdiff_t>(place);
        std::ranges::nth_element(codes, sought);
        found.push_back(std::bit_cast<float>(*sought));
    }
    return found;
}

} // namespace

std::vector<float> quantiles(const Communicator& communicator, std::span<const float> values,
                             std::vector<double> shares) {
    constexpr std::size_t few =
        digits /
        4; // with at most this many values, sorting takes less memory and time than counting
    if (communicator.size() == 1 && values.size() <= few)
        return quantiles_by_sorting(values, shares);
    const std::size_t count = shares.size();
    Quantiles found(std::move(shares));
    for (int pass = 0; pass < Quantiles::passes; ++pass) {
        agree(communicator, [&] { found.add(values); });
        found.end_pass(communicator);
    }
    std::vector<float> made;
    for (std::size_t i = 0; i < count; ++i)
        made.push_back(found.value(i));
    return made;
}

namespace {

constexpr kernel::Connection edges_hang_together{kernel::Neighbours::eight,
                                                 kernel::Sameness::foreground};

} // namespace

EdgeComponents::EdgeComponents(const kernel::EdgePlane& codes, const Tile& tile, ImageShape image)
    : codes_(codes), view_{codes.first, codes.stride, tile, image}, labeller_(edges_hang_together) {
    const kernel::Label components = labeller_.find(view_);
    first_pixels_ = labeller_.first_pixels();
    strong_ =
        kernel::strong_components({codes.first, codes.stride, tile, image}, labeller_, components);
}

ComponentsOfTile EdgeComponents::components() const {
    return {view_, edges_hang_together, labeller_, first_pixels_, strong_};
}

void EdgeComponents::keep(std::span<const WholeComponent> parts) const {
    std::vector<std::uint8_t> kept;
    for (const WholeComponent& part : parts)
        kept.push_back(part.marked ? 1 : 0);
    kernel::keep_components(codes_, view_.tile, labeller_, kept);
}

namespace {

using distributed::PaddedTile;

/// Edge codes (kernel/edge/edge_vectors.hpp) of this rank's tile, with the margin that thinning
/// reads.
class EdgeTile {
  public:
    EdgeTile(const Communicator& communicator, const Grid& grid)
        : communicator_(communicator),
          grid_(grid),
          own_(tile(grid, communicator.rank())),
          codes_(communicator, grid, gray_u8, kernel::thinning_margin) {}

    kernel::EdgePlane plane() { return {bytes(codes_.own()), codes_.held().width}; }
    const Tile& own() const { return own_; }

    /// Hysteresis: removes components without a strong point; all remaining points become weak.
    void follow_strong(const PatternForEntries& pattern);
    /// Thins in rounds until no rank removes a pixel.
    void thin();
    /// Replaces the codes by directions; call this last.
    distributed::Image directions();

  private:
    static std::uint8_t* bytes(std::byte* memory) {
        return reinterpret_cast<std::uint8_t*>(memory);
    }
    Communicator communicator_;
    Grid grid_;
    Tile own_;
    PaddedTile codes_;
};

void EdgeTile::follow_strong(const PatternForEntries& pattern) {
    std::optional<EdgeComponents> edges;
    agree(communicator_, [&] {
        edges.emplace(plane(), own_, ImageShape{grid_.width, grid_.height});
    });
    const ComponentsOfTile local = edges->components();
    const std::vector<WholeComponent> parts =
        join_components(communicator_, grid_, local, pattern(border_entries(local)));
    agree(communicator_, [&] { edges->keep(parts); });
}

void EdgeTile::thin() {
    kernel::Thinning thinning(bytes(codes_.data()), codes_.held(), own_,
                              {grid_.width, grid_.height});
    bool changed = true;
    while (changed) {
        codes_.exchange();
        Elements taken = 0;
        agree(communicator_, [&] { taken = thinning.round(); });
        changed = sum_over_ranks(communicator_, taken) > 0;
    }
}

/// Directions overwrite the codes, because allocating new memory would take longer.
distributed::Image EdgeTile::directions() {
    std::shared_ptr<Memory> codes;
    const Tile held = codes_.held();
    agree(communicator_, [&] {
        codes = std::make_shared<Memory>(codes_.release().pixels);
        kernel::find_directions(
            {bytes(codes->data()), held.width, held, {grid_.width, grid_.height}}, own_,
            reinterpret_cast<kernel::Direction*>(codes->data()));
    });
    return {communicator_, grid_, direction_i8, codes, 0};
}

} // namespace

void require_edge_quantiles(double low, double high) {
    if (!(low >= 0 && low <= high && high <= 1))
        throw InvalidTask(
            fmt::format("edge quantiles are {} and {}, expected 0 <= low <= high <= 1", low, high));
}

kernel::EdgeThresholds quantiles_of(const distributed::Image& image, double sigma, double low,
                                    double high) {
    const Tile tile = image.tile();
    std::optional<kernel::EdgeFinder> finder;
    agree(image.communicator(), [&] { finder.emplace(sigma); });
    const distributed::TileWithBorder samples =
        distributed::with_surroundings(image, finder->margin());
    Memory lengths;
    agree(image.communicator(), [&] {
        require_edge_quantiles(low, high);
        lengths = Memory(tile.elements() * gray_f32.size);
        finder->measure(samples.pieces, tile, reinterpret_cast<float*>(lengths.data()));
    });
    const std::span values(reinterpret_cast<const float*>(lengths.data()),
                           static_cast<std::size_t>(tile.elements()));
    const std::vector<float> found = quantiles(image.communicator(), values, {low, high});
    return {found[0], found[1]};
}

PatternForEntries always(const contour::Pattern& pattern) {
    return [&pattern](Elements) -> const contour::Pattern& { return pattern; };
}

distributed::Image edge_directions(const distributed::Image& image, double sigma,
                                   kernel::EdgeThresholds thresholds,
                                   const PatternForEntries& pattern) {
    std::optional<kernel::EdgeFinder> finder;
    agree(image.communicator(), [&] { finder.emplace(sigma); });
    const distributed::TileWithBorder samples =
        distributed::with_surroundings(image, finder->margin());
    std::optional<EdgeTile> edges;
    agree(image.communicator(), [&] {
        edges.emplace(image.communicator(), image.grid());
        finder->find(samples.pieces, edges->own(), thresholds, edges->plane());
    });
    edges->follow_strong(pattern);
    edges->thin();
    return edges->directions();
}

} // namespace sextant
