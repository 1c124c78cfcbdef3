// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace sextant::simulate {

/// A host that takes ranks, and who says so: "rows.txt: line 3".
struct OrderedHost {
    std::string name;
    std::string named_by = "the order";
};

/// The hosts that a file names, one a line, each once; '#' begins a comment. Throws InvalidFile
/// naming file, line and value.
std::vector<OrderedHost> read_order(const std::string& path);

} // namespace sextant::simulate
