// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/kernel/label/labels.hpp"

namespace sextant::kernel {

/// A row whose pixels take the labels of the runs that they are in.
struct LabelRow {
    const std::uint64_t* inside; ///< bits: not the background
    const std::uint64_t* starts; ///< bits: the first pixel of a run
    const Label* labels;         ///< of the row's runs, from [1] on; readable up to [16] past them
    Label* to;
    Elements width;
    bool stream; ///< write past the caches: `to` is aligned to `stream_alignment`
};

void write_labels(const LabelRow& row);

} // namespace sextant::kernel
