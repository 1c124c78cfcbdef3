// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace sextant::command {

/// The folder OUTPUT.partial, in which a run keeps its results until its outputs are complete, so
/// that the same run can continue after an interruption. Only one process at a time can lock the
/// folder.
class RunFolder {
  public:
    explicit RunFolder(const std::string& output);
    RunFolder(const RunFolder&) = delete;
    RunFolder& operator=(const RunFolder&) = delete;
    ~RunFolder();

    const std::string& path() const { return path_; }

    /// Locks the folder until destruction; the destructor removes the folder if it is empty. If the
    /// folder does not exist, creates it if `create`, else does nothing. Throws InvalidFile if
    /// another process has locked the folder, if the path is not a folder, or if the folder
    /// contains files that do not belong to a run.
    void hold(bool create);
    /// Returns true if the folder exists and is not empty.
    bool has_results() const;
    /// Removes the folder if this object has locked it.
    void remove() const;

    /// Marks the results as those of a failed run, by an empty file.
    void mark_failed() const;
    void remove_mark() const;
    /// Removes results with this mark if a checkpoint among them does not contain `line`. Returns
    /// true if results were removed. Requires that the folder is locked.
    bool remove_failed(const std::string& line) const;

  private:
    bool lock();
    void require_own_files() const;

    std::string path_;
    int descriptor_ = -1;
};

/// The state of input files, which changes if a file is replaced or modified. A folder represents
/// all files in it.
struct InputState {
    long long files = 0, bytes = 0;
    unsigned long long digest = 0; ///< order-independent hash of names, sizes and times

    /// Adds a file or folder, but not the run's own outputs `output` and `output`.partial.
    void add(const std::string& path, const std::string& output);
};

} // namespace sextant::command
