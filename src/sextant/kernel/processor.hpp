// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace sextant::kernel {

/// The instruction sets, by Highway's names, that kernels are compiled for and this processor
/// supports, best first. Kernels use the first one.
std::vector<std::string> instruction_sets();

} // namespace sextant::kernel
