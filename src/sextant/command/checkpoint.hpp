// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/journal.hpp"
#include "sextant/registration/ledger.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace sextant::command {

/// A ledger in the files `checkpoint.0`, `checkpoint.1` ... of a folder: each rank writes one, and
/// finds what any rank wrote, also those of a run that was killed. A full disk ends a run with
/// InvalidFile; what was kept before stays.
///
/// Requires  a folder that all ranks see.
class Checkpoint : public registration::Ledger {
  public:
    /// What a run is, by name: "model" "rigid". Runs go on with one another where all of it is the
    /// same.
    using Identity = std::vector<std::pair<std::string, std::string>>;

    /// Begins, or goes on. Throws InvalidTask where the files are of another run, saying what
    /// differs.
    Checkpoint(const std::string& folder, int rank, const Identity& identity);

    std::optional<std::vector<std::byte>> find(const registration::EntryName& name) override;
    void keep(const registration::EntryName& name, std::span<const std::byte> bytes) override;
    void refresh() override;

    /// How many results there are.
    std::size_t size() const { return places_.size(); }

    /// Throws InvalidTask where the folder has a checkpoint of another run.
    static void check(const std::string& folder, const Identity& identity);
    static void remove(const std::string& folder);

  private:
    struct Place {
        std::size_t file = 0;
        RecordPlace record;
    };

    void take(std::size_t file, const std::string& path, const RecordPlace& place,
              std::span<const std::byte> record);

    std::vector<Journal> files_; ///< the first is this rank's
    std::map<registration::EntryName, Place> places_;
    std::string folder_;
};

} // namespace sextant::command
