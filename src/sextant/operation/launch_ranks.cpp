// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/launch_ranks.hpp"

#include "sextant/comm/agree.hpp"
#include "sextant/comm/cores.hpp"
#include "sextant/comm/launch.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace sextant::operation {

void launch_ranks(const Values& values, int threads, const std::function<void(Communicator)>& body,
                  const char* option) {
    launch(threads, [&](Communicator communicator) {
        if (values.has(option) && communicator.size() != values.integer(option)) {
            throw AgreedFailure(fmt::format("--{} {} under a launcher that started {} processes; "
                                            "leave it out",
                                            option, values.integer(option), communicator.size()),
                                true);
        }
        body(std::move(communicator));
    });
}

void launch_ranks_or_cores(const Values& values, const std::function<void(Communicator)>& body,
                           const char* option) {
    int ranks = static_cast<int>(values.has(option) ? values.integer(option) : 0);
    if (ranks == 0 && detect_launcher().launcher == Launcher::none)
        ranks = std::clamp(Cores::available().count(), 1, most_threads);
    launch_ranks(values, ranks, body, option);
}

} // namespace sextant::operation
