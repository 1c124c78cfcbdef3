// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/image.hpp"
#include "sextant/core/units.hpp"
#include "sextant/scan/operator_times.hpp"
#include "sextant/scan/stealing.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace sextant::command {

/// One scan benchmark; docs/bench.md describes its fields.
struct ScanCase {
    std::string name;
    Elements values = 64;
    scan::Distribution times{scan::Distribution::Kind::exponential, 2e-3};
    bool busy = false; ///< the operator computes instead of sleeping
    int ranks = 0;     ///< simulated clock: number of ranks; 0: --ranks
    std::vector<int> threads = {1};
    std::vector<scan::Boundaries> boundaries = {scan::Boundaries::fixed, scan::Boundaries::moving};
    std::vector<std::string> strategies; ///< empty: all that take so many threads
    std::vector<std::string> algorithms; ///< empty: all
    bool baselines = true;
    double neighbours = 0; ///< simulated clock: extra time of an application per preceding value
    Seconds time_limit = 0;
    /// The operator throws when it combines something with this element; 0: never. MPI's scans are
    /// skipped then, because no exception may leave their callback.
    Elements fails_at = 0;
};

/// Reads cases from a JSON file. Throws InvalidFile, naming the case, the field, the value and what
/// was expected.
std::vector<ScanCase> read_scan_cases(const std::string& path);

/// Reads recorded operator times: a JSON list of seconds. Throws InvalidFile.
std::vector<Seconds> read_times(const std::string& path);

/// The configurations that a case compares, each with its default tunings.
std::vector<scan::Way> ways_of(const ScanCase& what);

/// The list "cases" of a file of benchmark cases. Throws InvalidFile.
std::vector<nlohmann::json> read_cases(const std::string& path);

/// Reads the fields of one case; errors are InvalidFile and name file, case and field.
class CaseReader {
  public:
    using Fields = std::map<std::string, std::function<void(const nlohmann::json& value)>>;

    CaseReader(std::string path, std::size_t number) : path_(std::move(path)), number_(number) {}

    /// Calls the reader of each field of an object; turns its InvalidTask into an error of this
    /// case.
    void each_field(const nlohmann::json& object, const Fields& readers) const;
    std::int64_t whole(const char* field, const nlohmann::json& value, std::int64_t least,
                       std::int64_t most) const;
    /// Readers of "width" and "height"; `shape` and this object must outlive them.
    Fields size_fields(ImageShape& shape) const;
    [[noreturn]] void fail(const std::string& what) const;

    const std::string& path() const { return path_; }

  private:
    const std::string path_;
    const std::size_t number_;
};

} // namespace sextant::command
