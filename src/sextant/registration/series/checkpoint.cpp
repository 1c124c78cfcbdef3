// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/registration/series/checkpoint.hpp"

#include "sextant/core/error.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include <fmt/format.h>

namespace sextant::registration {

namespace {

constexpr std::string_view prefix = "checkpoint.";

std::string path_of(const std::string& folder, int rank) {
    return (std::filesystem::path(folder) / fmt::format("{}{}", prefix, rank)).string();
}

std::string mark_of(const std::string& folder) {
    return (std::filesystem::path(folder) / fmt::format("{}failed", prefix)).string();
}

std::vector<std::string> files_in(const std::string& folder) {
    std::vector<std::string> paths;
    std::error_code unreadable;
    for (const auto& entry : std::filesystem::directory_iterator(folder, unreadable)) {
        const std::string name = entry.path().filename().string();
        const bool numbered =
            name.starts_with(prefix) && name.size() > prefix.size() &&
            name.find_first_not_of("0123456789", prefix.size()) == std::string::npos;
        if (numbered)
            paths.push_back(entry.path().string());
    }
    std::sort(paths.begin(), paths.end());
    return paths;
}

/// Returns one line "name: value" per entry.
std::string text_of(const Checkpoint::Identity& identity) {
    std::string text;
    for (const auto& [name, value] : identity)
        text += fmt::format("{}: {}\n", name, value);
    return text;
}

/// Returns the value of an entry in the text of an identity.
std::string value_in(const std::string& text, const std::string& name) {
    const std::string line = "\n" + name + ": ";
    const std::size_t at = ("\n" + text).find(line);
    if (at == std::string::npos)
        return "not stated";
    const std::size_t begin = at + line.size() - 1;
    return text.substr(begin, text.find('\n', begin) - begin);
}

void check_file(const Journal& file, const Checkpoint::Identity& identity) {
    if (!file.text() || *file.text() == text_of(identity))
        return;
    for (const auto& [name, value] : identity) {
        const std::string theirs = value_in(*file.text(), name);
        if (theirs != value)
            throw InvalidData(
                fmt::format("{}: belongs to another run, whose {} is {}, expected {}; use "
                            "another folder, or the option restart",
                            file.path(), name, theirs, value));
    }
    throw InvalidData(fmt::format(
        "{}: belongs to another run; use another folder, or the option restart", file.path()));
}

void remove_files(const std::string& folder) {
    std::error_code in_the_way; // errors are ignored: the next run detects remaining files
    for (const std::string& path : files_in(folder))
        std::filesystem::remove(path, in_the_way);
    std::filesystem::remove(mark_of(folder), in_the_way);
}

} // namespace

std::string path_of_live_links(const std::string& folder) {
    return (std::filesystem::path(folder) / "live.links").string();
}

void Checkpoint::check(const std::string& folder, const Identity& identity) {
    for (const std::string& path : files_in(folder))
        check_file(Journal::open(path), identity);
}

void Checkpoint::remove(const std::string& folder) {
    remove_files(folder);
    std::error_code ignored;
    std::filesystem::remove(path_of_live_links(folder), ignored);
}

void Checkpoint::mark_failed(const std::string& folder) {
    if (!files_in(folder).empty())
        std::ofstream(mark_of(folder), std::ios::app);
}

bool Checkpoint::is_marked_failed(const std::string& folder) {
    std::error_code unknown;
    return std::filesystem::exists(mark_of(folder), unknown);
}

bool Checkpoint::remove_failed(const std::string& folder, const Identity& series) {
    if (!is_marked_failed(folder))
        return false;
    const auto is_of_series = [&](const std::string& path) {
        const Journal file = Journal::open(path);
        return !file.text() || std::ranges::all_of(series, [&](const auto& entry) {
            return value_in(*file.text(), entry.first) == entry.second;
        });
    };
    if (std::ranges::all_of(files_in(folder), is_of_series))
        return false;
    remove_files(folder);
    return true;
}

Checkpoint::Checkpoint(const std::string& folder, int rank, const Identity& identity)
    : folder_(folder) {
    check(folder, identity);
    std::error_code in_the_way;
    if (rank == 0)
        std::filesystem::remove(mark_of(folder), in_the_way);
    const std::string own = path_of(folder, rank);
    files_.push_back(Journal::append_to(
        own, text_of(identity), [&](const RecordPlace& place, std::span<const std::byte> record) {
            take(0, own, place, record);
        }));
    update();
}

void Checkpoint::take(std::size_t file, const std::string& path, const RecordPlace& place,
                      std::span<const std::byte> record) {
    EntryName name;
    if (record.size() < sizeof name)
        throw InvalidFile(path, "has a record without a name");
    std::memcpy(&name, record.data(), sizeof name);
    places_[name] = {file,
                     {place.position + static_cast<Bytes>(sizeof name),
                      place.size - static_cast<Bytes>(sizeof name)}};
}

/// Opens files that other ranks have created since the last call, and reads all new entries.
void Checkpoint::update() {
    for (const std::string& path : files_in(folder_)) {
        const bool is_open = std::any_of(files_.begin(), files_.end(),
                                         [&](const auto& file) { return file.path() == path; });
        if (!is_open)
            files_.push_back(Journal::open(path));
    }
    for (std::size_t file = 0; file < files_.size(); ++file) {
        files_[file].visit([&](const RecordPlace& place, std::span<const std::byte> record) {
            take(file, files_[file].path(), place, record);
        });
    }
}

std::optional<std::vector<std::byte>> Checkpoint::load(const EntryName& name) {
    const auto at = places_.find(name);
    if (at == places_.end())
        return std::nullopt;
    return files_[at->second.file].read(at->second.record);
}

void Checkpoint::store(const EntryName& name, std::span<const std::byte> bytes) {
    Packer record;
    record.add(name);
    record.add_bytes(bytes);
    const RecordPlace place = files_.front().append(record.bytes());
    places_[name] = {
        0, {place.position + static_cast<Bytes>(sizeof name), static_cast<Bytes>(bytes.size())}};
}

std::optional<std::vector<std::byte>> FieldMemory::load(const EntryName& name) {
    const auto at = fields_.find(name);
    return at == fields_.end() ? std::nullopt : std::optional(at->second);
}

void FieldMemory::store(const EntryName& name, std::span<const std::byte> bytes) {
    if (name.work != Work::field)
        return;
    kept_.add(name);
    kept_.add(std::vector(bytes.begin(), bytes.end()));
}

void FieldMemory::update() {
    const std::vector<std::byte> all = all_gather_lists(communicator_, kept_.bytes());
    if (all.empty())
        return;
    kept_ = {};
    fields_.clear();
    for (Unpacker rest(all); !rest.empty();) {
        const auto name = rest.take<EntryName>();
        fields_[name] = rest.take<std::vector<std::byte>>();
    }
}

Record compared_options(RegistrationOptions& options) {
    // The structured bindings list every member, so the build fails if a new member is not added
    // here.
    auto& [most_steps, stop, least_lead, most_rotation, most_shift, inverts] = options.rigid;
    auto& [prefilter, levels, fit] = options.nonrigid;
    auto& [fit_steps, fit_stop, reach, weak_steps, share_of_strain] = fit;
    auto& [least_brightness, most_gaps] = options.limits;
    Record record = record_of(options);
    record.add("rigid.most_steps", most_steps, "", "");
    record.add("rigid.stop", stop, "", "");
    record.add("rigid.least_lead", least_lead, "", "");
    record.add("rigid.most_rotation", most_rotation, "", "");
    record.add("rigid.inverts", inverts, "");
    record.add("nonrigid.prefilter", prefilter, "", "");
    record.add("nonrigid.levels", levels, "", "");
    record.add("nonrigid.fit.steps", fit_steps, "", "");
    record.add("nonrigid.fit.stop", fit_stop, "", "");
    record.add("nonrigid.fit.reach", reach, "", "");
    record.add("nonrigid.fit.weak_steps", weak_steps, "", "");
    record.add("nonrigid.fit.share_of_strain", share_of_strain, "", "");
    record.add("limits.least_brightness", least_brightness, "", "");
    record.add("limits.most_gaps", most_gaps, "", "");
    return record;
}

Checkpoint::Identity identity_of(const RegistrationOptions& options,
                                 std::span<const std::string_view> without) {
    RegistrationOptions listed = options;
    Record record = compared_options(listed);
    for (const std::string_view name : without) {
        (void)record[name]; // throws if there is no such field
        record.without(name);
    }
    Checkpoint::Identity identity;
    for (const Field& field : record.fields) {
        const std::string text = field.text();
        identity.emplace_back(field.name, text.empty() ? "the default" : text);
    }
    return identity;
}

std::span<const std::string_view> options_without_effect_on_checkpoints() {
    // `reproducible` and the number of ranks do affect results. They are stated in the identity as
    // the order of association.
    static constexpr std::array<std::string_view, 11> names = {
        "reproducible", "recorded_mean", "threads", "thread_work", "memory",        "checkpoint",
        "restart",      "average",       "frames",  "canvas",      "min_registered"};
    return names;
}

std::span<const std::string_view> options_without_effect_on_links() {
    // The same options as for checkpoints, plus options that only determine which pairs are
    // registered or how the links are used. Links of frames with removed shading or outliers are
    // never reused, so `flatten` and `despike` are listed too.
    static constexpr std::array<std::string_view, 19> names = {
        "model",    "reference",   "stages",    "reproducible",  "recorded_mean",
        "threads",  "thread_work", "memory",    "checkpoint",    "restart",
        "farthest", "tolerance",   "average",   "frames",        "despike",
        "flatten",  "canvas",      "scan_rows", "min_registered"};
    return names;
}

} // namespace sextant::registration
