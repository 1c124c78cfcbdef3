// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/schedule/fault.hpp"

#include <string>

#include <fmt/format.h>

namespace sextant {

std::logic_error fault(const Schedule& schedule, StepOfRank at, std::string_view what) {
    const Program& program = schedule[static_cast<std::size_t>(at.rank)];
    const Step& step = program.steps[static_cast<std::size_t>(at.step)];
    std::string peer;
    if (step.verb == Verb::send)
        peer = fmt::format(" to rank {}", step.peer);
    if (step.verb == Verb::receive)
        peer = fmt::format(" from rank {}", step.peer);
    return std::logic_error(
        fmt::format("rank {}, step {} ({}{}): {}", at.rank, at.step, name(step.verb), peer, what));
}

} // namespace sextant
