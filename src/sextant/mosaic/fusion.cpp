// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/mosaic/fusion.hpp"

#include "sextant/comm/thread_team.hpp"
#include "sextant/core/error.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

#include <fmt/format.h>

namespace sextant::mosaic {

namespace {

/// The weights of four neighbouring samples, at −1, 0, 1 and 2, for a position between 0 and 1:
/// Keys' cubic convolution with a = −1/2.
std::array<float, 4> cubic_weights(double t) {
    const double u = 1 - t;
    return {static_cast<float>(-.5 * t * u * u), static_cast<float>(1 + t * t * (1.5 * t - 2.5)),
            static_cast<float>(1 + u * u * (1.5 * u - 2.5)), static_cast<float>(-.5 * u * t * t)};
}

/// The position of a tile along an axis of the image: pixel `first + i` of the image is at position
/// i + fraction of the tile, for i from 0 to `count` − 1.
struct Placed {
    Elements first = 0, count = 0;
    double fraction = 0;
    std::array<float, 4> weights{};

    Placed(double position, Elements length)
        : first(static_cast<Elements>(std::ceil(position))),
          fraction(static_cast<double>(first) - position) {
        count = fraction > 0 ? length - 1 : length;
        weights = cubic_weights(fraction);
    }
    Elements last() const { return first + count; }
};

/// The weight of a position in a tile: the distance from the nearer edge, in pixels, at least ½.
float weight_at(double position, Elements length) {
    return static_cast<float>(std::min(position, static_cast<double>(length - 1) - position) + .5);
}

/// The image of a band of rows, while tiles are added.
struct Band {
    Rows rows;
    std::vector<float> values, weights;
};

class Fusion {
  public:
    Fusion(ImageShape tile, std::span<const Point> positions, std::span<const double> levels,
           const FlatField& flat, const ReadTile& read, const FusionOptions& options)
        : tile_(tile),
          levels_(levels),
          flat_(flat),
          read_(read),
          options_(options),
          area_(area_of(positions, tile)),
          team_(options.threads) {
        for (const Point& position : positions) {
            x_.emplace_back(position.x - area_.origin.x, tile.width);
            y_.emplace_back(position.y - area_.origin.y, tile.height);
        }
    }

    void run(const std::function<void(Rows, std::span<const float>)>& take,
             const RunControl& control) {
        const Elements height = area_.shape.height, rows = rows_of_band();
        for (Elements first = 0; first < height; first += rows) {
            control.check();
            control.report("fusion", first, height);
            Band band{{first, std::min(first + rows, height)}, {}, {}};
            const auto pixels = static_cast<std::size_t>(band.rows.count() * area_.shape.width);
            band.values.assign(pixels, 0);
            band.weights.assign(pixels, 0);
            std::vector<int> tiles;
            for (std::size_t i = 0; i < y_.size(); ++i) {
                if (y_[i].first < band.rows.last && y_[i].last() > band.rows.first)
                    tiles.push_back(static_cast<int>(i));
            }
            drop_tiles_above(band.rows.first);
            for (std::size_t at = 0; at < tiles.size();)
                at = add_some(tiles, at, band);
            mark_gaps(band);
            take(band.rows, band.values);
        }
    }

  private:
    Bytes tile_bytes() const { return tile_.elements() * static_cast<Bytes>(sizeof(float)); }

    Elements rows_of_band() const {
        constexpr Elements least = 16, most = 256;
        const Bytes row = 2 * area_.shape.width * static_cast<Bytes>(sizeof(float));
        return std::clamp<Elements>(options_.memory / 4 / row, least, most);
    }

    void drop_tiles_above(Elements row) {
        std::erase_if(held_, [&](const auto& each) {
            return y_[static_cast<std::size_t>(each.first)].last() <= row;
        });
    }

    /// Reads the next tiles, as many as fit into the memory, and adds them in their order. Returns
    /// the index of the tile after them.
    std::size_t add_some(std::span<const int> tiles, std::size_t first, Band& band) {
        const auto most = static_cast<std::size_t>(
            std::max<Bytes>(options_.threads, options_.memory * 3 / 4 / tile_bytes()));
        const std::size_t last = std::min(tiles.size(), first + most);
        const std::span<const int> now = tiles.subspan(first, last - first);
        std::vector<int> missing;
        for (const int tile : now) {
            if (!held_.contains(tile))
                missing.push_back(tile);
        }
        if (held_.size() + missing.size() > most) {
            std::erase_if(held_, [&](const auto& each) {
                return std::ranges::find(now, each.first) == now.end();
            });
        }
        std::vector<std::vector<float>*> rooms;
        for (const int tile : missing)
            rooms.push_back(&held_[tile]);
        team_.run(static_cast<int>(missing.size()), [&](int part, int member) {
            std::vector<float>& samples = *rooms[static_cast<std::size_t>(part)];
            samples.resize(static_cast<std::size_t>(tile_.elements()));
            read_(missing[static_cast<std::size_t>(part)], samples, member);
            correct(missing[static_cast<std::size_t>(part)], samples);
        });
        const auto count = static_cast<int>(band.rows.count());
        team_.run(count, [&](int row, int) {
            for (const int tile : now)
                add_row(band, band.rows.first + row, tile);
        });
        return last;
    }

