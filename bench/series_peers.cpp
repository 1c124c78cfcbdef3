// SPDX-License-Identifier: BSD-3-Clause
#include "bench/series_peers.hpp"

#include "sextant/core/error.hpp"
#include "sextant/format/formats.hpp"

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <sys/resource.h>

#ifdef SEXTANT_WITH_OPENCV
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>
#include <opencv2/optflow.hpp>
#include <opencv2/video/tracking.hpp>
#endif

namespace sextant::bench {

namespace {

using registration::DisplacementField;
using registration::Point;
using registration::RigidMotion;
using registration::Transform;

#ifdef SEXTANT_WITH_OPENCV

Seconds processor_time() {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

/// OpenCV's registration of the frames of a series, in order.
class OpenCv {
  public:
    explicit OpenCv(const FaultySeries& series)
        : series_(series), centre_(registration::centre(series.plan().shape)), first_(frame(0)) {
        cv::setNumThreads(1);
        cv::createHanningWindow(window_, first_.size(), CV_32F);
    }

    PeerResult run(const std::string& name) {
        PeerResult made;
        const Seconds begin = processor_time();
        cv::Mat before = no_motion();
        made.transforms[0] = RigidMotion{};
        for (std::int64_t i = 1; i < series_.plan().frames; ++i) {
            const cv::Mat now = frame(i);
            cv::Mat shift = no_motion();
            // phaseCorrelate multiplies its arguments by the window.
            const cv::Point2d found = cv::phaseCorrelate(first_.clone(), now.clone(), window_);
            shift.at<float>(0, 2) = static_cast<float>(found.x);
            shift.at<float>(1, 2) = static_cast<float>(found.y);
            if (name == "phase") {
                made.transforms[i] = motion_of(shift);
                continue;
            }
            // The better of two starts.
            const double from_before = improve_by_ecc(now, before),
                         from_shift = improve_by_ecc(now, shift);
            if (from_shift > from_before)
                before = shift;
            if (std::max(from_shift, from_before) > 0)
                made.transforms[i] =
                    name == "ecc" ? Transform(motion_of(before)) : Transform(flow(now, before));
        }
        made.seconds = processor_time() - begin;
        return made;
    }

  private:
    cv::Mat frame(std::int64_t i) const {
        const auto [width, height] = series_.plan().shape;
        return cv::Mat(static_cast<int>(height), static_cast<int>(width), CV_32F,
                       const_cast<float*>(series_.frame(i).data()));
    }

    /// Converts OpenCV's transform about the origin to a motion about the centre.
    RigidMotion motion_of(const cv::Mat& transform) const {
        const auto at = [&](int row, int column) {
            return static_cast<double>(transform.at<float>(row, column));
        };
        return {std::atan2(at(1, 0), at(0, 0)),
                at(0, 0) * centre_.x + at(0, 1) * centre_.y + at(0, 2) - centre_.x,
                at(1, 0) * centre_.x + at(1, 1) * centre_.y + at(1, 2) - centre_.y};
    }

    static cv::Mat no_motion() { return cv::Mat::eye(2, 3, CV_32F); }

    /// Returns the correlation at the end, or 0 and leaves the transform as it is if ECC gives up.
    double improve_by_ecc(const cv::Mat& now, cv::Mat& transform) const try {
        cv::Mat made = transform.clone();
        const cv::TermCriteria until(cv::TermCriteria::COUNT + cv::TermCriteria::EPS, 50, 1e-5);
        const double correlation =
            cv::findTransformECC(first_, now, made, cv::MOTION_EUCLIDEAN, until, cv::noArray(), 5);
        transform = made;
        return correlation;
    } catch (const cv::Exception&) {
        return 0;
    }

    /// Returns the field of a rigid motion and the flow from the reference to the frame, resampled
    /// by this motion.
    DisplacementField flow(const cv::Mat& now, const cv::Mat& transform) const {
        cv::Mat resampled, found;
        cv::warpAffine(now, resampled, transform, now.size(),
                       cv::INTER_CUBIC | cv::WARP_INVERSE_MAP, cv::BORDER_REPLICATE);
        const auto tvl1 = cv::optflow::DualTVL1OpticalFlow::create();
        tvl1->setLambda(.03);
        tvl1->calc(prepared(first_), prepared(resampled), found);
        const RigidMotion rigid = motion_of(transform);
        DisplacementField made = registration::no_displacement({now.cols, now.rows}, 1);
        for (int y = 0; y < now.rows; ++y) {
            for (int x = 0; x < now.cols; ++x) {
                const auto i = static_cast<std::size_t>(y * now.cols + x);
                const cv::Vec2f u = found.at<cv::Vec2f>(y, x);
                const Point to = apply(rigid, Point{x + double{u[0]}, y + double{u[1]}}, centre_);
                made.x[i] = static_cast<float>(to.x - x);
                made.y[i] = static_cast<float>(to.y - y);
            }
        }
        return made;
    }

    /// A frame in TV-L1's format: smoothed, from 0 to 1, a range of eight standard deviations.
    static cv::Mat prepared(const cv::Mat& frame) {
        cv::Mat smooth, made;
        cv::GaussianBlur(frame, smooth, {}, 1);
        cv::Scalar mean, deviation;
        cv::meanStdDev(smooth, mean, deviation);
        const double scale = 1 / (8 * std::max(deviation[0], 1e-9));
        smooth.convertTo(made, CV_32F, scale, .5 - mean[0] * scale);
        return cv::min(cv::max(made, 0.), 1.);
    }

    const FaultySeries& series_;
    Point centre_;
    cv::Mat first_, window_;
};

#endif

/// A folder for the files of RELION, which is removed at the end.
class Folder {
  public:
    Folder() {
        std::string name = (std::filesystem::temp_directory_path() / "bench-XXXXXX").string();
        if (mkdtemp(name.data()) == nullptr)
            throw InvalidTask("cannot make a temporary folder");
        path_ = name;
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    ~Folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
};

void write_movie(const FaultySeries& series, const std::filesystem::path& folder) {
    write_series(series, (folder / "movie.mrc").string());
    std::ofstream(folder / "movies.star")
        << "data_optics\n\nloop_\n_rlnOpticsGroupName #1\n_rlnOpticsGroup #2\n"
           "_rlnMicrographOriginalPixelSize #3\n_rlnVoltage #4\n_rlnSphericalAberration #5\n"
           "_rlnAmplitudeContrast #6\ngroup1 1 1.0 300 2.7 0.1\n\n"
           "data_movies\n\nloop_\n_rlnMicrographMovieName #1\n_rlnOpticsGroup #2\nmovie.mrc 1\n";
}

/// Reads the translations of a motion of whole frames from RELION's file. They are those of the
/// frames that remove the drift.
std::map<std::int64_t, registration::Transform> read_shifts(const std::filesystem::path& path) {
    std::map<std::int64_t, registration::Transform> made;
    std::ifstream file(path);
    bool global = false;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("data_"))
            global = line.starts_with("data_global_shift");
        std::istringstream fields(line);
        std::int64_t frame = 0;
        double x = 0, y = 0;
        if (global && fields >> frame >> x >> y)
            made[frame - 1] = RigidMotion{0, -x, -y};
    }
    return made;
}

PeerResult run_relion(const FaultySeries& series) {
    const Folder folder;
    write_movie(series, folder.path());
    const auto children = [] {
        rusage use{};
        getrusage(RUSAGE_CHILDREN, &use);
        const auto seconds = [](const timeval& time) {
            return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
        };
        return seconds(use.ru_utime) + seconds(use.ru_stime);
    };
    const Seconds begin = children();
    const std::string command =
        fmt::format("cd '{}' && relion_run_motioncorr --i movies.star --o out/ --use_own --j 1 "
                    "--patch_x 1 --patch_y 1 >log 2>&1",
                    folder.path().string());
    if (std::system(command.c_str()) != 0)
        throw InvalidTask("relion_run_motioncorr failed, or Debian's package relion is missing");
    PeerResult made;
    made.seconds = children() - begin;
    made.transforms = read_shifts(folder.path() / "out" / "movie.star");
    if (made.transforms.empty())
        throw InvalidTask("relion_run_motioncorr wrote no motions");
    return made;
}

} // namespace

void write_series(const FaultySeries& series, const std::string& path) {
    FrameHeader header;
    header.frames = series.plan().frames;
    header.shape = series.plan().shape;
    const auto movie = format::create_mrc(path, header, {});
    for (std::int64_t i = 0; i < header.frames; ++i)
        movie->write(series.frame(i));
    movie->commit();
}

PeerResult run_peer(const std::string& name, const FaultySeries& series) {
    if (name == "relion")
        return run_relion(series);
    if (name != "phase" && name != "ecc" && name != "tvl1")
        throw InvalidTask(
            fmt::format("unknown peer '{}'; expected phase, ecc, tvl1 or relion", name));
#ifdef SEXTANT_WITH_OPENCV
    return OpenCv(series).run(name);
#else
    throw InvalidTask(fmt::format("{} requires a build with libopencv-contrib-dev", name));
#endif
}

} // namespace sextant::bench
