// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/comm/texts.hpp"

#include "sextant/comm/threads.hpp"

#include <gtest/gtest.h>

namespace sextant::test {
namespace {

TEST(Texts, reach_every_rank_whole_at_any_length) {
    const std::vector<std::string> texts = {"", "é", std::string(1023, 'a') + "é",
                                            std::string(1024, 'b'), std::string(5000, 'c')};
    run_threads(static_cast<int>(texts.size()), [&](const Communicator& communicator) {
        const auto rank = static_cast<std::size_t>(communicator.rank());
        EXPECT_EQ(all_gather_texts(communicator, texts[rank]), texts);
        EXPECT_EQ(all_gather_texts(communicator, ""), std::vector<std::string>(texts.size()));
    });
}

} // namespace
} // namespace sextant::test
