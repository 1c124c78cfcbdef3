// SPDX-License-Identifier: BSD-3-Clause
// Schedules of frames that are composited in place: proved for every rank that may draw any
// rectangle.
#include "../src/overlaps.hpp"

#include "sextant/schedule/prove.hpp"

#include <algorithm>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

namespace sextant::icet {
namespace {

/// A frame: the rectangle that each rank draws, and its position in the rank's images.
struct Case {
    Viewport tile{};
    std::vector<Viewport> drawn;
    std::vector<DrawnPlanes> images;
    std::vector<int> order;
    Planes read, made;
    int display = 0;
};

Case random_case(int ranks, std::mt19937& random) {
    const auto any = [&](int first, int last) {
        return std::uniform_int_distribution<int>(first, last)(random);
    };
    Case made;
    made.tile = {any(0, 5), any(0, 5), any(1, 9), any(1, 9)};
    for (int rank = 0; rank < ranks; ++rank) {
        const int left = any(0, made.tile[2]), bottom = any(0, made.tile[3]);
        const int width = any(0, made.tile[2] - left), height = any(0, made.tile[3] - bottom);
        const bool draws = width > 0 && height > 0 && any(0, 4) > 0;
        const int x = any(0, 3), y = any(0, 3);
        made.drawn.push_back(draws ? Viewport{left, bottom, width, height} : Viewport{0, 0, 0, 0});
        made.images.push_back({x + width + any(0, 2), y + height + any(0, 2), x, y});
    }
    made.order.resize(static_cast<std::size_t>(ranks));
    std::iota(made.order.begin(), made.order.end(), 0);
    std::ranges::shuffle(made.order, random);
    constexpr Planes all[] = {{1, true}, {4, true}, {3, true}, {0, true}, {1, false}, {4, false}};
    made.read = all[any(0, 5)];
    made.made = {made.read.color_words,
                 made.read.depth && (made.read.color_words == 0 || any(0, 1) > 0)};
    made.display = any(0, ranks - 1);
    return made;
}

/// Maps a word of a tile's planes to an element of the proof. Colours come first, then depths.
Elements element_of(const Case& c, bool depth, Elements word) {
    return depth ? Elements{c.tile[2]} * c.tile[3] * c.read.color_words + word : word;
}

/// Describes the schedule to the prover. A rank's words are operands [position, position + 1). The
/// output of a kernel combines the operands of all ranks that draw the pixel, front to back.
Claim claim_of(const Case& c) {
    Claim claim;
    const auto position = [&c](int rank) {
        return static_cast<int>(std::ranges::find(c.order, rank) - c.order.begin());
    };
    claim.given = [&c, position](int rank, int buffer, Elements at) -> Symbol {
        const bool depth = c.read.depth && (buffer == 1 || c.read.color_words == 0);
        const int words = depth ? 1 : c.read.color_words;
        const auto r = static_cast<std::size_t>(rank);
        const DrawnPlanes& image = c.images[r];
        const Viewport& part = c.drawn[r];
        const Elements pixel = at / words, x = pixel % image.width - image.x,
                       y = pixel / image.width - image.y;
        if (x < 0 || y < 0 || x >= part[2] || y >= part[3])
            return {}; // outside the rank's rectangle: must not be read
        const Elements in_tile = (part[1] + y) * c.tile[2] + part[0] + x;
        return {element_of(c, depth, in_tile * words + at % words), position(rank),
                position(rank) + 1};
    };
    claim.computed = [&c](int, const Program& program, const Step& step,
                          const std::vector<Symbol>& read) {
        std::vector<Symbol> made;
        const auto regions = program.made_by(step);
        const auto images = static_cast<std::size_t>(step.kernel);
        std::ptrdiff_t at = 0;
        std::vector<std::vector<Symbol>> planes; // planes of all images, one after another
        for (const Region& region : program.regions_of(step)) {
            planes.emplace_back(read.begin() + at, read.begin() + at + region.elements());
            at += region.elements();
        }
        const auto count = static_cast<std::size_t>(c.read.count());
        if (planes.size() != images * count)
            throw std::logic_error("the kernel reads other planes than those of its images");
        for (std::size_t plane = 0; plane < regions.size(); ++plane) {
            for (std::size_t word = 0; word < static_cast<std::size_t>(regions[plane].elements());
                 ++word) {
                Symbol sum;
                for (std::size_t image = 0; image < images; ++image) {
                    const Symbol& operand = planes[image * count + plane].at(word);
                    if (image > 0 && (operand.element != sum.element || operand.first < sum.last))
                        throw std::logic_error("operands differ, or are out of order");
                    sum = {operand.element, image == 0 ? operand.first : sum.first, operand.last,
                           sum.depth + 1};
                }
                if (images == 0) // background, which has no operand
                    sum = {-2, 0, 0};
                made.push_back(sum);
            }
        }
        return made;
    };
    claim.wanted = [&c, position](int rank, const std::vector<Symbol>& result) -> std::string {
        if (rank != c.display)
            return result.empty() ? "" : "a rank that does not display has pixels";
        const Elements pixels = Elements{c.tile[2]} * c.tile[3];
        for (int plane = 0; plane < 2; ++plane) {
            const bool depth = plane == 1;
            const int words = depth ? (c.made.depth ? 1 : 0) : c.made.color_words;
            const Elements first = depth ? c.made.depth_offset(pixels) : 0;
            for (Elements word = 0; word < pixels * words; ++word) {
                const auto x = static_cast<IceTInt>(word / words % c.tile[2]),
                           y = static_cast<IceTInt>(word / words / c.tile[2]);
                Symbol expected{-2, 0, 0};
                for (const int drawing : c.order) {
                    const Viewport& part = c.drawn[static_cast<std::size_t>(drawing)];
                    if (is_empty(common(part, {x, y, 1, 1})))
                        continue;
                    if (expected.element == -2)
                        expected = {element_of(c, depth, word), position(drawing), 0};
                    expected.last = position(drawing) + 1;
                }
                if (!result[static_cast<std::size_t>(first + word)].same_value(expected))
                    return "a pixel lacks a rank that draws it, or has another";
            }
        }
        return "";
    };
    return claim;
}

Schedule schedule_of(const Case& c) {
    const std::vector<Overlap> overlaps = overlaps_of(c.tile[2], c.tile[3], c.drawn, c.order);
    return make_schedule(static_cast<int>(c.drawn.size()), [&](int rank) {
        return overlap_program(overlaps, c.drawn, c.tile, c.read, c.made,
                               c.images[static_cast<std::size_t>(rank)], c.display, rank);
    });
}

TEST(IcetOverlaps, schedules_are_proved) {
    std::mt19937 random(1);
    for (int turn = 0; turn < 400; ++turn) {
        const Case c = random_case(1 + turn % 9, random);
        const Proof proof = prove(schedule_of(c), claim_of(c));
        ASSERT_TRUE(proof.holds()) << "case " << turn << ": " << proof.error;
    }
}

TEST(IcetOverlaps, work_is_shared_out) {
    std::mt19937 random(2);
    for (int ranks = 1; ranks <= 64; ++ranks) {
        Case c = random_case(ranks, random);
        c.tile = {0, 0, 64, 997};
        for (Viewport& part : c.drawn) {
            const int bottom = static_cast<int>(random() % 500);
            part = {static_cast<int>(random() % 32), bottom, 1 + static_cast<int>(random() % 32),
                    1 + static_cast<int>(random() % 490)};
        }
        std::vector<double> work(static_cast<std::size_t>(ranks));
        Elements pixels = 0;
        for (const Overlap& overlap : overlaps_of(64, 997, c.drawn, c.order)) {
            const double area = 1. * overlap.pixels[2] * overlap.pixels[3];
            pixels += Elements{overlap.pixels[2]} * overlap.pixels[3];
            work[static_cast<std::size_t>(overlap.owner)] +=
                area * (1. + static_cast<double>(overlap.ranks.size()));
        }
        EXPECT_EQ(pixels, 64 * 997);
        const double mean = std::accumulate(work.begin(), work.end(), 0.) / ranks;
        // A block of work ends between two rows.
        const double row = 64. * (ranks + 1);
        EXPECT_LE(*std::ranges::max_element(work), mean + row) << ranks << " ranks";
    }
}

} // namespace
} // namespace sextant::icet
