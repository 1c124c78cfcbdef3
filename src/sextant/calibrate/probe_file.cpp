// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/calibrate/probe_file.hpp"

#include "sextant/calibrate/quick_launch.hpp"
#include "sextant/calibrate/this_machine.hpp"
#include "sextant/comm/provenance.hpp"
#include "sextant/core/atomic_file.hpp"
#include "sextant/core/error.hpp"
#include "sextant/core/text_file.hpp"
#include "sextant/machine/field.hpp"
#include "sextant/machine/places.hpp"
#include "sextant/machine/profile_file.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace sextant::calibrate {

namespace {

using Json = nlohmann::ordered_json;
using FileClock = std::filesystem::file_time_type::clock;

constexpr int probe_version = 1;
constexpr std::chrono::hours most_age{30 * 24}, most_age_if_busy{1};

/// The probes of this process, by their keys.
class Remembered {
  public:
    static std::optional<machine::Profile> find(const std::string& key) {
        const std::lock_guard lock(mutex());
        const auto found = all().find(key);
        return found == all().end() ? std::nullopt : std::optional(found->second);
    }
    static void keep(const std::string& key, const machine::Profile& profile) {
        const std::lock_guard lock(mutex());
        all().insert_or_assign(key, profile);
    }

  private:
    static std::mutex& mutex() {
        static std::mutex mutex;
        return mutex;
    }
    static std::map<std::string, machine::Profile>& all() {
        static std::map<std::string, machine::Profile> all;
        return all;
    }
};

/// Short, and the same in every process (FNV-1a): machines that share a home have files of their
/// own.
std::uint32_t hash(const std::string& text) {
    std::uint32_t hash = 2166136261u;
    for (const char c : text)
        hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
    return hash;
}

/// Throws InvalidFile, whatever the file is.
machine::Profile read_probe(const std::string& path, const std::string& key) {
    constexpr Bytes most = Bytes{4} << 20;
    const std::string text = read_text(path, most);
    const machine::Field file = machine::Field::parse(text, path);
    const machine::Field probe = file.at("probe");
    probe.at("version").integer(probe_version, probe_version);
    if (probe.at("of").text() != key)
        probe.at("of").refuse(key);
    return machine::parse_profile(text, path);
}

bool is_fresh(const std::string& path, const machine::Profile& profile) {
    const auto age = FileClock::now() - std::filesystem::last_write_time(path);
    return age < (profile.state == busy ? most_age_if_busy : most_age);
}

} // namespace

std::string probe_key(const ProbedRanks& ranks) {
    const machine::Profile here = describe_machine(ranks.exchange == "threads" ? "threads" : "mpi");
    return fmt::format("{} ranks by {}; {}, {}, {} cores; {} {}; sextant {}", ranks.ranks,
                       ranks.exchange, here.host, here.topology, here.cores, here.mpi,
                       here.mpi_version, version());
}

std::string probe_path(const ProbedRanks& ranks) {
    const std::string folder = machine::probe_folder();
    if (folder.empty())
        return "";
    return (std::filesystem::path(folder) /
            fmt::format("{}-{}-{:08x}.json", ranks.exchange, ranks.ranks, hash(probe_key(ranks))))
        .string();
}

std::optional<machine::Profile> kept_probe(const ProbedRanks& ranks) {
    const std::string key = probe_key(ranks), path = probe_path(ranks);
    if (const auto known = Remembered::find(key))
        return known;
    std::error_code missing;
    if (path.empty() || !std::filesystem::is_regular_file(path, missing))
        return std::nullopt;
    try {
        const machine::Profile profile = read_probe(path, key);
        if (!is_fresh(path, profile))
            return std::nullopt;
        Remembered::keep(key, profile);
        return profile;
    } catch (const std::exception&) {
        return std::nullopt; // measured again
    }
}

void keep_probe(const ProbedRanks& ranks, const machine::Profile& profile) {
    const std::string key = probe_key(ranks), path = probe_path(ranks);
    Remembered::keep(key, profile);
    if (path.empty())
        return;
    try {
        std::filesystem::create_directories(std::filesystem::path(path).parent_path());
        Json json = Json::parse(machine::profile_text(profile));
        json["probe"] = {{"version", probe_version}, {"of", key}};
        write_file(path, json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
    } catch (const std::exception&) {
        return; // the next process measures again
    }
}

} // namespace sextant::calibrate
