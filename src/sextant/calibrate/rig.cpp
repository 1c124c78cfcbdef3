// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/calibrate/rig.hpp"

#include "sextant/calibrate/kernels.hpp"
#include "sextant/comm/waiting.hpp"
#include "sextant/kernel/fold/catalogue.hpp"
#include "sextant/schedule/builder.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <stdexcept>

#include <sys/resource.h>
#include <unistd.h>

namespace sextant::calibrate {

namespace {

using machine::Layout;
using machine::Strategy;

/// An operator for messages of plain bytes.
Operator bytes_operator() {
    Operator op;
    op.name = "bytes";
    op.element = {"byte", 1};
    op.fold = FoldFunction([](FoldFunction::Sources sources, std::byte* to, Elements elements) {
        std::memmove(to, sources[0], static_cast<std::size_t>(elements));
    });
    return op;
}

bool strided_at(const Cell& cell, int rank) {
    return cell.layout == Layout::nn || cell.layout == (rank == 0 ? Layout::nc : Layout::cn);
}

/// A number of messages of this size that together exceed the caches.
int more_than_caches(Bytes bytes) {
    return static_cast<int>(std::max<Bytes>(1, 64 * mebi / bytes));
}

/// The regions of strided messages: columns of images, spread as far apart as possible, filling one
/// image after the other. If each message had its own image, the few columns that are used would
/// stay in the caches.
std::vector<Region> columns(ProgramBuilder& builder, const Cell& cell, int slots) {
    constexpr Bytes lines = 128; // bytes that caches fetch together; messages must not share them
    const Bytes narrowest = (cell.block + lines - 1) / lines * lines;
    const Bytes an_image = std::clamp<Bytes>(cell.row / narrowest, 1, slots);
    const Bytes pitch = cell.row / an_image / lines * lines;
    const Bytes images = (slots + an_image - 1) / an_image;
    const Elements rows = cell.bytes / cell.block;
    std::vector<int> buffers;
    for (Bytes i = 0; i < images; ++i) {
        const Bytes extent = (rows - 1) * cell.row + (an_image - 1) * pitch + cell.block;
        buffers.push_back(builder.in_out(extent).buffer);
    }
    std::vector<Region> places;
    for (int i = 0; i < slots; ++i) {
        const int buffer = buffers[static_cast<std::size_t>(i % images)];
        places.push_back({buffer, i / images * pitch, cell.block, cell.row, rows});
    }
    return places;
}

/// The messages of a cell on one rank: their data, and packed copies if messages are packed.
class Side {
  public:
    Side(ProgramBuilder& builder, const Cell& cell, int rank, int slots)
        : builder_(builder), packs_(false) {
        const bool strided = strided_at(cell, rank);
        packs_ = strided && cell.strategy == Strategy::packing;
        if (strided)
            lies_ = columns(builder, cell, slots);
        for (int i = 0; i < slots; ++i) {
            if (!strided)
                lies_.push_back(builder.in_out(cell.bytes));
            travels_.push_back(packs_ ? builder.in_out(cell.bytes) : lies_[place(i)]);
        }
    }

    /// The data region of each slot.
    const std::vector<Region>& data() const { return lies_; }
    /// The first byte of a slot. A step that sends or receives it depends on other steps of the
    /// slot.
    Region first(int slot) const {
        return block(lies_[place(slot)].buffer, lies_[place(slot)].offset, 1);
    }
    /// Sends the data of `slot`; if messages are packed, through the packed copy of slot `packed`.
    void send(int slot, int packed) {
        if (packs_)
            builder_.copy(travels_[place(packed)], lies_[place(slot)]);
        builder_.send(1, travels_[place(packs_ ? packed : slot)]);
    }
    void receive(int slot) {
        builder_.receive(0, travels_[place(slot)]);
        if (packs_)
            builder_.copy(lies_[place(slot)], travels_[place(slot)]);
    }

  private:
    static std::size_t place(int slot) { return static_cast<std::size_t>(slot); }

