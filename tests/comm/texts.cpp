// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/communicator.hpp"
#include "sextant/comm/threads.hpp"

#include <gtest/gtest.h>

namespace sextant::test {
namespace {

TEST(Texts, are_delivered_completely_to_every_rank_at_any_length) {
    const std::vector<std::string> texts = {"", "é", std::string(1023, 'a') + "é",
                                            std::string(1024, 'b'), std::string(5000, 'c')};
    run_threads(static_cast<int>(texts.size()), [&](const Communicator& communicator) {
        const auto rank = static_cast<std::size_t>(communicator.rank());
        EXPECT_EQ(all_gather_texts(communicator, texts[rank]), texts);
        EXPECT_EQ(all_gather_texts(communicator, ""), std::vector<std::string>(texts.size()));
    });
}

TEST(Lists, are_gathered_in_rank_order_at_any_length) {
    for (const int ranks : {1, 3, 5}) {
        std::vector<double> expected;
        for (int i = 0; i < 300 * ranks * (ranks - 1) / 2; ++i)
            expected.push_back(i / 7.);
        run_threads(ranks, [&](const Communicator& communicator) {
            const int rank = communicator.rank();
            const auto own = std::span<const double>(expected).subspan(
                static_cast<std::size_t>(150 * rank * (rank - 1)),
                static_cast<std::size_t>(300 * rank));
            EXPECT_EQ(all_gather_lists(communicator, own), expected);
        });
    }
}

} // namespace
} // namespace sextant::test
