"""Record the access points that hostapd creates from configurations, to check `airtcp import`.

Boots Debian's kernel in QEMU with simulated radios (mac80211_hwsim), starts hostapd of Debian 12
(2.10) and of Debian sid (2.11 or later) with each configuration of `tests/test_import_hostapd.py`,
and writes the contents of beacons and the channel width on which the kernel operates:

    .venv/bin/python validation/peers/hwsim.py > tests/reference/hostapd.csv

Needs root, Debian 12 with hostapd and iw, and apt-get; takes 6 minutes on one core.
"""

from __future__ import annotations

import csv
import json
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

_RADIO = "interface=wlan0\ndriver=nl80211\ncountry_code=US\n"
_PACKAGES = ("qemu-system-x86", "seabios", "linux-image-amd64", "busybox-static", "wireless-regdb")
_LIBRARIES = ("libc6", "libssl3t64", "libnl-3-200", "libnl-genl-3-200", "libnl-route-3-200")
#: Kernel modules for the host's files, the radios, and their ciphers.
_MODULES = (
    "9pnet_virtio",
    "9p",
    "virtio_pci",
    "ctr",
    "ccm",
    "gcm",
    "cmac",
    "ghash-generic",
    "mac80211_hwsim",
)
_INIT = """#!/busybox sh
/busybox mkdir -p /proc /sys /dev /host
/busybox mount -t proc p /proc; /busybox mount -t devtmpfs d /dev
while read module; do /busybox insmod $module; done < /modules
/busybox mount -t 9p -o trans=virtio,version=9p2000.L,ro,msize=262144 host /host
/busybox mount -t 9p -o trans=virtio,version=9p2000.L,msize=262144 share /host/mnt
/busybox mount -t proc p /host/proc; /busybox mount -t sysfs s /host/sys
/busybox mount --bind /dev /host/dev; /busybox mount -t tmpfs t /host/tmp
/busybox chroot /host python3 %s inside
/busybox poweroff -f
"""
#: Elements of a beacon (IEEE 802.11-2020, Table 9-92): HT and VHT, and extended ones (HE, EHT).
_FORMATS = {(45, -1): "HT", (191, -1): "VHT", (255, 35): "HE", (255, 108): "EHT"}


def elements(beacon: bytes) -> dict[tuple[int, int], bytes]:
    """Return the elements of a beacon by identifier, and its extension or -1."""
    at, found = 36, {}
    while at + 2 <= len(beacon):
        kind, body = beacon[at], beacon[at + 2 : at + 2 + beacon[at + 1]]
        extension = body[0] if kind == 255 and body else -1
        key = (221, int.from_bytes(body[:4], "big")) if kind == 221 else (kind, extension)
        found[key] = body
        at += 2 + beacon[at + 1]
    return found


def announced(beacon: bytes, width_mhz: int) -> list[str]:
    """Return a beacon's formats, the guard interval in ns at a width, and whether it has WMM."""
    known = elements(beacon)
    formats = " ".join(name for key, name in _FORMATS.items() if key in known)
    # Short guard intervals in the capabilities of HT and VHT (9.4.2.55.2, 9.4.2.157.2).
    key, bit = {20: (45, 5), 40: (45, 6), 80: (191, 5), 160: (191, 6)}[width_mhz]
    offered = int.from_bytes(known.get((key, -1), b"")[:4], "little") >> bit & 1
    fastest = max(rate & 0x7F for kind in (1, 50) for rate in known.get((kind, -1), b"\x02"))
    guard = "" if "HT" not in formats else "400" if offered else "800"
    has_wmm = (221, 0x0050F202) in known
    return [formats or ("OFDM" if fastest > 22 else "DSSS"), guard, "yes" if has_wmm else "no"]


def inside() -> None:
    """Run hostapd with each configuration and read a beacon; runs in the virtual machine."""
    subprocess.run("iw reg set US; sleep 1; ip link set hwsim0 up", shell=True, check=True)
    monitor = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    monitor.bind(("hwsim0", 0))
    monitor.settimeout(0.2)
    told = json.loads(Path("/mnt/told.json").read_text())
    rows = []
    for version, command in told["programs"].items():
        for name, text in told["texts"].items():
            Path("/tmp/hostapd.conf").write_text(_RADIO + text)
            with subprocess.Popen(
                [*command, "/tmp/hostapd.conf"], stdout=subprocess.DEVNULL
            ) as run:
                beacon, end = b"", time.monotonic() + 10.0
                while not beacon and run.poll() is None and time.monotonic() < end:
                    try:
                        frame = monitor.recv(65536)
                    except TimeoutError:
                        continue
                    frame = frame[frame[2] | frame[3] << 8 :]
                    beacon = frame if frame[0] == 0x80 else b""
                info = subprocess.run(
                    ["iw", "dev", "wlan0", "info"], capture_output=True, text=True
                )
                run.terminate()
            width = re.search(r"width: (\d+) MHz", info.stdout)
            known = announced(beacon, int(width[1])) if beacon and width else ["exits", "", ""]
            rows.append([name, version, known[0], width[1] if beacon and width else "", *known[1:]])
            Path("/mnt/rows.json").write_text(json.dumps(rows))
            # Beacons of this configuration only.
            time.sleep(0.5)
            monitor.setblocking(False)
            try:
                while monitor.recv(65536):
                    pass
            except BlockingIOError:
                monitor.settimeout(0.2)