    ProgramBuilder& builder_;
    bool packs_;
    std::vector<Region> lies_, travels_;
};

/// The size of a core's own cache.
Bytes own_cache() {
    static const long size = sysconf(_SC_LEVEL2_CACHE_SIZE);
    return size > 0 ? size : mebi;
}

/// The number of round trips per run. Each has its own region, freshly written by rank 0; together
/// they stay in a core's cache, as the data of one run do.
int trips_of(const Cell& cell) {
    const Bytes bytes = cell.bytes;
    return bytes <= 4 * kibi ? 8 : bytes <= 64 * kibi ? 4 : bytes <= 256 * kibi ? 2 : 1;
}

Timed round_trips(const Cell& cell, int rank) {
    ProgramBuilder builder;
    const int trips = trips_of(cell);
    Side side(builder, cell, rank, trips);
    for (int i = 0; i < trips; ++i) {
        if (rank == 0) {
            side.send(i, i);
            builder.receive(1, side.first((i + 1) % trips));
        } else {
            side.receive(i);
            builder.send(0, side.first(i));
        }
    }
    return {{builder.finish({})},
            bytes_operator(),
            static_cast<double>(trips),
            rank == 0 ? side.data() : std::vector<Region>{}};
}

/// Builds the program of a stream. A sender that packs alternates between two packed copies, and
/// the receiver uses several regions, so that one can be filled while another is in transit.
Program stream(const Cell& cell, int rank, int messages) {
    ProgramBuilder builder;
    const Region signal = builder.in_out(1);
    if (rank == 0) {
        Side side(builder, cell, rank, cell.strategy == Strategy::packing ? 2 : 1);
        builder.receive(1, side.first(0));
        for (int i = 0; i < messages; ++i)
            side.send(0, i % 2);
        builder.receive(1, signal);
    } else {
        const int slots = std::clamp(more_than_caches(cell.bytes), 2, messages);
        Side side(builder, cell, rank, slots);
        builder.send(0, signal);
        for (int i = 0; i < messages; ++i)
            side.receive(i % slots);
        builder.send(0, side.first((messages - 1) % slots));
    }
    return builder.finish({});
}

struct StreamLengths {
    int shorter, longer;
};

StreamLengths lengths_of(Bytes bytes) {
    if (bytes <= 64 * kibi)
        return {8, 32};
    return bytes <= mebi ? StreamLengths{4, 12} : StreamLengths{2, 6};
}

/// Builds the programs of exchanges, as two ranks that composite make them: each rank sends data,
/// and folds the other's with its own; between threads, it reads the other's data in place.
/// Exchanges follow one another, because each message begins with an element of the previous
/// result. Each has its own regions: a region cannot be read in place if it is overwritten later.
Timed exchanges_of(const Cell& cell, int rank) {
    const Operator& over = kernel::find("over");
    const Elements n = cell.bytes / over.element.size;
    const int exchanges = cell.bytes < own_cache() / 16 ? 2 : 1;
    const int peer = 1 - rank;
    Timed made{{}, over, static_cast<double>(exchanges), {}};
    ProgramBuilder builder;
    // A message is the last element of the first half of a buffer, and the second half; all
    // messages have the same offset from a page.
    const auto halves = [&] { return builder.in_out(2 * n).buffer; };
    const auto message = [&](int buffer) { return block(buffer, n - 1, n + 1); };
    for (int i = 0, data = halves(); i < exchanges; ++i) {
        const int next = halves(), received = halves();
        const Region sent = block(data, n, n), theirs = block(received, n, n),
                     sum = block(next, 0, n), own = cell.in_place ? sum : builder.in_out(n);
        made.fresh.insert(made.fresh.end(), {own, sent});
        builder.send(peer, message(data));
        builder.receive(peer, message(received));
        builder.fold(sum, rank == 0 ? std::array{own, theirs} : std::array{theirs, own});
        data = next;
    }
    made.programs = {builder.finish({})};
    made.exchanges = true;
    return made;
}

/// Returns how often to repeat the work so that a run takes at least a few microseconds.
int repeats_of(Bytes bytes) {
    return static_cast<int>(std::clamp<Bytes>(64 * kibi / std::max<Bytes>(1, bytes), 1, 32));
}

Timed passes(const Cell& cell, int rank) {
    const Operator& op = operator_of(cell);
    const int repeats = repeats_of(cell.elements * op.element.size);
    ProgramBuilder builder;
    std::vector<Region> operands;
    for (int i = 0; i < cell.operands; ++i)
        operands.push_back(builder.in_out(cell.elements));
    const Region sum = cell.in_place ? operands.back() : builder.in_out(cell.elements);
    const bool rests = cell.alone && rank != 0;
    for (int i = 0; i < repeats && !rests; ++i)
        builder.fold(sum, operands);
    return {{builder.finish({})}, op, static_cast<double>(repeats), {}};
}

/// Returns an empty program, for the rank that is idle while the other works.
Timed rest() {
    return {{ProgramBuilder().finish({})}, bytes_operator(), 1, {}};
}

/// Copies freshly written data to the halves of a result in turn: as in a gather, the data and the
/// result together exceed the caches earlier than one copy does.
Timed copies(const Cell& cell) {
    const int repeats = 2 * repeats_of(cell.bytes);
    const Elements rows = cell.bytes / cell.block;
    Timed made{{}, bytes_operator(), static_cast<double>(repeats), {}};
    ProgramBuilder builder;
    const Region from = builder.input((rows - 1) * cell.row + cell.block),
                 to = builder.in_out(2 * cell.bytes);
    made.fresh.push_back(from);
    for (int i = 0; i < repeats; ++i)
        builder.copy(block(to.buffer, i % 2 * cell.bytes, cell.bytes),
                     {from.buffer, 0, cell.block, rows > 1 ? cell.row : cell.block, rows});
    made.programs = {builder.finish({})};
    return made;
}

} // namespace

Timed timed(const Cell& cell, int rank) {
    switch (cell.kind) {
    case Kind::pass:
        return passes(cell, rank);
    case Kind::kernel:
        return cell.alone && rank != 0 ? rest() : find_timed_kernel(cell.operator_name).timed(cell);
    case Kind::copy:
        return copies(cell);
    case Kind::round_trip:
        return cell.strategy == Strategy::lending ? exchanges_of(cell, rank)
                                                  : round_trips(cell, rank);
    case Kind::stream:
        break;
    }
    const auto [shorter, longer] = lengths_of(cell.bytes);
    return {{stream(cell, rank, shorter), stream(cell, rank, longer)},
            bytes_operator(),
            static_cast<double>(longer - shorter),
            {}};
}

namespace {

/// The results of a burst, which the ranks exchange.
struct Report {
    std::array<Seconds, Rig::most_samples> seconds = {};
    std::array<bool, Rig::most_samples> disturbed = {};
    Seconds elapsed = 0;
};

/// The number of involuntary context switches of this thread.
long times_interrupted() {
    rusage usage{};
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nivcsw;
}

struct BurstLength {
    int warm_up, samples;
};

/// Returns the length of a burst. Long repetitions are timed less often, so that no cell uses up
/// the time of the others.
BurstLength length_of(Seconds repetition) {
    if (repetition < 2e-4)
        return {2, Rig::most_samples};
    return repetition < 2e-2 ? BurstLength{2, 4} : BurstLength{1, 2};
}

/// Moves this thread to the allowed core with this number. Two ranks waiting for each other on one
/// core, which happens on busy machines, would measure scheduling delays.
void go_to_own_core(int number) {
    const Cores allowed = Cores::available();
    if (allowed.count() < 2)
        return;
    int core = -1;
    for (int left = number % allowed.count() + 1; left > 0; left -= allowed.has(core))
        ++core;
    move_to_core(core);
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
      usual_{communicator_.memory(memory)},
      huge_{communicator_.memory(memory)} {
    if (communicator_.size() != 2)
        throw std::logic_error("a calibration rig needs exactly two ranks");
    avoid_huge_pages(usual_.memory.bytes());
    exchange({}, {});
}

/// Fills memory with random numbers that are neither zero nor denormal in any format, so that
/// depths are in random order.
void Rig::Area::fill_up_to(Bytes bytes) {
    constexpr Bytes first = Bytes{1} << 20; // random bytes; the rest repeats them
    std::minstd_rand random(1);
    for (; filled < std::min(first, memory.size()); filled += 4) {
        const std::uint32_t word =
            0x38003800u | (static_cast<std::uint32_t>(random()) & 0x00ff00ffu);
        std::memcpy(memory.data() + filled, &word, sizeof word);
    }
    for (; filled < bytes; filled += first) {
        const Bytes size = std::min(first, memory.size() - filled);
        std::memcpy(memory.data() + filled, memory.data(), static_cast<std::size_t>(size));
    }
}

Execution Rig::bound(const Timed& what, const Program& program, PreparedSchedule& prepared) {
    constexpr Bytes page = 4096, huge_page = Bytes{2} << 20;
    Execution run(communicator_, program, what.op, {}, what.kernels);
    Bytes usual = 0, huge = 0; // bytes in use
    for (std::size_t b = 0; b < program.buffers.size(); ++b) {
        const Bytes size = program.buffers[b].size * what.op.element.size;
        Area& area = size < huge_page ? usual_ : huge_;
        Bytes& offset = size < huge_page ? usual : huge;
        const std::span<std::byte> place(area.memory.data() + offset,
                                         static_cast<std::size_t>(size));
        offset += (size + page - 1) / page * page;
        if (offset > area.memory.size())
            throw std::logic_error("a measurement needs more memory than the calibration rig has");
        run.bind(static_cast<int>(b), place);
        for (const Region& region : what.fresh) {
            if (region.buffer == static_cast<int>(b))
                add_blocks(prepared.fresh, place, region, what.op.element.size);
        }
    }
    usual_.fill_up_to(usual);
    huge_.fill_up_to(huge);
    return run;
}

Rig::PreparedSchedule& Rig::prepare(const Cell& cell) {
    const auto [found, added] = prepared_.try_emplace(cell);
    PreparedSchedule& prepared = found->second;
    if (added) {
        const Timed what = timed(cell, communicator_.rank());
        prepared.repeats = what.repeats;
        prepared.exchanges = what.exchanges;
        prepared.last = first_guess(cell) * what.repeats;
        for (const Program& program : what.programs)
            prepared.runs.push_back(bound(what, program, prepared));
    }
    return prepared;
}

Seconds Rig::time(Execution& run, const PreparedSchedule& prepared) {
    for (const std::span<std::byte> memory : prepared.fresh)
        write_anew(memory);
    if (prepared.exchanges)
        communicator_.barrier();
    const auto begin = Clock::now();
    run.run();
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Exchanges the samples of both ranks; a burst ends on both at the same time.
std::vector<Sample> Rig::exchange(std::span<const Seconds> local, std::span<const bool> disturbed) {
    Report report;
    std::copy(local.begin(), local.end(), report.seconds.begin());
    std::copy(disturbed.begin(), disturbed.end(), report.disturbed.begin());
    report.elapsed = std::chrono::duration<double>(Clock::now() - begin_).count();
    const std::vector<Report> both = communicator_.all_gather(report);
    elapsed_ = both[0].elapsed;
    std::vector<Sample> samples(local.size());
    for (std::size_t i = 0; i < samples.size(); ++i) {
        samples[i] = {{both[0].seconds[i], both[1].seconds[i]},
                      both[0].disturbed[i] || both[1].disturbed[i]};
    }
    return samples;
}

std::vector<Sample> Rig::burst(const Cell& cell) {
    PreparedSchedule& prepared = prepare(cell);
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
    if (prepared.exchanges) { // ends on the slower rank
        for (Sample& sample : taken)
            sample.seconds.fill(std::max(sample.seconds[0], sample.seconds[1]));
    }
    prepared.last = taken.front().seconds[0] * prepared.repeats; // same value on both ranks
    return taken;
}

} // namespace sextant::calibrate
