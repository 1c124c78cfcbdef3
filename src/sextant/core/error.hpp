// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <stdexcept>
#include <string>

namespace sextant {

/// Any error that is not a bug of Sextant. The message names the file, rank or value and what was
/// expected. Bugs are `std::logic_error`.
class Error : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// A request that cannot be fulfilled on any machine: an unknown algorithm, or radices whose
/// product is not the number of ranks. The command exits with code 2.
class InvalidTask : public Error {
  public:
    using Error::Error;
};

/// A file that cannot be read or written, is damaged, or does not match other files.
class InvalidFile : public Error {
  public:
    InvalidFile(std::string path, const std::string& what)
        : Error(path + ": " + what), path_(std::move(path)) {}
    const std::string& path() const { return path_; }

  private:
    std::string path_;
};

/// Messages of a run could not be delivered: the transport failed or ran out of memory.
class CommunicationFailed : public Error {
  public:
    using Error::Error;
};

/// Another rank failed, so this one stopped too. `rank` is the first failed rank that this one
/// learned of.
class PeerFailed : public Error {
  public:
    PeerFailed(int rank, const std::string& what) : Error(what), rank_(rank) {}
    int rank() const { return rank_; }

  private:
    int rank_;
};

/// The message of the current exception, of any type. Call only within a catch block.
std::string text_of_current_exception();

/// A correct request that cannot be fulfilled with the given data, for example because a series has
/// only one frame, or its frames contain only noise. The command exits with code 1, as for a file
/// that cannot be read.
class InvalidData : public InvalidTask {
  public:
    using InvalidTask::InvalidTask;
};

} // namespace sextant
