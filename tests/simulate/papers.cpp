// SPDX-License-Identifier: BSD-3-Clause
// What two papers measured must come out as orderings and ratios, never as frame rates: on pure
// fluid without a fitted parameter where that is said, else on the calibrated platforms. By SimGrid
// on platforms in its words, else on our clock, which tests of the clock hold against SimGrid.
#include "sextant/simulate/clock.hpp"

#include <algorithm>

#include "tests/simulate/cases.hpp"
#include <gtest/gtest.h>

namespace sextant::simulate {
namespace {

constexpr Elements mega = 1024 * 1024;

struct Run {
    std::string algorithm;
    int ranks;
    std::string platform;
    std::string order = "";
    Elements pixels = 8 * mega;
    std::vector<int> radices = {};
};

Seconds seconds(const Run& run) {
    const std::string platform = test::shipped(run.platform);
    const Schedule schedule =
        test::compositing_schedule(run.algorithm, run.ranks, run.pixels, run.radices);
    Question question{.schedule = schedule,
                      .platform = platform,
                      .order = run.order.empty() ? std::vector<std::string>{}
                                                 : read_order(test::shipped("orders/" + run.order)),
                      .element_size = 16,
                      .association = Association::by_arrival};
    if (!is_json(platform))
        return simulate(question).seconds;
    const Platform ours = read_platform(platform);
    question.costs = ours.costs;
    return simulate_on_clock(question, ours).seconds;
}

/// Those that run on a platform in SimGrid's words.
class PapersInFluid : public testing::Test {
  protected:
    void SetUp() override {
        if (!available())
            GTEST_SKIP() << "built without SimGrid";
    }
};

/// How many frames Shift-Based makes while Direct-Send makes one.
double advantage(int ranks, const std::string& platform) {
    return seconds({"direct-send", ranks, platform}) / seconds({"shift-based", ranks, platform});
}

TEST(Papers, shift_based_beats_direct_send_on_calibrated_machines) {
    EXPECT_GT(advantage(12, "crossbar-12-calibrated.json"), 1.5);   // the paper: 2.27
    EXPECT_GT(advantage(144, "fat-tree-144-calibrated.json"), 1.5); // 2.45
    EXPECT_GT(advantage(64, "fat-tree-144-calibrated.json"), 1.5);  // 1.54
}

TEST_F(PapersInFluid, in_pure_fluid_direct_send_is_as_good) {
    EXPECT_NEAR(advantage(12, "crossbar-12.xml"), 1, .02);
    EXPECT_NEAR(advantage(36, "fat-tree-144.xml"), 1, .02);
}

TEST_F(PapersInFluid, routing_order_beats_alphabetical_order) {
    for (const char* platform : {"fat-tree-144.xml", "fat-tree-144-calibrated.json"}) {
        const double ratio =
            seconds({"shift-based", 144, platform, "fat-tree-144-alphabetical.txt"}) /
            seconds({"shift-based", 144, platform});
        EXPECT_GT(ratio, 1.6) << platform; // the paper: 1.77
        EXPECT_LT(ratio, 2.4) << platform;
    }
}

TEST_F(PapersInFluid, frame_rates_peak_at_multiples_of_twelve) {
    const auto rate = [](int ranks) {
        return 1 / seconds({"shift-based", ranks, "fat-tree-144.xml"});
    };
    EXPECT_GT(rate(60), 1.4 * rate(61));
    EXPECT_GT(rate(72), 1.4 * rate(71));
    EXPECT_NEAR(rate(60) / rate(72), 1, .02);
}

constexpr const char* blocks = "blocks-8x8x4.txt";

Seconds radix_k(const std::vector<int>& radices, const std::string& platform,
                const std::string& order = "", Elements pixels = 2 * mega) {
    return seconds({"radix-k", 256, platform, order, pixels, radices});
}

TEST(Papers, radix_8_beats_binary_swap_on_a_torus) {
    for (const Elements pixels : {2 * mega, 8 * mega}) {
        const double ratio = seconds({"binary-swap", 256, "torus-8x8x4.json", "", pixels}) /
                             radix_k({8, 8, 4}, "torus-8x8x4.json", "", pixels);
        EXPECT_GT(ratio, 1.3); // the paper: 1.45 on average, at most 1.51
        EXPECT_LT(ratio, 1.55);
    }
}

TEST(Papers, unmapped_the_best_radices_are_16_and_more) {
    const std::string torus = "torus-8x8x4.json";
    const Seconds high = std::min({radix_k({16, 16}, torus), radix_k({32, 8}, torus)});
    EXPECT_LT(high, radix_k({8, 8, 4}, torus));
    EXPECT_LT(high, radix_k({4, 4, 4, 4}, torus));
}

TEST(Papers, mapped_to_blocks_the_best_radices_are_8) {
    const std::string torus = "torus-8x8x4.json";
    const Seconds eight = radix_k({8, 8, 4}, torus, blocks);
    EXPECT_LT(eight, radix_k({8, 8, 4}, torus));
    for (const std::vector<int>& other :
         {std::vector{2, 2, 2, 2, 2, 2, 2, 2}, {4, 4, 4, 4}, {16, 16}, {32, 8}})
        EXPECT_LT(eight, radix_k(other, torus, blocks)) << other.front();
}

TEST(Papers, a_mesh_hurts_high_radices_most) {
    const auto loss = [](const std::vector<int>& radices) {
        return radix_k(radices, "mesh-8x8x4.json") / radix_k(radices, "torus-8x8x4.json");
    };
    EXPECT_GT(loss({16, 16}), 1.3);
    EXPECT_GT(loss({32, 8}), 1.3);
    EXPECT_GT(loss({32, 8}), loss({2, 2, 2, 2, 2, 2, 2, 2}));
    EXPECT_GT(loss({16, 16}), loss({4, 4, 4, 4}));
}

} // namespace
} // namespace sextant::simulate
