// SPDX-License-Identifier: BSD-3-Clause
// The gain of interlacing on a simulated platform: Direct-Send with messages that contain only
// active pixels, with the image's rows in order or interlaced.
//
// Method: the numbers of active pixels that each rank sends, receives and blends are counted
// exactly, and runs are simulated as by `sextant simulate --clock`, so that nothing else has an
// effect. Blending takes .7 ns per pixel and operand. The time to find the active pixels, which is
// the same in both cases, and the bytes that encode their positions are neglected.
//
//   bench_interlace platforms/fat-tree-144-calibrated.json
#include "sextant/core/image.hpp"
#include "sextant/lab/bench_cases.hpp"
#include "sextant/schedule/builder.hpp"
#include "sextant/simulate/simulation.hpp"

#include <algorithm>
#include <cstdio>
#include <vector>

using namespace sextant;

namespace {

constexpr int side = 2048;
constexpr double seconds_per_application = .7e-9;
constexpr const char* patterns[] = {"ellipse", "upper half", "lower half"};

/// For the part of the image that each rank blends: the number of active pixels in each rank's
/// image, and in the union of all images.
struct Drawn {
    std::vector<std::vector<Elements>> by_rank;
    std::vector<Elements> by_anybody;

    Drawn(const char* pattern, int p, bool interlaced)
        : by_rank(static_cast<std::size_t>(p), std::vector<Elements>(static_cast<std::size_t>(p))),
          by_anybody(static_cast<std::size_t>(p)) {
        constexpr auto pixels = static_cast<std::size_t>(side) * side;
        const auto owner = [&](std::size_t pixel) {
            const auto y = static_cast<int>(pixel / side);
            return static_cast<std::size_t>(interlaced ? y % p : y * p / side);
        };
        std::vector<bool> anybody(pixels);
        Image image({side, side}, rgba_u8);
        for (int rank = 0; rank < p; ++rank) {
            lab::fill_image(image, pattern, rank, p);
            const auto* pixel = reinterpret_cast<const RgbaU8*>(image.bytes().data());
            for (std::size_t i = 0; i < pixels; ++i) {
                if (pixel[i].a == 0)
                    continue;
                ++by_rank[static_cast<std::size_t>(rank)][owner(i)];
                anybody[i] = true;
            }
        }
        for (std::size_t i = 0; i < pixels; ++i)
            by_anybody[owner(i)] += anybody[i];
    }
};

/// A rank's program: it blends each message on arrival; if `collected`, rank 0 receives the blended
/// parts.
Program program(const Drawn& drawn, int rank, int p, bool collected) {
    const auto of = [](int i) { return static_cast<std::size_t>(i); };
    ProgramBuilder builder;
    const Region image = builder.input(Elements{side} * side);
    std::vector<Region> came;
    for (int step = 1; step < p; ++step) {
        builder.round(step - 1);
        const int peer = step - 1 < rank ? step - 1 : step;
        if (const Elements sent = drawn.by_rank[of(rank)][of(peer)]; sent > 0)
            builder.send(peer, block(image.buffer, 0, sent));
        if (const Elements coming = drawn.by_rank[of(peer)][of(rank)]; coming > 0) {
            came.push_back(builder.scratch(coming));
            builder.receive(peer, came.back());
        }
    }
    const Region sum = builder.scratch(Elements{side} * side);
    Elements blended = 0;
    for (const Region& each : came) {
        const Region part = block(sum.buffer, 0, each.length);
        const Elements before = std::min(blended, each.length);
        builder.fold(block(sum.buffer, 0, before),
                     {block(sum.buffer, 0, before), block(each.buffer, 0, before)});
        const Elements rest = each.length - before;
        builder.fold(block(sum.buffer, before, rest),
                     {block(image.buffer, before, rest), block(each.buffer, before, rest)});
        blended = std::max(blended, part.length);
    }
    builder.round(p);
    if (collected && rank > 0) {
        const Elements all = drawn.by_anybody[of(rank)], made = std::min(blended, all);
        std::vector<Region> picture{block(sum.buffer, 0, made), block(image.buffer, 0, all - made)};
        std::erase_if(picture, [](const Region& region) { return region.empty(); });
        if (all > 0)
            builder.send(0, picture);
    }
    for (int owner = 1; collected && rank == 0 && owner < p; ++owner) {
        if (drawn.by_anybody[of(owner)] > 0)
            builder.receive(owner, builder.scratch(drawn.by_anybody[of(owner)]));
    }
    return builder.finish({});
}

Seconds simulated(const Drawn& drawn, int p, bool collected, const char* platform) {
    const Schedule schedule =
        make_schedule(p, [&](int rank) { return program(drawn, rank, p, collected); });
    simulate::Question question{.schedule = schedule, .platform = platform, .element_size = 16};
    question.costs.seconds_per_application = seconds_per_application;
    return simulate::simulate_on_clock(question).seconds;
}

} // namespace

int main(int count, char** arguments) {
    if (count != 2) {
        std::fputs("bench_interlace PLATFORM: expected one platform (JSON)\n", stderr);
        return 2;
    }
    std::puts("pattern, ranks: distributed, interlaced, ratio; collected, interlaced, ratio (ms)");
    for (const char* const pattern : patterns) {
        for (const int p : {2, 4, 8, 16, 64}) {
            const Drawn lies(pattern, p, false), interlaced(pattern, p, true);
            std::printf("%s, %d:", pattern, p);
            for (const bool collected : {false, true}) {
                const Seconds before = simulated(lies, p, collected, arguments[1]);
                const Seconds after = simulated(interlaced, p, collected, arguments[1]);
                std::printf(" %.1f %.1f %.2f", before * 1e3, after * 1e3, after / before);
            }
            std::puts("");
            std::fflush(stdout);
        }
    }
}
