// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/machine/file_costs.hpp"

#include "sextant/machine/interpolate.hpp"

namespace sextant::machine {

namespace {

std::optional<Seconds> moving(const Work* work, Bytes bytes, bool alone) {
    if (!work || bytes == 0)
        return work ? std::optional(0.0) : std::nullopt;
    const auto& passes = alone && !work->alone.empty() ? work->alone : work->passes;
    if (passes.empty())
        return work->seconds_per_element->median * static_cast<double>(bytes);
    return at_pass(passes, bytes, 1).median;
}

} // namespace

FileCosts::FileCosts(const Profile& machine)
    : read_(machine.find_kernel("read-file", "u8")),
      write_(machine.find_kernel("write-file", "u8")) {}

std::optional<Seconds> FileCosts::reading(Bytes bytes, bool alone) const {
    return moving(read_, bytes, alone);
}

std::optional<Seconds> FileCosts::writing(Bytes bytes, bool alone) const {
    return moving(write_, bytes, alone);
}

} // namespace sextant::machine
