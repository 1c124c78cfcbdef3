// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/comm/execute.hpp"
#include "sextant/schedule/builder.hpp"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

// Tests of elements of which only a part is used and sent, over threads and over MPI.
namespace sextant::test {

/// An operator on elements of `room` bytes. The first byte of an element is its number of used
/// bytes.
inline Operator short_elements(Bytes room) {
    Operator made;
    made.name = "short";
    made.element = {"short element", room};
    made.used = [](const std::byte* element) { return std::to_integer<Bytes>(*element); };
    made.fold = [room](FoldFunction::Sources sources, std::byte* to, Elements elements) {
        std::copy_n(sources.back(), elements * room, to);
    };
    return made;
}

/// Each rank sends an element of its own length to the next rank, which copies it.
inline void short_elements_are_sent_without_padding(const Communicator& communicator) {
    constexpr Bytes room = 200;
    constexpr std::byte beyond{0xee};
    const int rank = communicator.rank(), ranks = communicator.size();
    const auto length_at = [](int of) { return 1 + 17 * of; };
    ProgramBuilder builder;
    const Region input = builder.input(1), came = builder.scratch(1), output = builder.output(1);
    builder.send((rank + 1) % ranks, input);
    builder.receive((rank + ranks - 1) % ranks, came);
    builder.copy(output, came);
    Execution execution(communicator, builder.finish(output), short_elements(room));
    std::vector<std::byte> element(room, beyond);
    element[0] = static_cast<std::byte>(length_at(rank));
    execution.bind(0, std::span<const std::byte>(element));
    for (int run = 0; run < 2; ++run) {
        execution.run();
        const int length = length_at((rank + ranks - 1) % ranks);
        const auto result = execution.result();
        EXPECT_EQ(result[0], static_cast<std::byte>(length));
        EXPECT_TRUE(std::all_of(result.begin() + 1, result.begin() + length,
                                [](std::byte byte) { return byte == beyond; }));
        EXPECT_TRUE(std::all_of(result.begin() + length, result.end(), [](std::byte byte) {
            return byte == std::byte{0};
        })) << "more than the used bytes were sent";
    }
}

} // namespace sextant::test
