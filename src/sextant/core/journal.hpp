// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "sextant/core/units.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sextant {

/// The 64-bit FNV-1a hash.
std::uint64_t checksum_of(std::span<const std::byte> bytes);

/// The position of a record's bytes in a journal.
struct RecordPlace {
    Bytes position = 0, size = 0;
};

/// An append-only file of records. Each is stored with its length and a checksum, so that after a
/// crash all records, except perhaps the last, can be read. The file begins with a text that
/// describes its content. Numbers are stored in native byte order.
///
/// Records are flushed to disk when a record is appended, or the journal is closed, a second or
/// more after the last flush.
class Journal {
  public:
    /// Called for each whole record; visiting ends at the first incomplete or damaged one.
    using Visit = std::function<void(const RecordPlace& place, std::span<const std::byte> record)>;

    /// Opens a journal for reading. Throws InvalidFile if it cannot be read or is not a journal.
    static Journal open(const std::string& path);
    /// Opens a journal for writing and locks it, or creates one with `text`. Calls `visit` for each
    /// existing record; new records are appended after the last whole one. Throws InvalidFile if
    /// this fails, or if another process has the journal open for writing.
    static Journal append_to(
        const std::string& path, const std::string& text,
        const Visit& visit = [](const RecordPlace&, std::span<const std::byte>) {});

    Journal(Journal&& other) noexcept;
    Journal& operator=(Journal&&) = delete;
    ~Journal();

    const std::string& path() const { return path_; }
    /// The text at the start of the file; none if it is incomplete.
    const std::optional<std::string>& text() const { return text_; }

    /// Visits the records after the last one visited.
    void visit(const Visit& visit);
    std::vector<std::byte> read(const RecordPlace& place) const;
    /// Throws InvalidFile if the disk is full or fails; earlier records then remain intact.
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
    Bytes visited_ = 0; ///< end of the last record read or written
    Seconds synced_ = 0;
};

} // namespace sextant
