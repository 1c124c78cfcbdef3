// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/comm/communicator.hpp"
#include "sextant/core/journal.hpp"
#include "sextant/core/packing.hpp"
#include "sextant/registration/series/ledger.hpp"
#include "sextant/registration/series/records.hpp"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sextant::registration {

/// The file, in the folder of a checkpoint, of links that were made while the series was recorded
/// (live_registration.hpp).
std::string path_of_live_links(const std::string& folder);

/// A ledger stored in the files `checkpoint.0`, `checkpoint.1` ... of a folder. Each rank writes
/// one file and reads the entries of all ranks, including those of an earlier run that was killed.
/// If the disk is full, the run ends with InvalidFile; entries already written remain.
///
/// Requires  a folder visible to all ranks.
class Checkpoint : public Ledger {
  public:
    /// Names and values that describe a run, such as "model" and "rigid". A run continues an
    /// earlier one only if all of them are equal.
    using Identity = std::vector<std::pair<std::string, std::string>>;

    /// Creates or continues a checkpoint. Throws InvalidTask, naming the difference, if the files
    /// belong to another run.
    Checkpoint(const std::string& folder, int rank, const Identity& identity);

    /// The number of entries.
    std::size_t size() const { return places_.size(); }

    /// Throws InvalidTask if the folder has a checkpoint of another run.
    static void check(const std::string& folder, const Identity& identity);
    /// Also removes links that were made while the series was recorded (path_of_live_links()).
    static void remove(const std::string& folder);
    /// Marks a checkpoint, until it is continued, as that of a run that ended with an error. The
    /// mark is an empty file, `checkpoint.failed`, which fits on a full disk.
    static void mark_failed(const std::string& folder);
    static bool is_marked_failed(const std::string& folder);
    /// Removes a checkpoint that is marked so, but no links, if it states other values of `series`
    /// than these. Returns true if it was removed.
    static bool remove_failed(const std::string& folder, const Identity& series);

  private:
    struct Place {
        std::size_t file = 0;
        RecordPlace record;
    };

    std::optional<std::vector<std::byte>> load(const EntryName& name) override;
    void store(const EntryName& name, std::span<const std::byte> bytes) override;
    void update() override;
    void take(std::size_t file, const std::string& path, const RecordPlace& place,
              std::span<const std::byte> record);

    std::vector<Journal> files_; ///< the first is this rank's
    std::map<EntryName, Place> places_;
    std::string folder_;
};

/// The ledger of a run without a checkpoint. Keeps in memory only the entries that such a run reads
/// again: the displacement fields of the last stage.
class FieldMemory : public Ledger {
  public:
    explicit FieldMemory(const Communicator& communicator) : communicator_(communicator) {}

  private:
    std::optional<std::vector<std::byte>> load(const EntryName& name) override;
    void store(const EntryName& name, std::span<const std::byte> bytes) override;
    /// Replaces the fields by those stored on any rank since the last call. Collective.
    void update() override;

    const Communicator communicator_;
    Packer kept_; ///< entries stored by this rank since the last refresh
    std::map<EntryName, std::vector<std::byte>> fields_;
};

/// The record of the options with a field for each member of those that it leaves out (`rigid`,
/// `nonrigid`, `limits`), such as "rigid.stop", so that all of them can be compared. The record
/// refers to `options`, which must outlive it.
Record compared_options(RegistrationOptions& options);

/// Names and values of all compared_options(), except those in `without`.
///
/// Requires  names of fields of the record (std::logic_error).
Checkpoint::Identity identity_of(const RegistrationOptions& options,
                                 std::span<const std::string_view> without);

/// The options that a run may change when it continues a checkpoint, because the results in it do
/// not depend on them. An option that is not listed here must be the same.
std::span<const std::string_view> options_without_effect_on_checkpoints();

/// The same for links that were made while a series was recorded (live_registration.hpp).
std::span<const std::string_view> options_without_effect_on_links();

} // namespace sextant::registration
