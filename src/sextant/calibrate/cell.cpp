// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/calibrate/cell.hpp"

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

} // namespace sextant::calibrate
