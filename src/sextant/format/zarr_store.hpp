// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/array/frame_source.hpp"
#include "sextant/format/checks.hpp"
#include "sextant/format/zarr_array.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace sextant::format {

/// A folder of Zarr arrays. Its files are read only if they are in this folder after symbolic links
/// are resolved, unless other files are allowed.
class ZarrStore {
  public:
    /// Throws InvalidFile if `path` is not a folder.
    ZarrStore(const std::string& path, bool allow_external);

    const std::string& path() const { return path_; }
    /// The path of a file or folder of the store.
    std::string path_of(const std::string& name) const;
    /// True if there is a file or folder of this name. Throws InvalidFile if it may not be read, or
    /// if it is a symbolic link to a missing file.
    bool has(const std::string& name) const;

  private:
    void refuse_broken_links(std::filesystem::path path) const;

    std::string path_;
    std::filesystem::path root_; ///< the folder after symbolic links are resolved
    bool allow_external_;
};

/// An array of a store, with its metadata by OME-Zarr if there are any.
struct ZarrSeries {
    std::string name; ///< the array's folder in the store; "" for the store itself
    ZarrArray array;
    std::string axes = {}; ///< a letter of "tczyx" per axis; empty if the axes are not named
    /// Any names of the axes, by OME-Zarr or else xarray (_ARRAY_DIMENSIONS); empty if not named.
    std::vector<std::string> names = {};
    StatedPixelSize pixel = {};      ///< of the axes y and x, else of the last two
    StatedPixelSize last_pixel = {}; ///< of the last two axes, which are read as rows and columns
    Seconds frame_interval = 0;      ///< 0 if unknown
    double slice_distance = 0;       ///< in the unit of `pixel`; 0 if unknown
    std::string remark = {};         ///< names the arrays that are not read; "" if there are none

    /// The name of a file of the array in the store.
    std::string file(const std::string& name) const;
};

/// Finds an array: `detail` names it, or a group that contains it. In a group, it is the first
/// dataset of OME-Zarr's multiscales, or else the only array, or the only one that is not an image
/// of labels, with a remark.
///
/// Throws    InvalidFile if there is no such array, if a group has several, or if metadata are
///           damaged, of Zarr version 3, or refer to a folder outside their group.
ZarrSeries find_zarr_series(const ZarrStore& store, const std::string& detail);

} // namespace sextant::format
