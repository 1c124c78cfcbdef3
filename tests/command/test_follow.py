# SPDX-License-Identifier: BSD-3-Clause
"""Series that are followed while they are written: the results have the bytes of `register` on the finished series, for
each kind of file and stream, also after a kill; what goes wrong is reported. The page of such a series."""
from command_test import *

FRAME, HEADER = 128 * 120 * 4, 1024
LAYOUT = "128x120,f32"


def produce(target, kind, rate=80, gate=None, movie="movie.mrc"):
    """Writes frames of the movie in the background (pace.py)."""
    words = [PYTHON, "-B", HERE / "pace.py", movie, target, kind, rate, *([gate] if gate else [])]
    process = subprocess.Popen(list(map(str, words)), stderr=subprocess.DEVNULL)
    Follow.running.append(process)
    return process


def follow(line, **options):
    return start(f"register {line} --follow --reproducible", **options)


def follow_to_the_end(line, *expected):
    return finish(follow(line), *expected)


def append(name, data, mode="ab"):
    with open(name, mode) as file:
        file.write(data)


class Follow(CommandTest):
    running = []

    @classmethod
    def prepare(cls):
        sextant("synthesize -o movie.mrc --frames 40 --width 128 --height 120 --specimen carbon")
        movie = content("movie.mrc")
        cls.frames = [movie[HEADER + i * FRAME:][:FRAME] for i in range(40)]
        os.mkdir("files")
        for i, frame in enumerate(cls.frames):
            Path(f"files/frame_{i}.mrc").write_bytes(movie[:8] + b"\1\0\0\0" + movie[12:92] + bytes(4) + movie[96:HEADER] + frame)

    def setUp(self):
        if os.path.exists("stream"):
            os.remove("stream")
        os.mkfifo("stream")

    def tearDown(self):
        for process in Follow.running:
            process.kill()
            process.wait()
        Follow.running.clear()

    def expect_results_of(self, series, folder, options=""):
        """The folder has the results of a run on the finished series, and nothing else."""
        shutil.rmtree("batch", ignore_errors=True)
        sextant(f"register {series} -o batch --reproducible {options}")
        same("batch", folder)

    def expect_kept(self, name, frames):
        self.assertEqual(content(name), b"".join(self.frames[:frames]))

    def feed(self, first):
        """Writes the frames from this one on into the stream, in the background."""
        Path("rest").write_bytes(b"".join(self.frames[first:]))
        Follow.running.append(subprocess.Popen("cat rest >stream", shell=True))

    def until(self, name, process):
        wait_for(lambda: os.path.exists(name), process)

    def test_files_that_grow(self):
        # The producer is at most eight frames ahead, so at least the links between the first 31 frames are computed meanwhile.
        sextant("synthesize -o gain.npy --frames 1 --width 128 --height 120 --specimen carbon --contrast .05 --dose 9999")
        at = HEADER + 20 * FRAME + 4 * (60 * 128 + 64)
        changed("movie.mrc", "ray.part", at, array.array("f", [3000]).tobytes())  # a cosmic ray in one frame
        for kind in ("mrc", "tif", "ser", "h5", "folder", "raw", "ray"):
            # Each rank forks a process that reads HDF5; AddressSanitizer's allocator is not safe while another thread forks.
            options = "--ranks 1" if kind == "h5" and "SEXTANT_SANITIZE" in os.environ else ""
            if kind == "h5" and subprocess.run([PYTHON, "-c", "import h5py"], capture_output=True).returncode:
                continue
            name, movie, least, most = f"grows.{kind}", "movie.mrc", 87, 114
            if kind == "ray":
                name, options, movie, least, most = "ray.mrc", "--gain gain.npy", "ray.part", 81, 108
            producer = produce(name, "mrc" if kind == "ray" else kind, 40, f"{kind}/live.links", movie)
            if kind == "raw":
                name += f"::{LAYOUT}"
            done = follow_to_the_end(f"{name} -o {kind} --idle 5 {options}", "40 frames")
            self.assertEqual(producer.wait(), 0)
            links = re.search(": ([0-9]+) results computed while following are reused", done.err)
            self.assertTrue(links and least <= int(links[1]) <= most, f"{kind}: {done.err}")
            self.assertEqual("ignored: 1 outlier" in done.err, kind == "ray")
            self.expect_results_of(name, kind, options)

    def test_streams_are_kept(self):
        produce("stream", "raw")
        follow_to_the_end(f"stream::{LAYOUT} -o fifo", "frames are stored in fifo.frames.raw",
                          "the stream has ended after 40 frames", "fifo.frames.raw: 2.46 MB")
        self.expect_kept("fifo.frames.raw", 40)
        self.expect_results_of(f"fifo.frames.raw::{LAYOUT}", "fifo")
        Path("whole").write_bytes(b"".join(self.frames))
        with open("whole") as whole:
            finish(follow(f"/dev/stdin::{LAYOUT},frames=40 -o stdin --spool kept.bin", stdin=whole))
        self.expect_results_of(f"kept.bin::{LAYOUT},frames=40", "stdin")
        refuses(f"""
        1 kept.bin: exists, and may hold the only copy of its frames <- register stream::{LAYOUT} --follow --spool kept.bin -o refused
        1 the extension .raw or .bin <- register stream::{LAYOUT} --follow --spool kept.dat -o refused
        1 is a stream without a header <- register stream --follow -o refused
        1 is a stream, whose frames can be read only once <- register stream::{LAYOUT} -o refused
        """, lines=0)
        Follow.running.append(subprocess.Popen(": >stream", shell=True))
        refuses(f"1 refused.frames.raw: <- register stream::{LAYOUT} --follow -o refused", lines=0)

    def test_a_killed_run_and_its_successor(self):
        producer = produce("killed.tif", "tif", 12, "killed.gate")
        process = follow("killed.tif -o killed --idle 200")
        self.until("killed/live-motions.csv", process)
        self.until("killed/live-average.tif", process)
        time.sleep(.5)
        process.kill()
        process.communicate()
        self.assertFalse(os.path.exists("killed/average.tif"))
        sextant("info killed/live-average.tif", "128×120")
        self.assertIn('0,0.000,0.000,0.0000,1.0000,""', read("killed/live-motions.csv").splitlines())
        sextant("register killed.tif -o killed --follow --idle 2 --rotation 9",
                "live.links: belongs to a run with other options", code=1)
        append("killed.gate", bytes(1000))
        follow_to_the_end("killed.tif -o killed --idle 5")
        self.assertEqual(producer.wait(), 0)
        self.expect_results_of("killed.tif", "killed")
        # During the last run: a plain run also takes the links that were made while following.
        produce("late.mrc", "mrc")
        process = follow("late.mrc -o late --stages 90")
        self.until("late/checkpoint.0", process)
        process.kill()
        process.communicate()
        sextant("register late.mrc -o late --reproducible --stages 90", "of its results are reused")
        self.expect_results_of("late.mrc", "late", "--stages 90")

    def test_a_killed_run_of_a_stream(self):
        producer = produce("stream", "raw", 40, "resumed.gate")
        process = follow(f"stream::{LAYOUT} -o resumed")
        self.until("resumed/live-motions.csv", process)
        process.kill()
        process.communicate()
        producer.kill()
        producer.wait()
        kept = os.path.getsize("resumed.frames.raw") // FRAME
        self.assertGreaterEqual(kept, 1)
        append("resumed.frames.raw", b"half a frame")  # it is dropped
        self.feed(kept)
        follow_to_the_end(f"stream::{LAYOUT} -o resumed", "frames are appended to the")
        self.expect_kept("resumed.frames.raw", 40)
        self.expect_results_of(f"resumed.frames.raw::{LAYOUT}", "resumed")

    def test_full_disks(self):
        producer = produce("stream", "raw")
        finish(follow(f"stream::{LAYOUT} -o limited", preexec_fn=file_limit(500)), "limited.frames.raw: cannot be written: File "
               "too large; 8 frames of the stream are stored in limited.frames.raw", code=1)
        producer.wait()
        self.expect_kept("limited.frames.raw", 8)
        self.assertFalse(os.path.exists("limited/average.tif"))
        sextant("register stream::1280x1200,f32 -o limited --follow", f"limited.frames.raw: has {8 * FRAME} bytes, expected whole "
                "frames of 1280x1200,f32", code=1)
        self.feed(8)
        follow_to_the_end(f"stream::{LAYOUT} -o limited", "frames are appended to the")
        self.expect_kept("limited.frames.raw", 40)
        self.expect_results_of(f"limited.frames.raw::{LAYOUT}", "limited")
        producer = produce("stream", "raw")
        finish(follow(f"stream::{LAYOUT} -o none", preexec_fn=file_limit(40)),
               "none.frames.raw: cannot be written: File too large; no complete frame was stored", code=1)
        producer.wait()
        os.mkdir("small")
        if subprocess.run("mount -t tmpfs -o size=700k none small", shell=True, capture_output=True).returncode:
            return
        self.addCleanup(subprocess.run, ["umount", "small"])
        producer = produce("stream", "raw")
        finish(follow(f"stream::{LAYOUT} -o full --spool small/spool.raw"), "small/spool.raw: cannot be written: No space left on "
               "device; 11 frames of the stream are stored", code=1)
        self.expect_kept("small/spool.raw", 11)
        sextant(f"register small/spool.raw::{LAYOUT} -o full --reproducible")
        self.expect_results_of(f"small/spool.raw::{LAYOUT}", "full")
        producer.wait()
        os.remove("small/spool.raw")
        Path("small/other").write_bytes(bytes(600 << 10))
        produce("stream", "raw")
        finish(follow(f"stream::{LAYOUT} -o small/out --spool spool.raw"), "No space left on device; frames are still read", code=1)
        self.expect_kept("spool.raw", 40)
        self.assertFalse(os.path.exists("small/out/average.tif"))
        sextant(f"register spool.raw::{LAYOUT} -o moved --reproducible")
        self.expect_results_of(f"spool.raw::{LAYOUT}", "moved")

    def test_a_run_that_is_suspended_for_longer_than_the_series_may_pause(self):
        producer = produce("stopped.raw", "raw", 40, "stopped.gate")
        process = follow(f"stopped.raw::{LAYOUT} -o stopped --idle 4")
        self.until("stopped/live-motions.csv", process)
        time.sleep(1)
        process.send_signal(signal.SIGSTOP)
        time.sleep(5)
        process.send_signal(signal.SIGCONT)
        time.sleep(.1)
        append("stopped.gate", bytes(1000))
        self.assertEqual(producer.wait(), 0)
        finish(process, "no new frame for 4 s after 40 frames")
        self.expect_results_of(f"stopped.raw::{LAYOUT}", "stopped")

    def test_series_that_stop_in_the_middle_of_a_frame(self):
        produce("short.mrc", "mrc-cut", 100)
        follow_to_the_end("short.mrc -o short --idle 5", "no new frame for 5 s after 39 frames",
                          "truncated: 39 of 40 frames are complete")
        self.expect_results_of("short.mrc", "short")
        produce("stream", "raw-cut", 100)
        follow_to_the_end(f"stream::{LAYOUT} -o cut", "bytes after the last frame are ignored")
        self.expect_results_of(f"cut.frames.raw::{LAYOUT}", "cut")

    def begin(self, folder, numbers, idle):
        os.mkdir(folder)
        for i in numbers:
            shutil.copy(f"files/frame_{i}.mrc", folder)
        process = follow(f"{folder} -o of_{folder} --idle {idle}")
        self.until(f"of_{folder}/live-motions.csv", process)
        return process

    def test_folders_whose_files_change(self):
        # Frames that come out of order get their places at the end; a damaged one is left out.
        process = self.begin("mixed", (1, 2, 3, 5, 6, 7), 5)
        shutil.copy("files/frame_3.mrc", "mixed/frame_3a.mrc")
        shutil.copy("files/frame_4.mrc", "mixed")
        time.sleep(.3)
        cut("files/frame_8.mrc", "mixed/frame_8.mrc", 30000)
        finish(process, "mixed/frame_4.mrc appeared after mixed/frame_7.mrc", "frame 8 is left out",
               "1 of 9 frames are identical to the frame before them")
        self.expect_results_of("mixed", "of_mixed")
        # A frame of another size, and one that is written again.
        process = self.begin("several", range(6), 5)
        sextant("synthesize -o smaller.mrc --frames 1 --width 64 --height 64")
        shutil.copy("files/frame_20.mrc", "several/frame_2.mrc")
        shutil.copy("smaller.mrc", "several/frame_6.mrc")
        shutil.copy("files/frame_7.mrc", "several")
        finish(process, "frame 6 is left out...64×64, expected 128×120")
        self.expect_results_of("several", "of_several")
        process = self.begin("fewer", range(6), 200)
        os.remove("fewer/frame_3.mrc")
        finish(process, "fewer/frame_3.mrc: was removed while the series was followed", code=1)
        sextant("register fewer -o of_fewer --reproducible")
        self.expect_results_of("fewer", "of_fewer")

    def test_a_series_that_shrinks_is_replaced_or_removed(self):
        for change in ("shrank", "replaced", "removed"):
            series = f"{change}.mrc"
            producer = produce(series, "mrc", 40, f"{change}.gate")
            process = follow(f"{series} -o {change} --idle 200")
            self.until(f"{change}/live-motions.csv", process)
            producer.kill()
            producer.wait()
            if change == "shrank":
                os.truncate(series, 5000)
            elif change == "replaced":
                shutil.copy("movie.mrc", "other.mrc")
                os.replace("other.mrc", series)
            else:
                os.remove(series)
            finish(process, f"{series}: ...{change}...while it was followed", code=1)
            shutil.copy("movie.mrc", series)
            sextant(f"register {series} -o {change} --reproducible")  # in the same folder
            self.expect_results_of(series, change)

    def test_a_file_that_is_begun_again(self):
        cut("movie.mrc", "again.mrc", HEADER + 20 * FRAME)
        process = follow("again.mrc -o again --idle 5")
        self.until("again/live-motions.csv", process)
        time.sleep(.5)
        append("again.mrc", content("movie.mrc")[:HEADER] + b"".join(self.frames[10:]), "wb")  # shorter for a moment
        done = finish(process, code=None)
        if done.returncode:
            self.assertIn("again.mrc: shrank", done.err)
            sextant("register again.mrc -o again --reproducible")
        self.expect_results_of("again.mrc", "again")

    def test_what_cannot_be_followed(self):
        sextant("synthesize -o movie.zarr --frames 3 --width 64 --height 64")
        Path("some.raw").write_bytes(self.frames[0])
        refuses("""
        2 --idle has no effect here: only with --follow <- register movie.mrc --idle 3 -o refused
        1 missing.mrc: no such file <- register missing.mrc --follow --idle .2 -o refused
        2 files: this folder holds the frames <- register files -o files --follow
        2 movie.zarr: is a Zarr store, which cannot be followed <- register movie.zarr --follow -o refused
        2 'pear' <- register movie.mrc --follow --model pear -o refused
        1 is not a part of a layout <- register some.raw::128x120,f32,pear --follow --idle .2 -o refused
        2 canvas union: displacement <- register movie.mrc --follow --canvas union --model nonrigid -o refused
        2 "pear" is not an address, expected for example 127.0.0.1:8080 <- register movie.mrc --follow --serve pear -o refused
        """, lines=0)
        if MPIRUN:
            refuses("2 one process follows a series <- register movie.mrc -o refused --follow", processes=2)

    def test_the_page_and_its_clients(self):
        sextant("synthesize -o long.mrc --frames 240 --width 256 --height 256 --specimen carbon --drift-x .3 --blanks 5")
        producer = produce("page.mrc", "mrc", 15, "gate", "long.mrc")
        with open("errors", "w") as errors:
            process = follow("page.mrc -o page --serve 127.0.0.1:0", stderr=errors)
        wait_for(lambda: "the page is at" in read("errors") or process.poll() is not None)
        if "was built without cpp-httplib" in read("errors"):
            self.assertFalse(os.path.exists("page"))
            self.skipTest("built without cpp-httplib")
        url = re.search("the page is at (.*)", read("errors"))[1]
        address = url.split("/")[2]
        sextant(f"register page.mrc -o refused --follow --serve {address}",
                f"{address}: no server can listen there: Address already in use", code=2)
        self.assertFalse(os.path.exists("refused"))  # other files appear, because the page is being written
        clients = subprocess.run([PYTHON, "-B", HERE / "live_clients.py", url, "gate"], capture_output=True, text=True)
        self.assertEqual(clients.returncode, 0, clients.stderr)
        producer.wait()
        finish(process)
        self.assertIn("the page: 1 client disconnected for reading too slowly", read("errors"))
        self.expect_results_of("page.mrc", "page")


if __name__ == "__main__":
    unittest.main()
