// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace sextant::kernel {

/// The instruction sets that the kernels are compiled for and this processor has, best first, as
/// Highway names them. Kernels take the first.
std::vector<std::string> instruction_sets();

} // namespace sextant::kernel
