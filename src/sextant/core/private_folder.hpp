// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace sextant {

/// A new folder for files of this process, which other users cannot read or replace. The destructor
/// removes it with its files; if the process is killed, the next one that makes such a folder there
/// does.
class PrivateFolder {
  public:
    /// Creates a folder in the folder `parent`; "": in the folder for temporary files. Throws
    /// InvalidFile.
    explicit PrivateFolder(std::string parent = "");
    PrivateFolder(const PrivateFolder&) = delete;
    PrivateFolder& operator=(const PrivateFolder&) = delete;
    ~PrivateFolder();

    std::string file(const std::string& name) const { return path_ + "/" + name; }

  private:
    std::string path_;
};

} // namespace sextant
