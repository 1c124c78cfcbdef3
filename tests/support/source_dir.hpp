// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace sextant::test {

/// The folder of the project: where machines, platforms and examples lie that tests read.
std::string source_dir();

} // namespace sextant::test
