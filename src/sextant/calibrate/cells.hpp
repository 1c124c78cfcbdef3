// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"
#include "sextant/machine/profile.hpp"

#include <array>
#include <compare>
#include <string>
#include <vector>

namespace sextant::calibrate {

/// What is timed.
enum class Kind : std::uint8_t {
    round_trip, ///< a message there and one of a byte back
    stream,     ///< one message after another, one way: the time from one to the next
    pass,       ///< an operator once over its operands
    kernel,     ///< a kernel once: `elements` are what it makes, `operands` how much for each
    copy        ///< bytes moved within memory
};

/// One thing to time. Everything runs as a program of the executor, so that what is measured is
/// what a schedule's step costs.
struct Cell {
    Kind kind = Kind::round_trip;
    // Of messages and copies. The vocabulary has no message of no bytes: one byte stands for none.
    machine::Layout layout = machine::Layout::cc;
    machine::Strategy strategy = machine::Strategy::contiguous;
    Bytes bytes = 0;
    Bytes block = 0; ///< of a strided side; `bytes` where nothing is strided
    Bytes row = 0;   ///< from one block to the next; 0 where nothing is strided
    // Of passes, and of kernels, whose name stands for an operator's.
    std::string operator_name = {}, element = {};
    Elements elements = 0;
    int operands = 0;
    bool alone = false; ///< while the other rank rests, and leaves it the memory

    auto operator<=>(const Cell&) const = default;
};

/// From one block of a strided message to the next: the rows of an image of 1280 pixels of 16 bytes
/// lie so. Not a power of two, which would send every block to the same few lines of a cache.
inline constexpr Bytes row_bytes = 1280 * 16;
/// The most rows that a strided message has.
inline constexpr Bytes most_rows = 2048;

Cell message(Kind kind, Bytes bytes);
Cell strided(Kind kind, machine::Layout layout, machine::Strategy strategy, Bytes bytes,
             Bytes block);
Cell lent(Bytes bytes);
Cell pass(std::string operator_name, std::string element, Elements elements, int operands,
          bool alone = false);
Cell kernel_run(std::string name, std::string element, Elements elements, int operands,
                bool alone = false);
Cell copy(Bytes bytes, Bytes block);

/// The empty message there and back.
inline Cell empty_trip() {
    return message(Kind::round_trip, 1);
}

/// What states of a machine are told apart by: a message just written, long enough that moving it
/// from core to core shows beside the latency, since states differ in either.
inline Cell probe() {
    return message(Kind::round_trip, Bytes{1} << 16);
}

/// One repetition of a cell, by the clocks of the two ranks.
struct Sample {
    std::array<Seconds, 2> seconds = {};
    bool disturbed = false; ///< another program took the processor from either rank meanwhile
};

/// What times cells: two ranks of a communicator (rig.hpp), or in tests a machine whose true costs
/// are known.
class Stopwatch {
  public:
    virtual ~Stopwatch() = default;

    /// Some repetitions of a cell, one after another, after those that warm up. Collective; both
    /// ranks get the same samples.
    virtual std::vector<Sample> burst(const Cell& cell) = 0;
    /// Time since the beginning, as of the last burst: the same on both ranks.
    virtual Seconds elapsed() const = 0;
};

/// The cells to measure, the most important first: a launch that runs out of time has what any
/// model needs, then strides, then more sizes.
using Plan = std::vector<std::vector<Cell>>;

struct PlanOptions {
    bool lending = false;            ///< whether the ranks share memory
    bool work = true;                ///< operators, kernels and copies too, not only messages
    Bytes memory = Bytes{200} << 20; ///< that a cell may take on a rank
};

Plan make_plan(const PlanOptions& options);

/// A small plan for a short time: what every model needs first, then the rest by importance.
Plan make_quick_plan(const PlanOptions& options);

/// The same with the sizes of messages that an earlier launch refined.
Plan with_sizes_of(Plan plan, const machine::LinkCosts& earlier);

/// The memory that a pass needs.
Bytes memory_of_pass(const Cell& pass);

} // namespace sextant::calibrate
