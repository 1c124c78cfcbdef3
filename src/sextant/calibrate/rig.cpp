// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/calibrate/rig.hpp"

#include <algorithm>
#include <cstring>
#include <random>
#include <stdexcept>

#include <sched.h>
#include <sys/resource.h>

namespace sextant::calibrate {

namespace {

/// What a rank tells the other of a burst.
struct Report {
    std::array<Seconds, Rig::most_samples> seconds = {};
    std::array<bool, Rig::most_samples> disturbed = {};
    Seconds elapsed = 0;
};

/// How often the kernel took the processor from this thread for another.
long times_interrupted() {
    rusage usage{};
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nivcsw;
}

struct BurstLength {
    int warm_up, samples;
};

/// Long repetitions are fewer, or one cell would use up the time of all.
BurstLength length_of(Seconds repetition) {
    if (repetition < 2e-4)
        return {2, Rig::most_samples};
    return repetition < 2e-2 ? BurstLength{2, 4} : BurstLength{1, 2};
}

/// Has this thread run on a core of its own, one of those it may run on; later it may be moved. Two
/// that wait for each other on one core, which happens while others are busy, would measure how
/// long the kernel lets one wait.
void go_to_own_core(int number) {
    cpu_set_t allowed, own;
    CPU_ZERO(&allowed);
    CPU_ZERO(&own);
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) < 2)
        return;
    const int wanted = number % CPU_COUNT(&allowed);
    int core = 0;
    for (int before = -1; core < CPU_SETSIZE; ++core) {
        if (CPU_ISSET(core, &allowed) && ++before == wanted)
            break;
    }
    CPU_SET(core, &own);
    sched_setaffinity(0, sizeof own, &own);
    sched_setaffinity(0, sizeof allowed, &allowed);
}

/// How long a repetition may take, at a gigabyte a second, before one was timed.
Seconds guess(const Cell& cell) {
    constexpr Bytes pixel = 16;
    return 1e-9 * static_cast<double>(cell.bytes + cell.elements * cell.operands * pixel);
}

/// Adds the contiguous pieces of a region of a buffer.
void add_blocks(std::vector<std::span<std::byte>>& blocks, std::span<std::byte> buffer,
                const Region& region, Bytes element) {
    for (Elements i = 0; i < region.count; ++i) {
        const Elements first = region.offset + i * region.stride;
        blocks.push_back(buffer.subspan(static_cast<std::size_t>(first * element),
                                        static_cast<std::size_t>(region.length * element)));
    }
}

} // namespace

Rig::Rig(Communicator communicator, Bytes memory, int first_core)
    : communicator_(std::move(communicator)),
      first_core_(first_core),
      memory_(communicator_.memory(memory)) {
    if (communicator_.size() != 2)
        throw std::logic_error("a rig needs two ranks");
    exchange({}, {});
}

/// With numbers that are neither zero nor denormal in any format, and depths in any order.
void Rig::fill_up_to(Bytes bytes) {
    constexpr Bytes first = Bytes{1} << 20; // more of the same from there on
    std::minstd_rand random(1);
    for (; filled_ < std::min(first, memory_.size()); filled_ += 4) {
        const std::uint32_t word =
            0x38003800u | (static_cast<std::uint32_t>(random()) & 0x00ff00ffu);
        std::memcpy(memory_.data() + filled_, &word, sizeof word);
    }
    for (; filled_ < bytes; filled_ += first) {
        const Bytes size = std::min(first, memory_.size() - filled_);
        std::memcpy(memory_.data() + filled_, memory_.data(), static_cast<std::size_t>(size));
    }
}

Execution Rig::bound(const Timed& what, const Program& program, Prepared& prepared) {
    constexpr Bytes page = 4096;
    Execution run(communicator_, program, what.op, {}, what.kernels);
    Bytes offset = 0;
    for (std::size_t b = 0; b < program.buffers.size(); ++b) {
        const Bytes size = program.buffers[b].size * what.op.element.size;
        const std::span<std::byte> place(memory_.data() + offset, static_cast<std::size_t>(size));
        offset += (size + page - 1) / page * page;
        if (offset > memory_.size())
            throw std::logic_error("a cell that needs more memory than the rig has");
        run.bind(static_cast<int>(b), place);
        for (const Region& region : what.fresh) {
            if (region.buffer == static_cast<int>(b))
                add_blocks(prepared.fresh, place, region, what.op.element.size);
        }
    }
    fill_up_to(offset);
    return run;
}

Rig::Prepared& Rig::prepare(const Cell& cell) {
    const auto [found, added] = prepared_.try_emplace(cell);
    Prepared& prepared = found->second;
    if (added) {
        const Timed what = timed(cell, communicator_.rank());
        prepared.repeats = what.repeats;
        prepared.last = guess(cell) * what.repeats;
        for (const Program& program : what.programs)
            prepared.runs.push_back(bound(what, program, prepared));
    }
    return prepared;
}

Seconds Rig::time(Execution& run, const Prepared& prepared) {
    if (communicator_.rank() == 0) {
        for (const std::span<std::byte> memory : prepared.fresh)
            write_anew(memory);
    }
    const auto begin = Clock::now();
    run.run();
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Everyone's samples; ends a burst for both ranks at a time.
std::vector<Sample> Rig::exchange(std::span<const Seconds> mine, std::span<const bool> disturbed) {
    Report report;
    std::copy(mine.begin(), mine.end(), report.seconds.begin());
    std::copy(disturbed.begin(), disturbed.end(), report.disturbed.begin());
    report.elapsed = std::chrono::duration<double>(Clock::now() - begin_).count();
    const std::vector<Report> both = communicator_.all_gather(report);
    elapsed_ = both[0].elapsed;
    std::vector<Sample> samples(mine.size());
    for (std::size_t i = 0; i < samples.size(); ++i) {
        samples[i] = {{both[0].seconds[i], both[1].seconds[i]},
                      both[0].disturbed[i] || both[1].disturbed[i]};
    }
    return samples;
}

std::vector<Sample> Rig::burst(const Cell& cell) {
    Prepared& prepared = prepare(cell);
    go_to_own_core(first_core_ + communicator_.rank());
    const auto [warm_up, samples] = length_of(prepared.last);
    std::array<Seconds, most_samples> seconds = {};
    std::array<bool, most_samples> disturbed = {};
    for (int i = -warm_up; i < samples; ++i) {
        const long before = times_interrupted();
        Seconds took = time(prepared.runs.back(), prepared);
        if (prepared.runs.size() == 2)
            took -= time(prepared.runs.front(), prepared);
        if (i < 0)
            continue;
        seconds[static_cast<std::size_t>(i)] = took / prepared.repeats;
        disturbed[static_cast<std::size_t>(i)] = times_interrupted() != before;
    }
    const auto count = static_cast<std::size_t>(samples);
    std::vector<Sample> taken =
        exchange(std::span(seconds).first(count), std::span<const bool>(disturbed).first(count));
    prepared.last = taken.front().seconds[0] * prepared.repeats; // the same on both ranks
    return taken;
}

} // namespace sextant::calibrate
