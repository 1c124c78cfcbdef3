// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace sextant::command {

/// The folder OUTPUT.partial, in which a run keeps its results until its outputs are complete. The
/// same run continues from them after an interruption. One process at a time holds the folder.
class RunFolder {
  public:
    explicit RunFolder(const std::string& output);
    RunFolder(const RunFolder&) = delete;
    RunFolder& operator=(const RunFolder&) = delete;
    ~RunFolder();

    const std::string& path() const { return path_; }

    /// Locks the folder until destruction, which removes it if it is empty; creates it first if
    /// `create`, and does nothing if it is missing otherwise. Throws InvalidFile if another process
    /// holds the folder, if the path is not a folder, or if the folder has files that are not those
    /// of a run.
    void hold(bool create);
    /// True if the folder exists and is not empty.
    bool has_results() const;
    /// Removes the folder if it is held.
    void remove() const;

    /// Marks the results as those of a run that ended with an error, by an empty file.
    void mark_failed() const;
    void remove_mark() const;
    /// Removes results that are marked so, if their checkpoints do not state `line`. Returns true
    /// if results were removed. Requires the folder to be held.
    bool remove_failed(const std::string& line) const;

  private:
    bool lock();
    void require_own_files() const;

    std::string path_;
    int descriptor_ = -1;
};

/// The state of input files: what changes if one of them is replaced or written to. Folders stand
/// for all files in them.
struct InputState {
    long long files = 0, bytes = 0;
    unsigned long long digest = 0; ///< of the names, sizes and times of change, in any order

    /// Adds a file or folder, except the paths of the run's own outputs `output` and
    /// `output`.partial.
    void add(const std::string& path, const std::string& output);
};

} // namespace sextant::command
