// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/atomic_file.hpp"
#include "sextant/core/json_value.hpp"

#include <string>
#include <string_view>
#include <vector>

// What all writers of Zarr stores share.
namespace sextant::format {

/// The entries of a folder that may be removed with it: those of Zarr, if it is a store.
std::vector<std::string> replaceable_zarr_entries(const std::string& path);

/// A folder for a new store, which replaces an earlier store at `path`. Throws InvalidFile.
AtomicFolder new_zarr_store(const std::string& path);

/// The name of a unit in OME-Zarr, which is that of UDUNITS-2.
std::string ome_unit(const std::string& unit);

/// An axis in the metadata of OME-Zarr.
Json ome_axis(const std::string& name, const char* type, const std::string& unit);

/// Writes a file of the store at `path`, in the folder where it is being made. Errors name the
/// store.
void put_zarr_file(const std::string& path, const std::string& folder, const std::string& name,
                   std::string_view bytes);

/// The metadata of a group.
inline constexpr std::string_view zarr_group_text = "{\n  \"zarr_format\": 2\n}\n";

} // namespace sextant::format
