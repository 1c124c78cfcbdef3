// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"
#include "sextant/machine/profile.hpp"

#include <compare>
#include <string>

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

} // namespace sextant::calibrate
