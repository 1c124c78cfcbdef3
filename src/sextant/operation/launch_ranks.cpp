// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/launch_ranks.hpp"

#include "sextant/comm/agree.hpp"
#include "sextant/comm/cores.hpp"
#include "sextant/comm/launch.hpp"
#include "sextant/comm/texts.hpp"

#include <algorithm>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace sextant::operation {

namespace {

/// The first line of a text that another has not, or "".
std::string line_beyond(const std::string& text, const std::string& other) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        if (("\n" + other).find("\n" + line + "\n") == other.npos)
            return line;
    }
    return "";
}

/// Ranks that were given other options would do other things, and wait for each other. Names of
/// files may differ: a node may keep its own.
void require_same_options(const Values& values, const Communicator& communicator) {
    if (communicator.shares_memory())
        return;
    const std::vector<std::string> all = all_gather_texts(communicator, values.settings());
    for (std::size_t rank = 1; rank < all.size(); ++rank) {
        if (const std::string more = line_beyond(all[rank], all[0]); !more.empty())
            throw AgreedFailure(
                fmt::format("rank {} was given --{}, rank 0 another or none", rank, more), true);
        if (const std::string less = line_beyond(all[0], all[rank]); !less.empty())
            throw AgreedFailure(
                fmt::format("rank 0 was given --{}, rank {} another or none", less, rank), true);
    }
}

} // namespace

void launch_ranks(const Values& values, int threads, const std::function<void(Communicator)>& body,
                  const char* option) {
    launch(threads, [&](Communicator communicator) {
        require_same_options(values, communicator);
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
