// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace sextant {

/// A folder that appears whole or not at all: files go to one with another name beside it, which
/// commit() renames. Destroyed before that, nothing stays behind, and what was at `path` stays as
/// it was; a signal that ends the process leaves `.sextant-<process>-<number>.tmp`.
///
/// A folder already at `path` is replaced, provided that it holds nothing but `entries`: what
/// others have put there is not ours to remove. A symbolic link to one stays a link.
///
/// Requires  an existing folder around it that may be written. Throws InvalidFile with the reason.
class AtomicFolder {
  public:
    AtomicFolder(const std::string& path, std::span<const std::string_view> entries);
    AtomicFolder(const AtomicFolder&) = delete;
    AtomicFolder& operator=(const AtomicFolder&) = delete;
    ~AtomicFolder();

    /// Where files go until then.
    const std::string& temporary() const { return temporary_; }
    void commit();

  private:
    void require_replaceable(std::span<const std::string_view> entries) const;
    std::string new_name(bool make) const;
    [[noreturn]] void fail(const std::string& reason) const;

    std::string path_;
    std::string target_;    ///< `path_` without a final slash, or what a link there points to
    std::string temporary_; ///< empty once there is none
};

} // namespace sextant
