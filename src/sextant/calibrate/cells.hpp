// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/operator.hpp"
#include "sextant/core/units.hpp"
#include "sextant/machine/profile.hpp"

#include <array>
#include <compare>
#include <string>
#include <vector>

namespace sextant::calibrate {

/// The kind of operation that is timed.
enum class Kind : std::uint8_t {
    round_trip, ///< a message and its one-byte answer
    stream,     ///< the time between messages in one direction
    pass,       ///< one pass of an operator over its operands
    kernel,     ///< one run of a kernel: `elements` results of `operands` work each
    copy        ///< a copy within memory
};

/// One operation to time. Every cell runs as a program of the executor, so that the measured time
/// is that of a step in a schedule.
struct Cell {
    Kind kind = Kind::round_trip;
    // Fields of messages and copies. Schedules have no empty messages: a message of one byte
    // represents an empty one.
    machine::Layout layout = machine::Layout::cc;
    machine::Strategy strategy = machine::Strategy::contiguous;
    Bytes bytes = 0;
    Bytes block = 0; ///< block length of a strided side; `bytes` if nothing is strided
    Bytes row = 0;   ///< distance between blocks; 0 if nothing is strided
    // Fields of passes and kernels. The name of a kernel is stored in `operator_name`.
    std::string operator_name = {}, element = {};
    Elements elements = 0;
    int operands = 0;
    bool alone = false; ///< the other rank is idle and uses no memory bandwidth
    /// The result of a fold overwrites an operand, as it overwrites a message that was received.
    bool in_place = false;

    auto operator<=>(const Cell&) const = default;
};

/// The distance between blocks of a strided message: a row of 1280 pixels of 16 bytes. It is not a
/// power of two, which would map all blocks to the same few cache sets.
inline constexpr Bytes row_bytes = 1280 * 16;
/// The greatest number of rows in a strided message.
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

/// An estimate of the time of a cell that was not measured, assuming a gigabyte per second.
Seconds first_guess(const Cell& cell);

/// A round trip of an empty message.
inline Cell empty_trip() {
    return message(Kind::round_trip, 1);
}

/// The probe that identifies the state of a machine: a round trip of a freshly written message,
/// long enough that its time depends on both latency and the transfer from core to core, because
/// states may differ in either.
inline Cell probe() {
    return message(Kind::round_trip, Bytes{1} << 16);
}

/// One repetition of a cell, by the clocks of both ranks.
struct Sample {
    std::array<Seconds, 2> seconds = {};
    bool disturbed = false; ///< another program interrupted one of the ranks
};

/// Times cells: on two ranks of a communicator (rig.hpp), or in tests on a simulated machine with
/// known costs.
class Stopwatch {
  public:
    virtual ~Stopwatch() = default;

    /// Measures several repetitions of a cell after some warm-up repetitions. Collective; both
    /// ranks get the same samples.
    virtual std::vector<Sample> burst(const Cell& cell) = 0;
    /// Time from the start to the end of the last burst, the same on both ranks.
    virtual Seconds elapsed() const = 0;
};

/// The cells to measure, by level. The most important level comes first, in case the time runs out:
/// the cells that every model needs, then strided messages, then more sizes.
using CellLevels = std::vector<std::vector<Cell>>;

struct CellOptions {
    bool lending = false;            ///< ranks share memory, so messages can be zero-copy
    bool work = true;                ///< include operators, kernels and copies
    Bytes memory = Bytes{200} << 20; ///< memory limit of a cell on one rank
};

CellLevels make_cells(const CellOptions& options);

/// Returns the cells for a short measurement: first a few, from which those of the built-in machine
/// can be scaled in some milliseconds, then the others by importance.
CellLevels make_quick_cells(const CellOptions& options);

/// Adds cells with the message sizes of an earlier launch, including those that refinement added.
CellLevels with_sizes_of(CellLevels levels, const machine::LinkCosts& earlier);

/// The operator of a pass. Throws std::logic_error if it does not support the element type.
const Operator& operator_of(const Cell& pass);

} // namespace sextant::calibrate