    void correct(int tile, std::span<float> samples) const {
        flat_.correct(samples);
        if (levels_.empty())
            return;
        const auto level = static_cast<float>(levels_[static_cast<std::size_t>(tile)]);
        for (float& sample : samples)
            sample /= level;
    }

    /// Adds a row of a tile to a row of the image.
    void add_row(Band& band, Elements row, int number) {
        const Placed& x = x_[static_cast<std::size_t>(number)];
        const Placed& y = y_[static_cast<std::size_t>(number)];
        if (row < y.first || row >= y.last())
            return;
        const std::vector<float>& samples = held_.at(number);
        const Elements width = tile_.width, at = row - y.first;
        const auto source = [&](Elements tap) { // rows beyond the edges repeat
            return samples.data() + std::clamp<Elements>(at + tap, 0, tile_.height - 1) * width;
        };
        // Between rows, with one more sample at the left edge and two at the right.
        thread_local std::vector<float> between;
        between.resize(static_cast<std::size_t>(width + 3));
        float* const middle = between.data() + 1;
        if (y.fraction > 0) {
            const float *const a = source(-1), *const b = source(0), *const c = source(1),
                               *const d = source(2);
            for (Elements i = 0; i < width; ++i)
                middle[i] = y.weights[0] * a[i] + y.weights[1] * b[i] + y.weights[2] * c[i] +
                            y.weights[3] * d[i];
        } else {
            std::copy_n(source(0), width, middle);
        }
        middle[-1] = middle[0];
        middle[width] = middle[width + 1] = middle[width - 1];
        const auto to =
            static_cast<std::size_t>((row - band.rows.first) * area_.shape.width + x.first);
        float* const values = band.values.data() + to;
        float* const weights = band.weights.data() + to;
        const bool is_linear = options_.blend == TileBlend::linear;
        const float of_row = weight_at(static_cast<double>(at) + y.fraction, tile_.height);
        for (Elements i = 0; i < x.count; ++i) {
            const float value =
                x.fraction > 0 ? x.weights[0] * middle[i - 1] + x.weights[1] * middle[i] +
                                     x.weights[2] * middle[i + 1] + x.weights[3] * middle[i + 2]
                               : middle[i];
            if (!std::isfinite(value))
                continue;
            const float weight =
                is_linear ? of_row * weight_at(static_cast<double>(i) + x.fraction, width) : 1.F;
            blend(value, weight, values[i], weights[i]);
        }
    }

    /// Adds a sample to a pixel. Means are updated instead of sums, so that a pixel that one tile
    /// covers has exactly its sample.
    void blend(float value, float weight, float& result, float& weights) const {
        if (weights == 0) {
            result = value;
            weights = weight;
            return;
        }
        switch (options_.blend) {
        case TileBlend::linear:
        case TileBlend::mean:
            weights += weight;
            result += (value - result) * (weight / weights);
            return;
        case TileBlend::first:
            return;
        case TileBlend::max:
            result = std::max(result, value);
            return;
        }
    }

    static void mark_gaps(Band& band) {
        for (std::size_t i = 0; i < band.values.size(); ++i) {
            if (band.weights[i] == 0)
                band.values[i] = std::numeric_limits<float>::quiet_NaN();
        }
    }

    const ImageShape tile_;
    const std::span<const double> levels_;
    const FlatField& flat_;
    const ReadTile& read_;
    const FusionOptions& options_;
    const MosaicArea area_;
    Team team_;
    std::vector<Placed> x_, y_;              ///< per tile
    std::map<int, std::vector<float>> held_; ///< corrected samples by tile
};

} // namespace

MosaicArea area_of(std::span<const Point> positions, ImageShape tile) {
    if (positions.empty())
        throw InvalidTask("a mosaic of no tiles: expected at least one tile");
    Point least = positions[0], most = positions[0];
    for (const Point& position : positions) {
        least = {std::min(least.x, position.x), std::min(least.y, position.y)};
        most = {std::max(most.x, position.x), std::max(most.y, position.y)};
    }
    const double width = std::floor(most.x) - std::floor(least.x),
                 height = std::floor(most.y) - std::floor(least.y);
    constexpr double longest = 1 << 30;
    if (!(width < longest && height < longest))
        throw InvalidTask(fmt::format("the tiles are up to {:g} x {:g} pixels apart: expected at "
                                      "most {:g} along each axis",
                                      width, height, longest));
    return {{static_cast<Elements>(width) + tile.width + 1,
             static_cast<Elements>(height) + tile.height + 1},
            {std::floor(least.x), std::floor(least.y)}};
}

void fuse_tiles(ImageShape tile, std::span<const Point> positions, std::span<const double> levels,
                const FlatField& flat, const ReadTile& read, const FusionOptions& options,
                const std::function<void(Rows rows, std::span<const float> samples)>& take,
                const RunControl& control) {
    if (!levels.empty() && levels.size() != positions.size())
        throw InvalidTask(fmt::format("{} levels for {} tiles: expected as many levels as tiles",
                                      levels.size(), positions.size()));
    Fusion(tile, positions, levels, flat, read, options).run(take, control);
}

} // namespace sextant::mosaic