def _machine(directory: Path) -> list[str]:
    """Fetch kernel and QEMU, write the initial file system, and return the QEMU command."""
    cache, root, first = directory / "cache", directory / "root", directory / "first"
    (cache / "partial").mkdir(parents=True)
    places = ["-o", f"Dir::Cache::archives={cache}", "-o", "APT::Sandbox::User=root"]
    apt = [
        "apt-get",
        "-qy",
        "--reinstall",
        "--download-only",
        "--no-install-recommends",
        *places,
        "install",
    ]
    subprocess.run([*apt, *_PACKAGES], check=True, stdout=subprocess.DEVNULL)
    for package in cache.glob("*.deb"):
        subprocess.run(["dpkg", "-x", package, root], check=True)
    (kernel,) = (root / "lib/modules").iterdir()
    busybox = root / "bin/busybox"
    subprocess.run([busybox, "depmod", "-b", root, kernel.name], check=True)
    needs = dict(line.split(":", 1) for line in (kernel / "modules.dep").read_text().splitlines())
    paths = {Path(one).name.partition(".")[0]: one for one in needs}
    order: dict[str, None] = {}
    for name in _MODULES:
        # modules.dep lists the most basic dependency last.
        order |= dict.fromkeys([*reversed(needs[paths[name]].split()), paths[name]])
    (first / "lib/firmware").mkdir(parents=True)
    for one in order:
        shutil.copy(kernel / one, first / Path(one).name)
    for one in ("regulatory.db", "regulatory.db.p7s"):
        shutil.copy(root / f"lib/firmware/{one}-debian", first / "lib/firmware" / one)
    shutil.copy(busybox, first / "busybox")
    (first / "modules").write_text("".join(f"/{Path(one).name}\n" for one in order))
    (first / "init").write_text(_INIT % Path(__file__).resolve())
    (first / "init").chmod(0o755)
    pack = f"cd {first}; find . | ./busybox cpio -o -H newc | gzip > {directory}/first.gz"
    subprocess.run(pack, shell=True, check=True, stderr=subprocess.DEVNULL)
    libraries = f"{root}/usr/lib/x86_64-linux-gnu:{root}/lib/x86_64-linux-gnu"
    folder = "local,security_model=none,multidevs=remap"
    return [
        *("env", f"LD_LIBRARY_PATH={libraries}", str(root / "usr/bin/qemu-system-x86_64")),
        *("-L", f"{root}/usr/share/qemu", "-L", f"{root}/usr/share/seabios", "-accel", "tcg"),
        *("-m", "768", "-nographic", "-no-reboot", "-nic", "none"),
        *("-kernel", str(root / "boot" / f"vmlinuz-{kernel.name}")),
        *("-initrd", f"{directory}/first.gz", "-append", "console=ttyS0 quiet rdinit=/init"),
        *("-virtfs", f"{folder},path=/,mount_tag=host,readonly=on"),
        *("-virtfs", f"{folder},path={directory}/share,mount_tag=share"),
    ]


def main() -> None:
    """Write the rows to standard output."""
    root = Path(__file__).parents[2]
    sys.path.insert(0, str(root / "tests"))
    from debian import fetch_program
    from test_import_hostapd import RADIOS

    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        share = directory / "share"
        (share / "sid").mkdir(parents=True)
        newer = fetch_program(
            share / "sid", "sid", "usr/sbin/hostapd", "hostapd", *_LIBRARIES, "zlib1g", "libzstd1"
        )
        programs = {
            "2.10": ["/usr/sbin/hostapd"],
            "2.11": [one.replace(str(share), "/mnt") for one in newer],
        }
        texts = {
            key: re.sub(r"(?m)^(interface|driver|country_code)=.*\n", "", text)
            + ("" if "ssid=" in text else "ssid=example\n")
            for key, text in RADIOS.items()
        }
        (share / "told.json").write_text(json.dumps({"programs": programs, "texts": texts}))
        subprocess.run(_machine(directory), check=True, stdout=sys.stderr, timeout=1800)
        rows = json.loads((share / "rows.json").read_text())
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(["configuration", "hostapd", "formats", "width_mhz", "guard_ns", "wmm"])
    writer.writerows(rows)


if __name__ == "__main__":
    inside() if sys.argv[1:] == ["inside"] else main()
