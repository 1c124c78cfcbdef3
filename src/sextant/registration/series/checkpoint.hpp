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

/// Returns the path of the file of live links in a checkpoint folder. Live links are computed while
/// the series is recorded (live_registration.hpp).
std::string path_of_live_links(const std::string& folder);

/// A ledger stored in the files `checkpoint.0`, `checkpoint.1` ... of a folder. Each rank writes
/// one file and reads the entries of all ranks, including those of an earlier run that was killed.
/// If the disk is full, the run ends with InvalidFile; entries already written remain.
///
/// Requires  a folder visible to all ranks.
class Checkpoint : public Ledger {
  public:
    /// Names and values that describe a run, such as "model" and "rigid". A run resumes an earlier
    /// run only if all of them are equal.
    using Identity = std::vector<std::pair<std::string, std::string>>;

    /// Creates or continues a checkpoint. Throws InvalidTask, naming the difference, if the files
    /// belong to a different run.
    Checkpoint(const std::string& folder, int rank, const Identity& identity);

    /// The number of entries.
    std::size_t size() const { return places_.size(); }

    /// Throws InvalidTask if the folder has a checkpoint of a different run.
    static void check(const std::string& folder, const Identity& identity);
    /// Removes the checkpoint and the live links (path_of_live_links()).
    static void remove(const std::string& folder);
    /// Marks a checkpoint as left by a failed run, until it is resumed. The mark is an empty file,
    /// `checkpoint.failed`, which can be written even on a full disk.
    static void mark_failed(const std::string& folder);
    static bool is_marked_failed(const std::string& folder);
    /// Removes a checkpoint, but not the live links, if it is marked as failed and belongs to a
    /// different `series`. Returns true if the checkpoint was removed.
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
    /// Replaces the stored fields with those that any rank has stored since the last call.
    /// Collective.
    void update() override;

    const Communicator communicator_;
    Packer kept_; ///< entries stored by this rank since the last refresh
    std::map<EntryName, std::vector<std::byte>> fields_;
};

/// Returns a record of all options that are to be compared. It extends record_of() by the members
/// of `rigid`, `nonrigid` and `limits`, with names such as "rigid.stop". The record refers to
/// `options`, which must outlive it.
Record compared_options(RegistrationOptions& options);

/// Returns names and values of all compared_options() except those in `without`.
///
/// Requires  `without` contains only field names of the record (std::logic_error).
Checkpoint::Identity identity_of(const RegistrationOptions& options,
                                 std::span<const std::string_view> without);

/// The options that may change when a run resumes a checkpoint, because stored results do not
/// depend on them. All other options must be equal.
std::span<const std::string_view> options_without_effect_on_checkpoints();

/// The same for live links (live_registration.hpp).
std::span<const std::string_view> options_without_effect_on_links();

} // namespace sextant::registration
