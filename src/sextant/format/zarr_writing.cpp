// SPDX-License-Identifier: BSD-3-Clause
#include "sextant/format/zarr_writing.hpp"

#include "sextant/core/error.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace sextant::format {

namespace {

namespace fs = std::filesystem;

bool holds_only_zarr(const fs::path& folder);

/// True for an entry of a store: metadata, chunks, arrays and groups. Folders belong to it with all
/// that is in them, or not at all.
bool belongs_to_zarr(const fs::directory_entry& entry) {
    const std::string name = entry.path().filename().string();
    const bool numbers = std::all_of(
        name.begin(), name.end(), [](unsigned char c) { return std::isdigit(c) != 0 || c == '.'; });
    std::error_code unknown;
    if (fs::is_directory(entry.symlink_status(unknown)))
        return (numbers || fs::exists(entry.path() / ".zarray", unknown) ||
                fs::exists(entry.path() / ".zgroup", unknown)) &&
               holds_only_zarr(entry.path());
    return numbers || name.starts_with(".z") || name == "zarr.json";
}

bool holds_only_zarr(const fs::path& folder) {
    std::error_code unknown;
    fs::directory_iterator entry(folder, unknown);
    for (; !unknown && entry != fs::directory_iterator(); entry.increment(unknown)) {
        if (!belongs_to_zarr(*entry))
            return false;
    }
    return !unknown;
}

} // namespace

std::vector<std::string> replaceable_zarr_entries(const std::string& path) {
    std::vector<std::string> names;
    std::error_code unknown;
    const bool store = fs::exists(fs::path(path) / ".zgroup", unknown) ||
                       fs::exists(fs::path(path) / ".zarray", unknown);
    if (!store)
        return names;
    for (fs::directory_iterator entry(path, unknown), end; !unknown && entry != end;
         entry.increment(unknown)) {
        if (belongs_to_zarr(*entry))
            names.push_back(entry->path().filename().string());
    }
    return names;
}

AtomicFolder new_zarr_store(const std::string& path) {
    const std::vector<std::string> names = replaceable_zarr_entries(path);
    const std::vector<std::string_view> entries(names.begin(), names.end());
    return {path, entries};
}

std::string ome_unit(const std::string& unit) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 7> names{
        {{"pm", "picometer"},
         {"Å", "angstrom"},
         {"nm", "nanometer"},
         {"µm", "micrometer"},
         {"mm", "millimeter"},
         {"cm", "centimeter"},
         {"m", "meter"}}};
    const auto* const row =
        std::find_if(names.begin(), names.end(), [&](auto& each) { return each.first == unit; });
    return row == names.end() ? unit : std::string(row->second);
}

Json ome_axis(const std::string& name, const char* type, const std::string& unit) {
    Json axis = {{"name", name}, {"type", type}};
    if (!unit.empty())
        axis.set("unit", unit);
    return axis;
}

void put_zarr_file(const std::string& path, const std::string& folder, const std::string& name,
                   std::string_view bytes) {
    const fs::path file = fs::path(folder) / name;
    std::error_code error;
    fs::create_directories(file.parent_path(), error);
    if (error)
        throw InvalidFile(path, "cannot be written: " + error.message());
    try {
        write_file(file.string(), bytes);
    } catch (const InvalidFile& failed) {
        throw InvalidFile(path, std::string(failed.what()).substr(failed.path().size() + 2));
    }
}

} // namespace sextant::format
