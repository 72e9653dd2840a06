"""Define the stories of the gallery: text and code of each notebook, for `make_gallery.py`."""

from __future__ import annotations

BASE = '''
import airtcp
import matplotlib.pyplot as plt

CELL = """
[phy]
standard = "802.11b"
[[stations]]
name = "laptop"
count = 10
[[flows]]
stations = "laptop"
direction = "download"
application = { kind = "bulk" }
[run]
warmup = "2 s"
duration = "10 s"
replications = 5
"""
cell = airtcp.load(CELL)
'''

STORIES: dict[str, list[tuple[str, str]]] = {
    "no-collapse": [
        (
            "text",
            """# Why TCP does not collapse

Stations that always have a frame to send collide more, the more of them there are. Stations that *download* by TCP do not: a station
has something to send, an ACK, only after the access point has sent it something. However many there are, about two nodes contend at a time.""",
        ),
        ("code", BASE),
        (
            "code",
            """
datagrams = cell.vary({
    "flows.laptop.direction": "upload",
    "flows.laptop.application": {"kind": "udp", "packet": "1500 B", "rate": "saturated"},
})
stations = {"stations.laptop.count": [1, 2, 5, 10, 20, 40]}
tcp = airtcp.sweep(cell, stations, to="tcp").pandas()
udp = airtcp.sweep(datagrams, stations, to="udp").pandas()
""",
        ),
        (
            "code",
            """
fig, axes = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
for frame, label in ((tcp, "TCP downloads"), (udp, "saturated UDP uploads")):
    means = frame.groupby("stations.laptop.count").mean(numeric_only=True)
    axes[0].plot(means.index, means["collision_probability"], "o-", label=label)
    axes[1].plot(means.index, means["mean_backlogged_nodes"], "o-", label=label)
axes[0].set(xlabel="stations", ylabel="collision probability")
axes[1].set(xlabel="stations", ylabel="nodes with a frame, mean")
axes[0].legend();
""",
        ),
    ],
    "sweep": [
        (
            "text",
            """# A sweep, and what to ask it

Two axes, one of them of named alternatives. The table stays on disk: the same call later runs nothing again.""",
        ),
        ("code", BASE),
        (
            "code",
            """
axes = {
    "stations.laptop.count": [1, 2, 5, 10, 20],
    "remedy": {"alternatives": {
        "none": {},
        "short queue": {"ap.queue.limit": 20},
        "small window": {"flows.laptop.tcp.receive_window": {"segments": 4}},
    }},
}
""".replace('"short queue"', '"short-queue"').replace('"small window"', '"small-window"'),
        ),
        (
            "code",
            """
found = airtcp.sweep(cell, axes, to="store")
found
""",
        ),
        (
            "code",
            """
found.sql('''
    SELECT remedy, "stations.laptop.count" AS stations, round(avg(ap_queue_packets), 1) AS queue,
           round(avg(goodput_bps) / 1e6, 2) AS mbps
    FROM results GROUP BY ALL ORDER BY ALL
''').to_pandas()
""",
        ),
        (
            "code",
            """
grid = found.xarray()
grid["ap_queue_packets"].mean("replication").plot.line(x="stations.laptop.count", marker="o");
""",
        ),
    ],
    "trace": [
        (
            "text",
            """# A trace: windows and the queue behind them

One download beside four others, behind a queue of 40 packets. The window grows until the queue overflows, and is halved.""",
        ),
        ("code", BASE),
        (
            "code",
            """
one = cell.vary({
    "stations.laptop.count": 5, "ap.queue.limit": 40,
    "run.warmup": "0 s", "run.duration": "30 s", "run.replications": 1,
})
trace = airtcp.simulate(one, trace=True, trace_interval_s=0.05).simulation.runs[0].trace
flows = {name: trace.flow_table[name] for name in ("time_ns", "flow", "cwnd_bytes")}
mine = flows["flow"] == flows["flow"][0]
fig, ax = plt.subplots(figsize=(9, 3), layout="constrained")
ax.step(flows["time_ns"][mine] / 1e9, flows["cwnd_bytes"][mine] / 1460, where="post")
ax.set(xlabel="time (s)", ylabel="cwnd of the first flow (segments)");
""",
        ),
    ],
    "paper-m": [
        (
            "text",
            """# Paper M: persistent downloads

Miorandi, Kherani and Altman (2006): with a window of one packet the throughput of the cell hardly depends on the number of stations. What their models say, and what a simulation gives.""",
        ),
        ("code", BASE),
        (
            "code",
            """
window_1 = cell.vary({
    "flows.laptop.tcp": {"receive_window": {"segments": 1}, "delayed_ack": {"every": 1}, "mss": "1000 B"},
    "mac.rts_threshold": "0 B",
})
counts = [1, 2, 5, 10, 20]
found = airtcp.sweep(window_1, {"stations.laptop.count": counts}, to="store").pandas()
simulated = found.groupby("stations.laptop.count")["goodput_bps"].mean() / 1e6
fig, ax = plt.subplots(figsize=(7, 3.2), layout="constrained")
ax.plot(counts, simulated, "ko", label="simulation")
answers = {n: airtcp.predict(window_1.vary({"stations.laptop.count": n})) for n in counts}
for source in answers[10].by_source("goodput_bps"):
    known = {n: one.by_source("goodput_bps").get(source) for n, one in answers.items()}
    ax.plot([n for n in known if known[n]], [known[n].value / 1e6 for n in known if known[n]], label=source)
ax.set(xlabel="stations", ylabel="goodput (Mb/s)", ylim=(0, None))
ax.legend(fontsize=8);
""",
        ),
    ],
    "paper-b": [
        (
            "text",
            """# Paper B: bursts of the access point

Bruno, Conti and Gregori (2004) let the access point send several frames in a row when few stations are active. What that gains, by the number of stations that it aims at.""",
        ),
        ("code", BASE),
        (
            "code",
            """
found = airtcp.sweep(cell, {"scheme": {"alternatives": {
    "standard": {},
    "aim-4": {"ap.access": {"scheme": "adaptive-burst", "window_slots": 32, "target_active": 4}},
    "aim-8": {"ap.access": {"scheme": "adaptive-burst", "window_slots": 32, "target_active": 8}},
}}}, to="store")
found.sql("SELECT scheme, round(avg(goodput_bps) / 1e6, 3) AS mbps, "
          "round(avg(mean_backlogged_nodes), 2) AS backlogged FROM results GROUP BY ALL ORDER BY ALL").to_pandas()
""",
        ),
    ],
    "paper-l": [
        (
            "text",
            """# Paper L: fair uploads

Leith and Clifford (2005): uploads through a plain access point starve each other, because TCP's ACKs queue behind everybody's data. ACKs that go first, by EDCA, make them fair.""",
        ),
        ("code", BASE),
        (
            "code",
            """
plain = cell.vary({
    "flows.laptop.direction": "upload", "ap.queue.limit": 50, "flows.laptop.tcp.delayed_ack": {"every": 1},
    "run.warmup": "5 s", "run.duration": "30 s",
})
edca = {
    "mac.edca": {"ap": {"AC_VO": {"aifs": "50 us", "cw_min": 0, "cw_max": 0, "txop_limit": "0 us"}},
                 "stations": {"AC_BE": {"aifs": "90 us", "cw_min": 31, "cw_max": 1023, "txop_limit": "0 us"}}},
    "mac.classify": {"tcp_ack": "AC_VO"},
}
fig, ax = plt.subplots(figsize=(7, 3), layout="constrained")
for label, scenario in (("plain", plain), ("ACKs first", plain.vary(edca))):
    flows = airtcp.simulate(scenario, replications=1).simulation.flows
    ax.plot(sorted(flow.goodput_bps / 1e3 for flow in flows), "o-", label=label)
ax.set(xlabel="flows, the slowest first", ylabel="goodput (kb/s)", ylim=(0, None))
ax.legend();
""",
        ),
    ],
    "paper-h": [
        (
            "text",
            """# Paper H: downloads share the cell

Hoekstra, van der Mei and Diaz-Feraren (2013): files that are downloaded share the channel as a processor-sharing queue does, so that mean times grow as 1/(1 - load).""",
        ),
        ("code", BASE),
        (
            "code",
            """
ftp = cell.vary({
    "flows.laptop.application": {"kind": "ftp", "size": {"distribution": "exponential", "mean": "100 kB"},
                                 "interarrival": {"distribution": "exponential", "mean": "4 s"}},
    "run.duration": "200 s", "run.replications": 4,
})
means = ["8 s", "4 s", "3 s", "2.5 s", "2.2 s"]
found = airtcp.sweep(ftp, {"flows.laptop.application.interarrival.mean": means}, to="store").pandas()
times = found.groupby("flows.laptop.application.interarrival.mean")["transfer_time_s"].mean()
fig, ax = plt.subplots(figsize=(7, 3), layout="constrained")
ax.plot(times.index, times, "ko", label="simulation")
answers = [airtcp.predict(ftp.vary({"flows.laptop.application.interarrival.mean": m})) for m in means]
values = [one.best("transfer_time_s") for one in answers]
if all(values):
    ax.plot([float(m.split()[0]) for m in means], [one.value for one in values], label=values[0].source)
ax.set(xlabel="between two files of a station, mean (s)", ylabel="transfer time, mean (s)", ylim=(0, None))
ax.legend();
""",
        ),
    ],
    "paper-g": [
        (
            "text",
            """# Paper G: simultaneous sends, and fewer ACKs

Gopal, Paul and Raychaudhuri (2004): the access point and a station send at once, each what the other waits for. Leaving ACKs out saves these collisions.""",
        ),
        ("code", BASE),
        (
            "code",
            """
upload = cell.vary({"flows.laptop.direction": "upload", "stations.laptop.count": 1,
                    "flows.laptop.tcp.delayed_ack": {"every": 1}})
skips = [0, 1, 2, 4, 8]
found = airtcp.sweep(upload, {"skip": {"alternatives": {
    str(skip): {"flows.laptop.tcp.ack_skip": {"skip": skip, "after_segment": 50}} if skip else {}
    for skip in skips
}}}, to="store").pandas()
means = found.groupby("skip", sort=False).mean(numeric_only=True)
fig, axes = plt.subplots(1, 2, figsize=(9, 3), layout="constrained")
axes[0].plot(means.index, means["goodput_bps"] / 1e6, "o-")
axes[0].set(xlabel="ACKs left out after each", ylabel="goodput (Mb/s)")
axes[1].plot(means.index, means["simultaneous_send_probability"], "o-")
axes[1].set(xlabel="ACKs left out after each", ylabel="simultaneous-send probability");
""",
        ),
    ],
}
