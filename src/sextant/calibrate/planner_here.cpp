// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/calibrate/planner_here.hpp"

#include "sextant/calibrate/probe.hpp"
#include "sextant/calibrate/this_machine.hpp"
#include "sextant/calibrate/validation.hpp"
#include "sextant/comm/agreement.hpp"
#include "sextant/comm/communicator.hpp"
#include "sextant/comm/node_sharing.hpp"
#include "sextant/comm/provenance.hpp"
#include "sextant/core/atomic_file.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/json.hpp"
#include "sextant/core/text.hpp"
#include "sextant/machine/installation.hpp"
#include "sextant/machine/interpolate.hpp"
#include "sextant/machine/profile_file.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sextant::calibrate {

namespace {

using FileClock = std::filesystem::file_time_type::clock;

constexpr int probe_version = 4;
constexpr std::chrono::hours most_age{30 * 24}, most_age_if_busy{1};

/// The ranks and transport that a probe is valid for.
struct ProbedRanks {
    /// "threads", "mpi", or "shared" for processes that read each other's memory.
    std::string exchange;
    int ranks = 0;
};

/// A profile and the time spent on measuring it.
struct Probe {
    machine::Profile profile;
    Seconds budget = 0;
};

/// A hash that is the same in every process (FNV-1a), for file names: machines that share a home
/// directory use separate files.
std::uint32_t hash(const std::string& text) {
    std::uint32_t hash = 2166136261u;
    for (const char c : text)
        hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
    return hash;
}

/// Reads a cached probe. Throws InvalidFile if the file is not a valid probe for `key`.
Probe read_probe(const std::string& path, const std::string& key) {
    constexpr Bytes most = Bytes{4} << 20;
    const std::string text = read_text(path, most);
    const JsonField file = JsonField::parse(text, path);
    const JsonField probe = file.at("probe");
    probe.at("version").integer(probe_version, probe_version);
    if (probe.at("of").text() != key)
        probe.at("of").refuse(key);
    return {machine::parse_profile(text, path), probe.at("budget").number(0, 3600)};
}

bool is_fresh(const std::string& path, const machine::Profile& profile) {
    const auto age = FileClock::now() - std::filesystem::last_write_time(path);
    return age < (profile.state == busy ? most_age_if_busy : most_age);
}

/// Returns the conditions under which a probe is valid, as text: the ranks, the host with its
/// processor and cores, and the versions of MPI and Sextant.
std::string probe_key(const ProbedRanks& ranks) {
    const machine::Profile here = describe_machine(ranks.exchange == "threads" ? "threads" : "mpi");
    return fmt::format("{} ranks by {}; {}, {}, {} cores; {} {}; sextant {}", ranks.ranks,
                       ranks.exchange, here.host, here.topology, here.cores, here.mpi,
                       here.mpi_version, version());
}

/// The cache of the probe for some ranks: in this process, and in a file.
class ProbeCache {
  public:
    explicit ProbeCache(const ProbedRanks& ranks) : key_(probe_key(ranks)) {
        const std::string folder = machine::probe_folder();
        if (!folder.empty())
            path_ = fmt::format("{}/{}-{}-{:08x}.json", folder, ranks.exchange, ranks.ranks,
                                hash(key_));
    }

    /// The cached probe. Empty if the file is missing, damaged, from another machine or version, or
    /// too old.
    std::optional<Probe> find() const {
        const std::lock_guard lock(mutex);
        if (const auto known = probes.find(key_); known != probes.end())
            return known->second;
        std::error_code missing;
        if (path_.empty() || !std::filesystem::is_regular_file(path_, missing))
            return std::nullopt;
        try {
            const Probe probe = read_probe(path_, key_);
            if (!is_fresh(path_, probe.profile))
                return std::nullopt;
            return probes[key_] = probe;
        } catch (const std::exception&) {
            return std::nullopt; // the machine is then measured again
        }
    }

    /// Caches a probe; if its file cannot be written, for this process only.
    void keep(const Probe& probe) const {
        const std::lock_guard lock(mutex);
        probes[key_] = probe;
        if (path_.empty())
            return;
        try {
            std::filesystem::create_directories(std::filesystem::path(path_).parent_path());
            Json json = json_of(probe.profile);
            json.set("probe", {{"version", probe_version}, {"of", key_}, {"budget", probe.budget}});
            write_file(path_, json.text(1) + "\n", AtomicFile::Links::replaced);
        } catch (const std::exception&) {
            return; // other processes then measure the machine again
        }
    }

  private:
    static inline std::mutex mutex;
    static inline std::map<std::string, Probe> probes; ///< of this process, by key

