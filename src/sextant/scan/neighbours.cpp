// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/scan/neighbours.hpp"

#include <algorithm>
#include <functional>
#include <queue>

namespace sextant::scan {

std::vector<Seconds> neighbours_done(const Series& series, int threads, double factor,
                                     const OperatorTime& time) {
    std::vector<Seconds> starts;
    Elements value = 0;
    for (const Elements own : series) {
        std::priority_queue<Seconds, std::vector<Seconds>, std::greater<>> free;
        for (int thread = 0; thread < threads; ++thread)
            free.push(0);
        Seconds last = 0;
        for (Elements i = 0; i < own; ++i, ++value) {
            const Seconds begin = free.top();
            free.pop();
            const Seconds takes =
                value == 0 || factor == 0 ? 0 : factor * time({value - 1, value, value + 1});
            free.push(begin + takes);
            last = std::max(last, begin + takes);
        }
        starts.push_back(last);
    }
    return starts;
}

} // namespace sextant::scan
