// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/calibrate/planner_here.hpp"

#include "sextant/calibrate/probe_file.hpp"
#include "sextant/calibrate/quick_launch.hpp"
#include "sextant/comm/agree.hpp"
#include "sextant/comm/node_sharing.hpp"
#include "sextant/comm/texts.hpp"
#include "sextant/core/error.hpp"
#include "sextant/machine/profile_file.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include <fmt/format.h>

namespace sextant::calibrate {

namespace {

using machine::Profile;
using planner::Probing;

/// Of each way to exchange, of which processes may weigh two; starting takes some more.
Seconds budget_of(const Communicator& communicator) {
    return communicator.shares_memory() ? 1 : .6;
}

bool is_forbidden() {
    const char* said = std::getenv("SEXTANT_PROBE");
    return said && std::string_view(said) == "off";
}

bool has_profile(const planner::UsualPlanner& usual) {
    return !usual.path.empty();
}

ProbedRanks probed_ranks(const Communicator& communicator, const std::vector<int>& nodes) {
    const bool all = reads_all(communicator, nodes);
    const bool some = communicator.shares_nodes();
    return {communicator.shares_memory() ? "threads"
            : all                        ? "shared"
            : some                       ? "shared within nodes"
                                         : "mpi",
            communicator.size()};
}

std::string day_of(const Profile& profile) {
    return profile.origin.date.substr(0, profile.origin.date.find('T'));
}

/// One planner of each probe, so that it remembers.
std::shared_ptr<planner::Planner> planner_with(Profile profile, const std::string& text) {
    static std::mutex mutex;
    static std::map<std::string, std::shared_ptr<planner::Planner>> made;
    profile.name = fmt::format("this machine (probed on {}, provisional: sextant calibrate "
                               "measures it)",
                               day_of(profile));
    const std::lock_guard lock(mutex);
    std::shared_ptr<planner::Planner>& planner = made[text];
    if (!planner)
        planner = std::make_shared<planner::Planner>(std::move(profile));
    return planner;
}

/// Rank 0's, on all ranks; nothing where it has none.
std::optional<Profile> broadcast(const Communicator& communicator,
                                 const std::optional<Profile>& own, std::string& text) {
    const bool has = communicator.rank() == 0 && own;
    text = all_gather_texts(communicator, has ? machine::profile_text(*own) : "").front();
    return text.empty() ? std::nullopt : std::optional(machine::parse_profile(text, "a probe"));
}

/// None where the profile cannot be read: rank 0 decides.
planner::UsualPlanner readable_planner(const char* transport, const std::string& machine) {
    try {
        return planner::usual_planner(transport, machine);
    } catch (const Error&) {
        return {};
    }
}

} // namespace

planner::UsualPlanner planner_here(const Communicator& communicator, const std::vector<int>& nodes,
                                   const std::string& machine, planner::Probing probing) {
    const char* const transport = reads_all(communicator, nodes) ? "threads" : "mpi";
    planner::UsualPlanner usual;
    agree(communicator, [&] {
        if (communicator.rank() == 0)
            usual = planner::usual_planner(transport, machine);
    });
    if (communicator.rank() > 0)
        usual = readable_planner(transport, machine);
    const bool open = !has_profile(usual) && probing != Probing::off && communicator.size() > 1 &&
                      !is_forbidden();
    const Probing allowed = communicator.all_gather(open ? probing : Probing::off).front();
    if (allowed == Probing::off)
        return usual;
    const ProbedRanks ranks = probed_ranks(communicator, nodes);
    std::string text;
    std::optional<Profile> known =
        broadcast(communicator, communicator.rank() == 0 ? kept_probe(ranks) : std::nullopt, text);
    if (!known && allowed == Probing::now) {
        agree(communicator,
              [&] { known = measure_quickly(communicator, budget_of(communicator)); });
        known = broadcast(communicator, known, text);
        if (known && communicator.rank() == 0)
            keep_probe(ranks, *known);
        if (!known)
            usual.warnings.emplace_back("this machine could not be probed in a second, which other "
                                        "programs may keep busy; planned with a built-in machine");
    }
    if (known)
        usual.planner = planner_with(std::move(*known), text);
    return usual;
}

void require_planner(const planner::UsualPlanner& usual) {
    if (!usual.planner)
        throw InvalidTask("the profile that rank 0 plans with cannot be read here");
}

planner::UsualPlanner planner_of(const std::string& transport, int ranks,
                                 const std::string& machine) {
    planner::UsualPlanner usual = planner::usual_planner(transport, machine);
    if (has_profile(usual) || is_forbidden())
        return usual;
    if (const std::optional<Profile> kept = kept_probe({transport, ranks}))
        usual.planner = planner_with(*kept, machine::profile_text(*kept));
    return usual;
}

} // namespace sextant::calibrate
