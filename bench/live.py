# SPDX-License-Identifier: BSD-3-Clause
# Latency and lag of `sextant register --follow` on one core, while a producer writes frames of 512x512 pixels to an MRC
# file at 50, 100 and 400 frames per second (or at the RATES that are given).
#
#   live.py [RATES...]
#
# The latency of a frame is the time from when it was completely written to when a client of the page has received an
# average that includes it. The follower may use the last core only; producer and client use the others. SEXTANT names
# the command; files are written to the current folder, which should be in memory.
import json
import os
import socket
import statistics
import subprocess
import sys
import threading
import time
import urllib.parse

sextant = os.environ.get("SEXTANT", "sextant")
pace = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "command", "pace.py")
cores = sorted(os.sched_getaffinity(0))
environment = {**os.environ, "SEXTANT_PROBE": "off", "STAMPS": "stamps.txt"}
frames = 500


def follow_events(url, arrivals, behind):
    """Notes when a client has received an average that includes a number of frames."""
    parts = urllib.parse.urlparse(url)
    with socket.create_connection((parts.hostname, parts.port)) as client:
        client.sendall(f"GET {parts.path}events HTTP/1.1\r\nHost: {parts.netloc}\r\n\r\n".encode())
        text = b""
        while piece := client.recv(1 << 20):
            text += piece
            *blocks, text = text.split(b"\n\n")
            for block in blocks:
                if block.startswith(b"event: state\n"):
                    state = json.loads(block.partition(b"data: ")[2])
                    arrivals.append((time.time(), state["taken"]))
                    behind.append(state["behind"])


def measure(rate):
    for file in ("grows.mrc", "stamps.txt"):
        if os.path.exists(file):
            os.remove(file)
    follower = subprocess.Popen(
        [sextant, "register", "grows.mrc", "-o", f"out-{rate}", "--follow", "--serve", "127.0.0.1:0", "--idle", "20",
         "--stages", "1", "--aligned", "off", "--ranks", "1"],
        env=environment, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
        preexec_fn=lambda: os.sched_setaffinity(0, cores[-1:]))
    url = follower.stderr.readline().split()[-1]
    notes = []
    reader = threading.Thread(target=lambda: notes.extend(follower.stderr))
    reader.start()
    arrivals, behind = [], []
    client = threading.Thread(target=follow_events, args=(url, arrivals, behind))
    client.start()
    subprocess.run([sys.executable, pace, "movie.mrc", "grows.mrc", "mrc", str(rate)], env=environment, check=True,
                   preexec_fn=lambda: os.sched_setaffinity(0, cores[:-1] or cores))
    ended = time.time()
    follower.wait()
    client.join()
    reader.join()
    assert follower.returncode == 0, notes
    with open("stamps.txt") as file:
        stamps = [float(line.split()[1]) for line in file]
    latencies, at = [], 0
    for frame, stamp in enumerate(stamps):
        while at < len(arrivals) and arrivals[at][1] <= frame:
            at += 1
        if at < len(arrivals):
            latencies.append(1000 * (arrivals[at][0] - stamp))
    updates = sum(1 for when, _ in arrivals if when <= ended)
    latencies.sort()
    print(f"| {rate} | {len(stamps) / (stamps[-1] - stamps[0]):.0f} | {statistics.median(latencies):.0f} | "
          f"{latencies[int(.95 * len(latencies))]:.0f} | {latencies[-1]:.0f} | {max(behind)} | "
          f"{updates / (stamps[-1] - stamps[0]):.0f} | {len(latencies)} of {len(stamps)} |", flush=True)


subprocess.run([sextant, "synthesize", "-o", "movie.mrc", "--frames", str(frames), "--width", "512", "--height", "512",
                "--specimen", "carbon", "--drift-x", ".05", "--drift-y", ".02"], env=environment, check=True,
               stdout=subprocess.DEVNULL)
print("| frames per second, asked | written | latency, ms: median | 95 % | worst | most frames behind | averages sent "
      "per second | frames shown |\n|---|---|---|---|---|---|---|---|")
for rate in [int(word) for word in sys.argv[1:]] or [50, 100, 400]:
    measure(rate)
