// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/reproduce/c3_reading.hpp"

#include "sextant/collective/submachine.hpp"

namespace sextant::reproduce {

model::C3Reading as_the_c3_paper_reads(const Grid& grid) {
    return {model::Counting::paper, true, [grid](int, int group) {
                const auto m = collective::submachine_of(grid, group);
                return model::Submachine{m.column, m.row, m.columns, m.rows};
            }};
}

} // namespace sextant::reproduce
