// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/schedule/builder.hpp"

#include <optional>
#include <vector>

#include "tests/support/random.hpp"

namespace sextant::test {

/// A random region of `elements` elements in a buffer, often strided; nothing if it does not fit.
inline std::optional<Region> random_region(Random& random, const Region& buffer,
                                           Elements elements) {
    Elements runs = random.chance(50) ? 1 : random.between(1, elements);
    while (elements % runs != 0)
        --runs;
    const Elements length = elements / runs;
    const Elements stride = length + random.between(0, 3);
    const Elements span = (runs - 1) * stride + length;
    if (span > buffer.length)
        return std::nullopt;
    return Region{buffer.buffer, random.between(0, buffer.length - span), length, stride, runs};
}

/// Random steps of one rank on three small buffers: strided regions, messages of several regions,
/// folds in place and into other buffers. Meaningless, but with many conflicts.
class RandomProgram {
  public:
    explicit RandomProgram(Random& random) : random_(random) {
        buffers_ = {builder_.in_out(16), builder_.scratch(16), builder_.input(8)};
    }

    Program make(int steps, int rounds, int window) {
        builder_.window(window);
        for (int i = 0; i < steps; ++i) {
            builder_.round(random_.number(0, rounds - 1));
            if (random_.chance(50))
                message();
            else
                work();
        }
        const auto result = region(writable(), 5);
        return builder_.finish(result ? *result : buffers_[0]);
    }

  private:
    const Region& writable() { return buffers_[random_.index(2)]; }
    const Region& any() { return buffers_[random_.index(3)]; }
    std::optional<Region> region(const Region& buffer, Elements most) {
        return random_region(random_, buffer, random_.between(1, most));
    }

    void message() {
        const bool sends = random_.chance(50);
        std::vector<Region> regions;
        for (int k = random_.number(1, 2); k > 0; --k) {
            const auto one = region(sends ? any() : writable(), 6);
            const bool twice = !sends && one && !regions.empty() && overlap(*one, regions[0]);
            if (one && !twice)
                regions.push_back(*one);
        }
        if (sends)
            builder_.send(random_.number(1, 3), regions);
        else
            builder_.receive(random_.number(1, 3), regions);
    }

    void work() {
        const auto to = region(writable(), 6);
        if (!to)
            return;
        std::vector<Region> operands;
        for (int k = random_.number(1, 3); k > 0; --k) {
            const auto operand = random_region(random_, any(), to->elements());
            if (operand && (*operand == *to || !overlap(*operand, *to)))
                operands.push_back(*operand);
        }
        if (random_.chance(50))
            operands.push_back(*to);
        if (!operands.empty())
            builder_.fold(*to, operands);
    }

    Random& random_;
    ProgramBuilder builder_;
    std::vector<Region> buffers_;
};

} // namespace sextant::test
