// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/operation/machines/planner_here.hpp"

#include "sextant/calibrate/quick_launch.hpp"
#include "sextant/comm/agree.hpp"
#include "sextant/comm/texts.hpp"
#include "sextant/comm/threads.hpp"
#include "sextant/machine/profile_file.hpp"
#include "sextant/operation/machines/probe_file.hpp"
#include "sextant/operation/node_sharing.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include <fmt/format.h>

namespace sextant::operation {

namespace {

using machine::Profile;
using planner::Probing;

/// Of each way to exchange; what else takes time, as to start, is about as much again.
constexpr Seconds budget = .5;

bool is_forbidden() {
    const char* said = std::getenv("SEXTANT_PROBE");
    return said && std::string_view(said) == "off";
}

bool asks_for_profile(const planner::UsualPlanner& usual) {
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
std::optional<Profile> told(const Communicator& communicator, const std::optional<Profile>& own,
                            std::string& text) {
    const bool tells = communicator.rank() == 0 && own;
    text = all_gather_texts(communicator, tells ? machine::profile_text(*own) : "").front();
    return text.empty() ? std::nullopt : std::optional(machine::parse_profile(text, "a probe"));
}

} // namespace

Parameter no_probe_parameter() {
    return {.name = "no-probe",
            .type = Type::flag,
            .help = "plan for a built-in machine if this one has no profile; do not probe it"};
}

planner::Probing probing_of(const Values& values) {
    return values.flag("no-probe") ? Probing::off : Probing::now;
}

planner::UsualPlanner planner_here(const Communicator& communicator, const std::vector<int>& nodes,
                                   const std::string& machine, planner::Probing probing) {
    planner::UsualPlanner usual;
    agree(communicator, [&] {
        usual = planner::usual_planner(reads_all(communicator, nodes) ? "threads" : "mpi", machine);
    });
    const bool open = !asks_for_profile(usual) && probing != Probing::off &&
                      communicator.size() > 1 && !is_forbidden();
    const Probing allowed = communicator.all_gather(open ? probing : Probing::off).front();
    if (allowed == Probing::off)
        return usual;
    const ProbedRanks ranks = probed_ranks(communicator, nodes);
    std::string text;
    std::optional<Profile> known =
        told(communicator, communicator.rank() == 0 ? kept_probe(ranks) : std::nullopt, text);
    if (!known && allowed == Probing::now) {
        agree(communicator, [&] { known = calibrate::measure_quickly(communicator, budget); });
        known = told(communicator, known, text);
        if (known && communicator.rank() == 0)
            keep_probe(ranks, *known);
        if (!known)
            usual.warnings.emplace_back("other programs keep this machine too busy to be probed: "
                                        "planned for a built-in one");
    }
    if (known)
        usual.planner = planner_with(std::move(*known), text);
    return usual;
}

planner::UsualPlanner planner_of(std::string_view transport, int ranks, const std::string& machine,
                                 planner::Probing probing) {
    planner::UsualPlanner usual = planner::usual_planner(transport, machine);
    if (asks_for_profile(usual) || probing == Probing::off || ranks < 2 || is_forbidden())
        return usual;
    if (transport == "threads") {
        run_threads(ranks, [&](const Communicator& communicator) {
            const planner::UsualPlanner found = planner_here(
                communicator, std::vector<int>(static_cast<std::size_t>(ranks)), machine, probing);
            if (communicator.rank() == 0)
                usual = found;
        });
    } else if (const std::optional<Profile> kept = kept_probe({"mpi", ranks})) {
        usual.planner = planner_with(*kept, machine::profile_text(*kept));
    }
    return usual;
}

} // namespace sextant::operation
