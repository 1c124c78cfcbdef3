// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace sextant::test {

/// The folder of the project, with the machines, platforms and examples that tests read.
std::string source_dir();

} // namespace sextant::test
