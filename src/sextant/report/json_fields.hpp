// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json_fwd.hpp>

namespace sextant::report {

/// Takes fields of one JSON object of a file. What is not there, or not as it should be, throws
/// InvalidFile: "run.json: event 7: args: round: -1, expected 0 to 4".
class JsonFields {
  public:
    /// `where` in the file the object stands. Keep the object and the path alive.
    JsonFields(const nlohmann::json& object, const std::string& path, std::string where);

    double number(const char* field) const; ///< finite
    std::int64_t integer(const char* field, std::int64_t least, std::int64_t most) const;
    bool truth(const char* field) const;
    std::string text(const char* field) const;

    /// Says what else is wrong with the object.
    [[noreturn]] void fail(const std::string& what) const;

  private:
    const nlohmann::json& object_;
    const std::string& path_;
    const std::string where_;
};

} // namespace sextant::report
