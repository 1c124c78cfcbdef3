// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/report/recording.hpp"

#include <algorithm>

namespace sextant::test {

/// Rank 0 computes and sends to rank 1, which waits, receives, folds and sends to rank 2, which
/// waits, receives and folds. Times are whole microseconds.
inline report::Recording relay() {
    constexpr Seconds us = 1e-6;
    report::Recording recording{.name = "relay", .ranks = 3, .element_size = 4, .trace = {}};
    recording.trace.events = {
        {0, 0, Activity::compute, 0, -1, 100, 0, 10 * us},
        {0, 1, Activity::send, 0, 1, 1000, 10 * us, 14 * us},
        {1, 0, Activity::receive, 0, 0, 1000, 0, 14 * us},
        {1, -1, Activity::wait, 0, -1, 0, 0, 14 * us},
        {1, 1, Activity::fold, 0, -1, 1000, 15 * us, 20 * us},
        {1, 2, Activity::send, 1, 2, 500, 20 * us, 26 * us},
        {2, 0, Activity::receive, 1, 1, 500, 0, 26 * us},
        {2, -1, Activity::wait, 0, -1, 0, 0, 26 * us},
        {2, 1, Activity::fold, 1, -1, 500, 26 * us, 30 * us},
    };
    recording.trace.duration = 30 * us;
    return recording;
}

/// Ranks that repeatedly fold and send to the next rank.
inline report::Recording ring(int ranks, int times) {
    constexpr Seconds us = 1e-6;
    report::Recording recording{.name = "ring", .ranks = ranks, .element_size = 16, .trace = {}};
    for (int rank = 0; rank < ranks; ++rank) {
        const int next = (rank + 1) % ranks, previous = (rank + ranks - 1) % ranks;
        for (int i = 0; i < times; ++i) {
            const Seconds begin = (4 * i + 0.01 * rank) * us;
            auto& events = recording.trace.events;
            events.push_back({rank, 3 * i, Activity::fold, i, -1, 64, begin, begin + us});
            events.push_back(
                {rank, 3 * i + 1, Activity::send, i, next, 64, begin + us, begin + 3 * us});
            events.push_back(
                {rank, 3 * i + 2, Activity::receive, i, previous, 64, begin + us, begin + 4 * us});
            events.push_back({rank, -1, Activity::wait, 0, -1, 0, begin + us, begin + 4 * us});
        }
    }
    for (const Event& event : recording.trace.events)
        recording.trace.duration = std::max(recording.trace.duration, event.end);
    return recording;
}

} // namespace sextant::test