    const std::string key_;
    std::string path_; ///< empty if no folder for it is known
};

using machine::Profile;
using planner::Probing;

std::string_view probe_setting() {
    const char* const value = std::getenv("SEXTANT_PROBE");
    return value ? value : "";
}

/// Returns the budget of one probe, the same on all ranks: rank 0's setting, if it is a number of
/// seconds; otherwise a tenth of the time of the work, within limits. The upper limit is lower for
/// processes, because they may probe two transports to compare them. Collective.
Seconds budget_of(const Communicator& communicator, Seconds work) {
    constexpr Seconds least = .02;
    const Seconds most = communicator.shares_memory() ? 1 : .6;
    const Seconds set = parsed_number<Seconds>(probe_setting()).value_or(0);
    return communicator.all_gather(set > 0 ? set : std::clamp(work / 10, least, most)).front();
}

bool has_profile(const planner::DefaultPlanner& usual) {
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

/// True if a profile cannot be preferred to a probe of these ranks: many of its values did not
/// converge, or it lacks the costs of ranks that take turns on cores.
bool is_poor(const Profile& profile, const std::vector<int>& nodes, bool reads_all) {
    return profile.provisional ||
           (profile.crowding.empty() && is_crowded(profile, nodes, reads_all));
}

/// How much longer messages and work take now than when a profile was measured.
struct Slowdown {
    double messages = 1, work = 1;
    /// Messages changed otherwise than work, so the profile is that of another state.
    bool uneven = false;

    bool is_any() const { return messages != 1 || work != 1; }
    std::string text() const {
        if (messages == work)
            return fmt::format("{:.2g} times as slow now", work);
        return fmt::format("messages {:.2g} and work {:.2g} times as slow now", messages, work);
    }
};

/// Returns how much slower the machine is now than when rank 0's profile was measured, in steps of
/// a factor of 1.4, which also separates states in one_state. Ranks of one node measure it, unless
/// they take turns on cores. Messages are scaled only if work changes in the same direction, as
/// with the clock of the processor. Otherwise the change is uneven: if a virtual machine moves two
/// cores to one physical core, small messages get faster and work gets slower, but large messages
/// do not change. Collective.
Slowdown slowdown_since(const Communicator& communicator, const Profile* profile,
                        const std::vector<int>& nodes, bool reads_all) {
    Cell fold = pass("over", "f32", 1 << 16, 2);
    fold.in_place = !reads_all;
    std::array<Seconds, 2> then{}; // of the round trip and the fold; 0 if unknown
    if (profile && nodes[0] == nodes[1] && !is_crowded(*profile, nodes, reads_all)) {
        const machine::Work* const over = profile->find_operator("over", "f32");
        then[0] = profile->state_probe.median;
        if (over && !over->passes.empty())
            then[1] = machine::at_pass(over->passes, fold.elements, fold.operands).median;
    }
    then = communicator.all_gather(then).front();
    if (then[0] <= 0 || then[1] <= 0)
        return {};
    constexpr int tries = 3;
    std::array<double, 2> ratios{}, steps{2, 2};
    for (int i = 0; i < tries && (steps[0] > 1 || steps[1] > 1); ++i) {
        const std::array<Seconds, 2> now{probe_state(communicator),
                                         probe_state(communicator, fold)};
        for (std::size_t k = 0; k < now.size(); ++k) { // other programs only add time
            const double ratio = now[k] / then[k];
            ratios[k] = i == 0 ? ratio : std::min(ratios[k], ratio);
            steps[k] = ratio > 0 ? std::exp2(std::trunc(2 * std::log2(ratios[k])) / 2) : 1;
        }
        steps = communicator.all_gather(steps).front();
        ratios = communicator.all_gather(ratios).front();
    }
    const bool same_direction = (ratios[0] > 1) == (ratios[1] > 1) && std::abs(ratios[1] - 1) > .1;
    return {same_direction ? steps[0] : 1, steps[1],
            !same_direction && (steps[0] != 1 || steps[1] != 1)};
}

/// Returns the planner of a profile, with times for the present state of the machine. Returns the
/// same planner each time for the same profile and state, so that its plans stay cached.
std::shared_ptr<planner::Planner> planner_with(Profile profile, const std::string& text,
                                               const Slowdown& slowdown = {}) {
    static std::mutex mutex;
    static std::map<std::string, std::shared_ptr<planner::Planner>> made;
    if (slowdown.is_any()) {
        machine::scale_times(profile, slowdown.messages, slowdown.work);
        profile.name += ", " + slowdown.text();
    }
    const std::lock_guard lock(mutex);
    std::shared_ptr<planner::Planner>& planner = made[slowdown.text() + text];
    if (!planner)
        planner = std::make_shared<planner::Planner>(std::move(profile));
    return planner;
}

/// Names the profile of a probe as plans print it.
Profile named_probe(Profile profile) {
    profile.provisional = true;
    profile.name =
        fmt::format("this machine (probed on {}, provisional: run sextant calibrate to measure it)",
                    day_of(profile));
    return profile;
}

/// Broadcasts rank 0's profile; returns nothing if rank 0 has none.
std::optional<Profile> broadcast(const Communicator& communicator,
                                 const std::optional<Profile>& own, std::string& text) {
    const bool has = communicator.rank() == 0 && own;
    text = all_gather_texts(communicator, has ? machine::profile_text(*own) : "").front();
    return text.empty() ? std::nullopt : std::optional(machine::parse_profile(text, "a probe"));
}

/// Returns a planner, or an empty result if this rank cannot read the profile, which is an error on
/// rank 0 only.
planner::DefaultPlanner readable_planner(const char* transport, const std::string& machine) {
    try {
        return planner::default_planner(transport, machine);
    } catch (const Error&) {
        return {};
    }
}

/// Warns if the profile was measured on another machine.
void warn_of_other_machine(planner::DefaultPlanner& usual) {
    if (!has_profile(usual))
        return; // the user is already warned of the built-in profile
    const Profile& profile = usual.planner->machine();
    const std::vector<std::string> found =
        differences(profile, describe_machine(profile.transport));
    if (!found.empty()) {
        usual.warnings.push_back(fmt::format(
            "{} does not describe this machine: {}; run sextant calibrate to measure it",
            usual.path, fmt::join(found, "; ")));
    }
}

} // namespace

bool may_measure(planner::Probing probing) {
    return probing != Probing::off && probe_setting() != "off";
}

planner::DefaultPlanner planner_here(const Communicator& communicator,
                                     const std::vector<int>& nodes, const std::string& machine,
                                     planner::Probing probing, Seconds work) {
    const char* const transport = reads_all(communicator, nodes) ? "threads" : "mpi";
    planner::DefaultPlanner usual;
    agree(communicator, [&] {
        if (communicator.rank() == 0)
            usual = planner::default_planner(transport, machine);
        warn_of_other_machine(usual);
    });
    if (communicator.rank() > 0)
        usual = readable_planner(transport, machine);
    const bool all = reads_all(communicator, nodes);
    // The profile that `sextant calibrate` writes by default; other profiles were asked for.
    const Profile* const calibrated =
        usual.planner && usual.path == machine::default_profile_path(transport)
            ? &usual.planner->machine()
            : nullptr;
    const bool measurable = may_measure(probing) && communicator.size() > 1;
    const bool open =
        measurable && (!has_profile(usual) || (calibrated && is_poor(*calibrated, nodes, all)));
    Probing allowed = communicator.all_gather(open ? probing : Probing::off).front();
    if (allowed == Probing::off) {
        const int measures = measurable && probing == Probing::now && calibrated ? 1 : 0;
        if (communicator.all_gather(measures).front() == 0)
            return usual;
        const Slowdown slowdown = slowdown_since(communicator, calibrated, nodes, all);
        if (!slowdown.uneven) {
            if (slowdown.is_any() && calibrated)
                usual.planner = planner_with(*calibrated, usual.path, slowdown);
            return usual;
        }
        allowed = Probing::now;
    }
    std::optional<ProbeCache> cache;
    if (communicator.rank() == 0)
        cache.emplace(probed_ranks(communicator, nodes));
    const Seconds budget = budget_of(communicator, work);
    const std::optional<Probe> kept = cache ? cache->find() : std::nullopt;
    // A probe is repeated if the work allows a much better one.
    const bool good = kept && (allowed != Probing::now || 2 * kept->budget >= budget);
    std::string text;
    std::optional<Profile> known =
        broadcast(communicator, good ? std::optional(kept->profile) : std::nullopt, text);
    Slowdown slowdown;
    if (known && allowed == Probing::now)
        slowdown = slowdown_since(communicator, &*known, nodes, all);
    if (slowdown.uneven)
        known.reset(), slowdown = {};
    if (!known && allowed == Probing::now) {
        agree(communicator, [&] { known = measure_quickly(communicator, budget); });
        known = broadcast(communicator, known, text);
        if (known && cache)
            cache->keep({*known, budget});
        if (!known)
            usual.warnings.push_back("this machine could not be probed, because a rank lacks the "
                                     "memory; planned with a built-in machine profile");
    }
    if (known) {
        usual.path.clear();
        usual.planner = planner_with(named_probe(std::move(*known)), text, slowdown);
    }
    return usual;
}

void require_planner(const planner::DefaultPlanner& usual) {
    if (!usual.planner)
        throw InvalidTask("the machine profile of rank 0 cannot be read on this rank");
}

planner::DefaultPlanner planner_of(const std::string& transport, int ranks,
                                   const std::string& machine) {
    planner::DefaultPlanner usual = planner::default_planner(transport, machine);
    if (machine.empty())
        warn_of_other_machine(usual);
    if (has_profile(usual) || !may_measure(Probing::kept))
        return usual;
    if (const std::optional<Probe> kept = ProbeCache({transport, ranks}).find())
        usual.planner =
            planner_with(named_probe(kept->profile), machine::profile_text(kept->profile));
    return usual;
}

} // namespace sextant::calibrate
