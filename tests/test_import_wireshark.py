"""Captures of Wireshark's own tests, which are in the source package of Debian."""

import tarfile
import tomllib
from pathlib import Path

import pytest
from airtcp.exceptions import AirtcpError, ScenarioError
from debian import fetch_source
from imported import draft_of

pytestmark = [pytest.mark.verify, pytest.mark.timeout(1800)]


@pytest.fixture(scope="module")
def captures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the directory `test/captures` of Debian's source of Wireshark."""
    directory = tmp_path_factory.mktemp("wireshark")
    fetch_source(directory, "bookworm", "wireshark")
    (archive,) = directory.glob("wireshark_*.orig.tar.*")
    with tarfile.open(archive) as packed:
        members = [one for one in packed if one.isfile() and "/test/captures/" in one.name]
        packed.extractall(directory, members=members, filter="data")
    (found,) = directory.glob("*/test/captures")
    return found


def test_each_is_imported_or_refused_with_one_line(captures: Path) -> None:
    imported, refused = [], {}
    for path in sorted(captures.iterdir()):
        try:
            draft_of([path]).text()
        except AirtcpError as error:
            refused[path.name] = str(error)
        else:
            imported.append(path.name)

    assert all(len(said.splitlines()) == 1 for said in refused.values())
    # Version 4.0.17 has 133 files, of which 92 are captures of more than one frame.
    print(f"{len(imported)} imported, {len(refused)} refused")
    assert len(imported) > len(refused)
    assert not [name for name, said in refused.items() if "no scenario follows" in said]


@pytest.mark.parametrize(("name", "standard"), [
    ("wpa-Induction.pcap.gz", "802.11g"),
    ("wpa-eap-tls.pcap.gz", "802.11g"),
    ("wpa-test-decode-mgmt.pcap.gz", "802.11n"),
    ("wep.pcapng.gz", "802.11b"),
    ("owe.pcapng.gz", "802.11b"),
])  # fmt: skip
def test_frames_of_the_air_say_the_standard(captures: Path, name: str, standard: str) -> None:
    found = tomllib.loads(draft_of([captures / name]).text())

    assert found["phy"]["standard"] == standard


def test_encrypted_frames_are_told(captures: Path) -> None:
    assert "data frames are encrypted" in draft_of([captures / "wpa-Induction.pcap.gz"]).text()


@pytest.mark.parametrize(("name", "said"), [
    ("empty.pcap", "with no frame"),
    ("arp.pcap", "frames of link type 107, which is not supported"),
    ("dvb-ci_UV1_0000.pcap", "frames of link type 235, which is not supported"),
    ("ipx_rip.pcap", "frames without an IP packet"),
    ("logistics_multicast.pcapng", "or multicast"),
    ("http.pcap", "all frames have the same time"),
    ("sipmsg.log", "not a kind of file"),
])  # fmt: skip
def test_others_are_refused_with_the_reason(captures: Path, name: str, said: str) -> None:
    with pytest.raises(ScenarioError, match=said):
        draft_of([captures / name])
