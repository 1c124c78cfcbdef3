// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sextant {

/// Where a record lies in a journal.
struct RecordPlace {
    Bytes position = 0, size = 0;
};

/// A file that records are only ever appended to, each with its length and a checksum, so that what
/// was written before a process was killed can be read, but for the last record. It begins with a
/// text that says what it is of. For this kind of machine: nothing is converted.
///
/// Records reach the disk within a second or so of the next one, at once where the process ends.
class Journal {
  public:
    /// Calls with each record that is whole; where one is not, that is the end.
    using Visit = std::function<void(const RecordPlace& place, std::span<const std::byte> record)>;

    /// Opens a journal to read it. Throws InvalidFile where it cannot be read or is no journal.
    static Journal open(const std::string& path);
    /// Begins one, or goes on with one behind its last whole record, and keeps others from writing
    /// to it; `visit` is called with the records that there are. Throws InvalidFile, also where
    /// another process has it open to write.
    static Journal append_to(
        const std::string& path, const std::string& text,
        const Visit& visit = [](const RecordPlace&, std::span<const std::byte>) {});

    Journal(Journal&& other) noexcept;
    Journal& operator=(Journal&&) = delete;
    ~Journal();

    const std::string& path() const { return path_; }
    /// What it says that it is of; none where not even that is whole.
    const std::optional<std::string>& text() const { return text_; }

    /// The records behind the last one that was visited.
    void visit(const Visit& visit);
    std::vector<std::byte> read(const RecordPlace& place) const;
    /// Throws InvalidFile where the disk is full or fails; then the records before are still whole.
    RecordPlace append(std::span<const std::byte> record);

  private:
    Journal(std::string path, int descriptor, bool writes);
    void read_start();
    void begin(const std::string& text);
    std::optional<std::vector<std::byte>> next(RecordPlace& place);
    void write_at_end(std::span<const std::byte> bytes);
    void sync_now_and_then();
    [[noreturn]] void fail(const char* verb, int error) const;

    std::string path_;
    int descriptor_;
    bool writes_;
    std::optional<std::string> text_;
    Bytes visited_ = 0; ///< up to here records were read, or written
    Seconds synced_ = 0;
};

} // namespace sextant
