// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <stdexcept>
#include <string>

namespace sextant {

/// Whatever goes wrong that is not our bug. The message names the file, rank or value and what was
/// expected. Bugs of ours are `std::logic_error`.
class Error : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// What was asked for cannot be done by anyone: an unknown algorithm, radices that do not multiply
/// to the ranks. The command ends with exit code 2.
class InvalidTask : public Error {
  public:
    using Error::Error;
};

/// A file that cannot be read, is damaged, does not fit the others or cannot be written.
class InvalidFile : public Error {
  public:
    InvalidFile(std::string path, const std::string& what)
        : Error(path + ": " + what), path_(std::move(path)) {}
    const std::string& path() const { return path_; }

  private:
    std::string path_;
};

/// The messages of a run could not be delivered: the transport failed, or memory of it ran out.
class CommunicationFailed : public Error {
  public:
    using Error::Error;
};

/// Another rank failed, so this one stopped too. `rank` is the first that was heard of.
class PeerFailed : public Error {
  public:
    PeerFailed(int rank, const std::string& what) : Error(what), rank_(rank) {}
    int rank() const { return rank_; }

  private:
    int rank_;
};

/// What the exception at hand says. A caller's code may throw anything. Only within a catch.
std::string text_of_current_exception();

} // namespace sextant
