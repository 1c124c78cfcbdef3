// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/kernel/processor.hpp"

#include <hwy/highway.h>

namespace sextant::kernel {

std::vector<std::string> instruction_sets() {
    std::vector<std::string> names;
    for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) // best first
        names.emplace_back(hwy::TargetName(target));
    return names;
}

} // namespace sextant::kernel
