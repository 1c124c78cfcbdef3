// SPDX-License-Identifier: BSD-3-Clause
// Solves the recurrence y(i) = a(i) y(i - 1) + b(i) in parallel. A step is the map y -> a y + b;
// composing two steps is associative but not commutative, so a scan of the steps gives every y. The
// inclusive scan gives y after each step, the exclusive scan gives y before it, and the segmented
// scan solves many recurrences, one after another in the same series, at once. Run on three ranks
// by `example_scan`, or by `mpirun -n 4 example_scan`; each rank uses two threads, which steal
// work.
#include "sextant/scan.hpp"

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <span>
#include <vector>

namespace {

struct Step {
    double a = 1, b = 0;
    double operator()(double y) const { return a * y + b; }
};

/// The step that has the effect of `left` and then `right`.
Step then(const Step& left, const Step& right) {
    return {right.a * left.a, right.a * left.b + right.b};
}

constexpr double start = .5; ///< y before the first step of each recurrence
constexpr int steps_of_a_recurrence = 7;

Step step(int i) {
    return {std::cos(i) * .9, std::sin(3. * i)};
}

/// The largest difference of a rank's results from those computed one after another.
double error_on(const sextant::Communicator& communicator) {
    const int rank = communicator.rank(), first = rank * (rank + 9) / 2; // rank + 5 steps per rank
    std::vector<Step> own;
    std::vector<std::uint8_t> starts;
    for (int i = first; i < first + rank + 5; ++i) {
        own.push_back(step(i));
        starts.push_back(i % steps_of_a_recurrence == 0);
    }
    const std::span<const Step> steps(own);
    sextant::prefix::ScanOptions options{.strategy = "reduce-then-scan", .threads = 2};

    const auto after = sextant::prefix::scan(communicator, steps, then, options);
    const auto before = sextant::prefix::exclusive_scan(communicator, steps, Step(), then, options);
    const auto each = sextant::prefix::segmented_scan(communicator, steps, starts, then, options);

    double y = start, y_of_recurrence = start, error = 0;
    for (int i = 0; i < first + rank + 5; ++i) {
        const double y_before = y;
        y = step(i)(y);
        y_of_recurrence = step(i)(i % steps_of_a_recurrence == 0 ? start : y_of_recurrence);
        if (i < first)
            continue;
        const auto at = static_cast<std::size_t>(i - first);
        for (const double difference : {after[at](start) - y, before[at](start) - y_before,
                                        each[at](start) - y_of_recurrence})
            error = std::fmax(error, std::abs(difference));
    }
    return error;
}

} // namespace

int main() {
    sextant::launch(3, [](const sextant::Communicator& communicator) {
        for (const double error : communicator.all_gather(error_on(communicator))) {
            if (communicator.rank() == 0)
                std::printf("%s\n", error < 1e-12 ? "agrees" : "DIFFERS");
        }
    });
}
