// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace sextant::kernel {

/// The instruction sets that kernels are compiled for and this processor supports, best first, by
/// Highway's names. Kernels use the first.
std::vector<std::string> instruction_sets();

} // namespace sextant::kernel
