// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/mosaic/fusion.hpp"

#include "sextant/core/error.hpp"

#include <bit>
#include <cmath>
#include <limits>

#include "tests/mosaic/scan.hpp"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant::mosaic {
namespace {

/// A smooth specimen.
double specimen(double x, double y) {
    return 100 + 20 * std::sin(x / 9) + 15 * std::cos(y / 7 + x / 30);
}

struct SmoothTiles {
    ImageShape tile{40, 30};
    std::vector<Point> at{{-3.25, 2}, {29.5, 1.75}, {0, 24.4}, {31, 25}};
    std::vector<std::vector<float>> samples;

    SmoothTiles() {
        for (const Point& p : at) {
            std::vector<float>& own = samples.emplace_back();
            for (Elements y = 0; y < tile.height; ++y) {
                for (Elements x = 0; x < tile.width; ++x)
                    own.push_back(static_cast<float>(
                        specimen(p.x + static_cast<double>(x), p.y + static_cast<double>(y))));
            }
        }
    }

    std::vector<float> fused(const FusionOptions& options = {},
                             std::span<const double> levels = {}) const {
        std::vector<float> image;
        const ReadTile read = [&](int number, std::span<float> to, int) {
            std::ranges::copy(samples[static_cast<std::size_t>(number)], to.begin());
        };
        std::int64_t next = 0;
        fuse_tiles(tile, at, levels, FlatField(tile), read, options,
                   [&](Rows rows, std::span<const float> some) {
                       EXPECT_EQ(rows.first, next);
                       next = rows.last;
                       image.insert(image.end(), some.begin(), some.end());
                   });
        return image;
    }
};

TEST(MosaicFusion, has_the_area_of_all_tiles) {
    const SmoothTiles tiles;
    const MosaicArea area = area_of(tiles.at, tiles.tile);
    EXPECT_EQ(area.origin, (Point{-4, 1}));
    EXPECT_EQ(area.shape, (ImageShape{76, 55}));
    EXPECT_THROW(area_of({}, tiles.tile), InvalidTask);
    const double infinity = std::numeric_limits<double>::infinity();
    EXPECT_THROW(area_of(std::vector<Point>{{0, 0}, {infinity, 0}}, tiles.tile), InvalidTask);
    EXPECT_THROW(area_of(std::vector<Point>{{0, 0}, {0, 1e18}}, tiles.tile), InvalidTask);
}

TEST(MosaicFusion, shows_the_specimen) {
    const SmoothTiles tiles;
    const MosaicArea area = area_of(tiles.at, tiles.tile);
    for (const TileBlend blend :
         {TileBlend::linear, TileBlend::mean, TileBlend::first, TileBlend::max}) {
        const std::vector<float> image = tiles.fused({.blend = blend});
        ASSERT_EQ(image.size(), static_cast<std::size_t>(area.shape.elements()));
        Elements known = 0;
        for (Elements y = 0; y < area.shape.height; ++y) {
            for (Elements x = 0; x < area.shape.width; ++x) {
                const float value = image[static_cast<std::size_t>(y * area.shape.width + x)];
                if (std::isnan(value))
                    continue;
                ++known;
                EXPECT_NEAR(value,
                            specimen(area.origin.x + static_cast<double>(x),
                                     area.origin.y + static_cast<double>(y)),
                            .6)
                    << x << ", " << y;
            }
        }
        EXPECT_GT(known, area.shape.elements() * 9 / 10);
        EXPECT_LT(known, area.shape.elements());
    }
}

TEST(MosaicFusion, keeps_samples_at_whole_pixels) {
    SmoothTiles tiles;
    tiles.at = {{5, 7}};
    tiles.samples.resize(1);
    const std::vector<float> image = tiles.fused();
    for (Elements y = 0; y < tiles.tile.height; ++y) {
        for (Elements x = 0; x < tiles.tile.width; ++x)
            EXPECT_EQ(image[static_cast<std::size_t>(y * (tiles.tile.width + 1) + x)],
                      tiles.samples[0][static_cast<std::size_t>(y * tiles.tile.width + x)]);
    }
}

TEST(MosaicFusion, has_the_same_bits_for_all_threads_and_memories) {
    const SmoothTiles tiles;
    const auto bits_of = [](const std::vector<float>& image) {
        std::vector<std::uint32_t> bits;
        for (const float value : image)
            bits.push_back(std::bit_cast<std::uint32_t>(value));
        return bits;
    };
    for (const TileBlend blend :
         {TileBlend::linear, TileBlend::mean, TileBlend::first, TileBlend::max}) {
        const auto one = bits_of(tiles.fused({.blend = blend}));
        for (const int threads : {1, 2, 3}) {
            for (const Bytes memory : {Bytes{1}, Bytes{20000}, Bytes{1} << 30})
                EXPECT_EQ(bits_of(tiles.fused({blend, threads, memory})), one);
        }
    }
}

TEST(MosaicFusion, divides_by_levels_and_ignores_missing_samples) {
    SmoothTiles tiles;
    for (float& sample : tiles.samples[1])
        sample *= 2;
    const std::vector<double> levels{1, 2, 1, 1};
    tiles.samples[0][15 * 40 + 38] = std::numeric_limits<float>::quiet_NaN(); // tile 1 covers it
    const std::vector<float> with = tiles.fused({}, levels);
    const MosaicArea area = area_of(tiles.at, tiles.tile);
    for (Elements x = 35; x < 45; ++x) {
        const float value = with[static_cast<std::size_t>(16 * area.shape.width + x)];
        EXPECT_NEAR(value, specimen(area.origin.x + static_cast<double>(x), area.origin.y + 16),
                    .6);
    }
    EXPECT_THROW(tiles.fused({}, std::vector<double>{1, 2}), InvalidTask);
}

} // namespace
} // namespace sextant::mosaic
