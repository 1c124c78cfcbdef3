// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/calibrate/cells.hpp"

#include "sextant/calibrate/kernels.hpp"
#include "sextant/kernel/fold/catalogue.hpp"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <set>
#include <stdexcept>
#include <utility>

namespace sextant::calibrate {

Cell message(Kind kind, Bytes bytes) {
    return {.kind = kind, .bytes = bytes, .block = bytes};
}

Cell strided(Kind kind, machine::Layout layout, machine::Strategy strategy, Bytes bytes,
             Bytes block) {
    return {.kind = kind,
            .layout = layout,
            .strategy = strategy,
            .bytes = bytes,
            .block = block,
            .row = layout == machine::Layout::cc ? 0 : row_bytes};
}

Cell lent(Bytes bytes) {
    return {.kind = Kind::round_trip,
            .strategy = machine::Strategy::lending,
            .bytes = bytes,
            .block = bytes};
}

Cell pass(std::string operator_name, std::string element, Elements elements, int operands,
          bool alone) {
    return {.kind = Kind::pass,
            .operator_name = std::move(operator_name),
            .element = std::move(element),
            .elements = elements,
            .operands = operands,
            .alone = alone};
}

Cell kernel_run(std::string name, std::string element, Elements elements, int operands,
                bool alone) {
    Cell run = pass(std::move(name), std::move(element), elements, operands, alone);
    run.kind = Kind::kernel;
    return run;
}

Cell copy(Bytes bytes, Bytes block) {
    return {
        .kind = Kind::copy, .bytes = bytes, .block = block, .row = block == bytes ? 0 : row_bytes};
}

Seconds first_guess(const Cell& cell) {
    constexpr Bytes pixel = 16;
    return 1e-9 * static_cast<double>(cell.bytes + cell.elements * cell.operands * pixel);
}

namespace {

using machine::Layout;
using machine::Strategy;

constexpr Layout strided_layouts[] = {Layout::cn, Layout::nc, Layout::nn};

void add_messages(std::vector<Cell>& cells, Kind kind, std::initializer_list<Bytes> sizes) {
    for (const Bytes bytes : sizes)
        cells.push_back(message(kind, bytes));
}

void add_strided(std::vector<Cell>& cells, Kind kind, Strategy strategy,
                 std::initializer_list<Bytes> blocks, std::initializer_list<Bytes> sizes) {
    for (const Bytes block : blocks) {
        for (const Bytes bytes : sizes) {
            if (bytes < 2 * block || bytes > most_rows * block)
                continue;
            for (const Layout layout : strided_layouts)
                cells.push_back(strided(kind, layout, strategy, bytes, block));
        }
    }
}

void add_messages(CellLevels& levels) {
    using enum Kind;
    add_messages(levels[0], round_trip,
                 {1, 64, kibi, 4 * kibi, 16 * kibi, 64 * kibi, 256 * kibi, mebi});
    add_messages(levels[0], stream, {1, kibi, 16 * kibi, 256 * kibi});
    add_messages(
        levels[1], round_trip,
        {16, 256, 512, 2 * kibi, 8 * kibi, 32 * kibi, 128 * kibi, 512 * kibi, 2 * mebi, 4 * mebi});
    add_messages(levels[1], stream, {64, 4 * kibi, 64 * kibi, mebi, 4 * mebi});
    add_messages(levels[2], round_trip, {8 * mebi, 16 * mebi, 32 * mebi});
    add_messages(levels[2], stream,
                 {256, 2 * kibi, 8 * kibi, 32 * kibi, 128 * kibi, 512 * kibi, 16 * mebi});
}

void add_strided(CellLevels& levels) {
    add_strided(levels[1], Kind::round_trip, Strategy::datatype, {64, kibi}, {4 * kibi, 64 * kibi});
    add_strided(levels[1], Kind::stream, Strategy::datatype, {64, kibi}, {64 * kibi});
    add_strided(levels[2], Kind::round_trip, Strategy::datatype,
                {16, 64, 256, kibi, 4 * kibi, 16 * kibi}, {kibi, 16 * kibi, 256 * kibi, 4 * mebi});
    add_strided(levels[2], Kind::stream, Strategy::datatype, {16, 4 * kibi}, {4 * kibi, mebi});
    add_strided(levels[3], Kind::round_trip, Strategy::packing, {16, 256, 4 * kibi},
                {4 * kibi, 32 * kibi, mebi});
    add_strided(levels[3], Kind::stream, Strategy::packing, {16, 4 * kibi}, {32 * kibi});
}

/// Adds passes of `over`, for each size and number of operands.
void add_over(std::vector<Cell>& cells, std::initializer_list<Elements> sizes,
              std::initializer_list<int> operands, bool alone = false) {
    for (const Elements elements : sizes) {
        for (const int k : operands)
            cells.push_back(pass("over", "f32", elements, k, alone));
    }
}

void add_over(CellLevels& levels) {
    add_over(levels[0], {1, 256, 4 * kibi, 64 * kibi}, {2, 8});
    add_over(levels[1], {1, 256, 4 * kibi, 64 * kibi}, {3, 4});
    add_over(levels[1], {16, 64, kibi, 16 * kibi, 256 * kibi}, {2, 8});
    add_over(levels[1], {1, 16 * kibi, 64 * kibi, 256 * kibi, mebi}, {2}, true);
    add_over(levels[2], {16 * kibi, 32 * kibi, 128 * kibi, 256 * kibi, mebi}, {2, 3, 4, 8});
    add_over(levels[2], {32 * kibi, 128 * kibi, 512 * kibi, 2 * mebi, 4 * mebi}, {2}, true);
    add_over(levels[3], {512 * kibi, 2 * mebi, 4 * mebi}, {2, 3, 4, 8});
}

/// Adds exchanges, and folds of the same sizes. The time to start a run is derived from the
/// smallest exchange; from the larger ones, the costs of zero-copy messages with `lending`, and
/// otherwise the time that a send takes from the sender's own receive.
void add_exchanges(std::vector<Cell>& cells, bool lending) {
    constexpr Bytes pixel = 16;
    const std::vector<Elements> sizes =
        lending ? std::vector<Elements>{1,          64,         kibi,      4 * kibi,
                                        8 * kibi,   16 * kibi,  32 * kibi, 64 * kibi,
                                        128 * kibi, 256 * kibi, 512 * kibi}
                : std::vector<Elements>{1,         64,        256,        kibi,      4 * kibi,
                                        16 * kibi, 64 * kibi, 128 * kibi, 256 * kibi};
    for (const Elements pixels : sizes) {
        cells.push_back(lent(pixels * pixel));
        cells.push_back(pass("over", "f32", pixels, 2));
    }
}

/// Adds, for each operator except `over` on f32, the smallest pass, and larger passes to
/// extrapolate from.
void add_other_operators(std::vector<Cell>& cells) {
    for (const kernel::Family& family : kernel::catalogue()) {
        for (const Operator& op : family.operators) {
            const std::string name(family.name), element(channels(op.element));
            if (name == "over" && element == "f32")
                continue;
            for (const Elements elements : {Elements{1}, 4 * kibi, 128 * kibi})
                cells.push_back(pass(name, element, elements, 2));
            cells.push_back(pass(name, element, 4 * kibi, 8));
        }
    }
}

/// Adds runs of each kernel that are `times` as large as its smallest one. Extrapolating the cost
/// of a kernel needs two sizes.
void add_kernels(std::vector<Cell>& cells, std::initializer_list<Elements> times) {
    for (const TimedKernel& kernel : timed_kernels()) {
        for (const int operands : kernel.operands()) {
            for (const Elements size : times) {
                for (const bool alone : {false, true}) {
                    if (!alone || kernel.alone)
                        cells.push_back(kernel_run(std::string(kernel.name),
                                                   std::string(kernel.element),
                                                   size * kernel.smallest, operands, alone));
                }
            }
        }
    }
}

void add_whole_copies(std::vector<Cell>& cells) {
    for (const Bytes bytes : {4 * kibi, 64 * kibi, 256 * kibi, mebi})
        cells.push_back(copy(bytes, bytes));
}

void add_copies(CellLevels& levels) {
    add_whole_copies(levels[1]);
    for (const Bytes block : {Bytes{16}, Bytes{64}, Bytes{256}, kibi, 4 * kibi, 16 * kibi})
        levels[2].push_back(copy(std::min(256 * kibi, most_rows * block), block));
}

/// Keeps the first occurrence of each cell, and drops cells that need too much memory. Folds of
/// messages that were received are in place; folds of zero-copy messages are not.
void tidy(CellLevels& levels, const CellOptions& options) {
    std::set<Cell> seen;
    for (std::vector<Cell>& level : levels) {
        for (Cell& cell : level)
            cell.in_place =
                !options.lending && (cell.kind == Kind::pass || cell.strategy == Strategy::lending);
        std::erase_if(level, [&](const Cell& cell) {
            if (cell.kind == Kind::pass && (cell.operands + 1) * cell.elements >
                                               options.memory / operator_of(cell).element.size)
                return true;
            return !seen.insert(cell).second;
        });
    }
}

} // namespace

CellLevels make_cells(const CellOptions& options) {
    CellLevels levels(4);
    add_messages(levels);
    add_strided(levels);
    add_exchanges(levels[0], options.lending);
    if (options.work) {
        add_over(levels);
        add_other_operators(levels[2]);
        add_kernels(levels[0], {1, 4});
        add_kernels(levels[2], {32});
        add_kernels(levels[3], {128});
        add_copies(levels);
    }
    tidy(levels, options);
    return levels;
}

CellLevels make_quick_cells(const CellOptions& options) {
    CellLevels levels(4);
    // A few milliseconds.
    add_messages(levels[0], Kind::round_trip, {1, 64 * kibi});
    add_over(levels[0], {1, 16 * kibi, 64 * kibi}, {2});
    levels[0].push_back(lent(16));
    if (options.lending)
        levels[0].push_back(lent(256 * kibi));
    add_exchanges(levels[1], options.lending);
    add_over(levels[1], {kibi, 256 * kibi}, {2});
    add_messages(levels[1], Kind::round_trip, {4 * kibi, mebi});
    add_messages(levels[1], Kind::stream, {1, 4 * kibi, 64 * kibi});
    add_messages(levels[1], Kind::round_trip, {kibi, 16 * kibi, 256 * kibi, 4 * mebi});
    add_messages(levels[1], Kind::stream, {16 * kibi, mebi, 4 * mebi});
    if (options.work) {
        add_over(levels[1], {1, kibi, 16 * kibi, 64 * kibi, 256 * kibi}, {8});
        add_over(levels[1], {64 * kibi, 512 * kibi, 1536 * kibi}, {2});
        add_over(levels[1], {64 * kibi, 512 * kibi, 1536 * kibi}, {2}, true);
        add_whole_copies(levels[1]);
        add_over(levels[2], {1, 4 * kibi, 64 * kibi}, {4});
        add_other_operators(levels[2]);
        add_kernels(levels[2], {1, 4});
        for (const Bytes block : {Bytes{64}, kibi, 16 * kibi})
            levels[2].push_back(copy(std::min(256 * kibi, most_rows * block), block));
    }
    add_messages(levels[3], Kind::round_trip,
                 {64, 256, 2 * kibi, 8 * kibi, 32 * kibi, 128 * kibi, 512 * kibi, 2 * mebi});
    tidy(levels, options);
    return levels;
}

CellLevels with_sizes_of(CellLevels levels, const machine::LinkCosts& earlier) {
    std::set<Cell> planned;
    for (const std::vector<Cell>& level : levels)
        planned.insert(level.begin(), level.end());
    for (const machine::Curve& curve : earlier.curves) {
        if (curve.strategy == Strategy::lending)
            continue;
        for (const machine::Point& point : curve.points) {
            if (point.bytes == 0)
                continue;
            const Kind kind = curve.path == machine::Path::full ? Kind::round_trip : Kind::stream;
            const Cell cell = strided(kind, curve.layout, curve.strategy, point.bytes, point.block);
            if (planned.insert(cell).second)
                levels[curve.layout == Layout::cc ? 1 : 3].push_back(cell);
        }
    }
    return levels;
}

const Operator& operator_of(const Cell& cell) {
    for (const Operator& op : kernel::find_family(cell.operator_name).operators) {
        if (channels(op.element) == cell.element)
            return op;
    }
    throw std::logic_error("the operator " + cell.operator_name + " does not support " +
                           cell.element);
}

} // namespace sextant::calibrate
