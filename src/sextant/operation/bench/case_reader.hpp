// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/image.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace sextant::operation {

/// The list "cases" of a file of benchmark cases. Throws InvalidFile.
std::vector<nlohmann::json> read_cases(const std::string& path);

/// Reads one case field by field; every complaint, an InvalidFile, names file, case and field.
class CaseReader {
  public:
    using Fields = std::map<std::string, std::function<void(const nlohmann::json& value)>>;

    CaseReader(std::string path, std::size_t number) : path_(std::move(path)), number_(number) {}

    /// Gives each field of an object to its reader; what that throws as InvalidTask is of this
    /// case.
    void each_field(const nlohmann::json& object, const Fields& readers) const;
    std::int64_t whole(const char* field, const nlohmann::json& value, std::int64_t least,
                       std::int64_t most) const;
    /// Readers of "width" and "height"; keep the shape and this alive.
    Fields size_fields(ImageShape& shape) const;
    [[noreturn]] void fail(const std::string& what) const;

    const std::string& path() const { return path_; }

  private:
    const std::string path_;
    const std::size_t number_;
};

} // namespace sextant::operation
