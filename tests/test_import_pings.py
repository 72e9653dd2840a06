"""Logs of ping and fping: round trips and losses, of any program and in any language."""

from __future__ import annotations

from pathlib import Path

import pytest
from airtcp.exceptions import ScenarioError
from airtcp.importer.files import measurement_of
from imported import read, written

PING = """PING server.example (192.0.2.1) 56(84) bytes of data.
64 bytes from 192.0.2.1: icmp_seq=1 ttl=60 time=21.0 ms
64 bytes from 192.0.2.1: icmp_seq=2 ttl=60 time=20.0 ms
64 bytes from 192.0.2.1: icmp_seq=4 ttl=60 time=95.5 ms

--- server.example ping statistics ---
4 packets transmitted, 3 received, 25% packet loss, time 3004ms
rtt min/avg/max/mdev = 20.000/45.500/95.500/1.0 ms
"""


def test_another_tool_s_log_is_no_ping(tmp_path: Path) -> None:
    text = "Start: 2026\nHOST: me  Loss%  Snt  Last\n  1.|-- 192.0.2.1  0.0%  10  1.2\n"

    with pytest.raises(ScenarioError, match="not a kind of file"):
        read(tmp_path, text)


#: Logs, and the expected minimum round trip, number of pings, and losses.
LOGS = [
    (PING, "20 ms", 4, 1),
    ("192.0.2.1 : [0], 64 bytes, 12.5 ms (12.5 avg, 0% loss)\n"
     "192.0.2.1 : [1], timed out (12.5 avg, 50% loss)\n", "12.5 ms", 2, 1),
    ("192.0.2.1 : 12.5 - 14.1\n", "12.5 ms", 3, 1),
    ("Reply from 192.0.2.1: bytes=32 time=11ms TTL=60\nRequest timed out.\n", "11 ms", 2, 1),
    ("[1795868451.1] 64 bytes from 192.0.2.1: icmp_seq=1 ttl=64 time=12.3 ms\n"
     "[1795868452.1] no answer yet for icmp_seq=2\n", "12.3 ms", 2, 1),
    ("[1795868451.1] 192.0.2.1 : [0], 64 bytes, 12.3 ms (12.3 avg, 0% loss)\n",
     "12.3 ms", 1, 0),
    # Windows in another language, and summaries only.
    ("Antwort von 192.0.2.1: Bytes=32 Zeit=12ms TTL=64\n"
     "    Pakete: Gesendet = 3, Empfangen = 1, Verloren = 2\n"
     "    (66% Verlust),\n", "12 ms", 3, 2),
    ("Antwort von 192.0.2.1: Bytes=32 Zeit=12ms TTL=64\n"
     "    Pakete: Gesendet = 3, Empfangen = 1, Verloren = 2 (66% Verlust),\n", "12 ms", 3, 2),
    ("--- 192.0.2.1 ping statistics ---\n100 packets transmitted, 98 received, 2% packet loss\n"
     "rtt min/avg/max/mdev = 12.300/13.200/44.100/0.900 ms\n", "12.3 ms", 100, 2),
    ("192.0.2.1 : xmt/rcv/%loss = 100/97/3%, min/avg/max = 12.3/13.3/44.3\n",
     "12.3 ms", 100, 3),
    # These were not known when the rules were written.
    ("64 bytes from 192.0.2.1: icmp_seq=0 ttl=60 time=8.123 ms\n"
     "Request timeout for icmp_seq 1\n", "8.12 ms", 2, 1),
    ("64 bytes from host (192.0.2.1): icmp_seq=1 ttl=64 time=0.043 ms\n", "0.043 ms", 1, 0),
]  # fmt: skip


#: Logs by language and program: minimum round trip, pings, and losses.
LOCALES = {
    "de": ("64 Bytes von a (192.0.2.1): icmp_seq=1 ttl=246 Zeit=15,2 ms\n"
           "64 Bytes von a (192.0.2.1): icmp_seq=2 ttl=246 Zeit=14,0 ms\n\n"
           "3 Pakete übertragen, 2 empfangen, 33,3333% Paketverlust, Zeit 1001ms\n", "14", 3, 1),
    "ru": ("64 байт из 192.0.2.1: icmp_seq=1 ttl=64 время=21.3 мс\n"
           "3 пакетов передано, 1 получено, 66.6667% packet loss, время 1001мс\n", "21.3", 3, 2),
    "zh": ("64 字节，来自 192.0.2.1: icmp_seq=1 ttl=64 时间=3.21 毫秒\n\n"
           "已发送 2 个包， 已接收 1 个包, 50% packet loss, time 1001ms\n", "3.21", 2, 1),
    "Windows ru": ("Ответ от 192.0.2.1: число байт=32 время=13мс TTL=64\n"
                   "Превышен интервал ожидания для запроса.\n"
                   "Ответ от 192.0.2.1: число байт=32 время=15мс TTL=64\n\n"
                   "    Пакетов: отправлено = 3, получено = 2, потеряно = 1\n"
                   "    Минимальное = 13мсек, Максимальное = 15 мсек, Среднее = 14 мсек\n",
                   "13", 3, 1),
    "Windows ja": ("192.0.2.1 からの応答: バイト数 =32 時間 =13ms TTL=64\n"
                   "要求がタイムアウトしました。\n\n"
                   "    パケット数: 送信 = 2、受信 = 1、損失 = 1 (50% の損失)、\n", "13", 2, 1),
    "Windows es without a summary": (
        "Haciendo ping a 192.0.2.1 con 32 bytes de datos:\n"
        "Tiempo de espera agotado para esta solicitud.\n"
        "Respuesta desde 192.0.2.1: bytes=32 tiempo=13ms TTL=64\n"
        "Tiempo de espera agotado para esta solicitud.\n", "13", 3, 2),
    # Windows counts the router's reply as received.
    "unreachable": ("Pinging 192.0.2.9 with 32 bytes of data:\n"
                    "Reply from 192.0.2.5: Destination host unreachable.\n"
                    "Reply from 192.0.2.9: bytes=32 time=13ms TTL=64\n\n"
                    "    Packets: Sent = 2, Received = 2, Lost = 0 (0% loss),\n", "13", 2, 1),
    "IPv6": ("Antwort von fe80::1%5: Zeit=13ms\nAntwort von fe80::1%5: Zeit<1ms\n", "1", 2, 0),
    "twice": ("64 bytes from 192.0.2.1: icmp_seq=1 ttl=64 time=21.3 ms\n"
              "64 bytes from 192.0.2.1: icmp_seq=1 ttl=64 time=95.3 ms (DUP!)\n"
              "2 packets transmitted, 1 received, +1 duplicates, 50% packet loss, time 1001ms\n",
              "21.3", 2, 1),
    "a gap": ("64 bytes from 192.0.2.1: icmp_seq=1 ttl=64 time=21.3 ms\n"
              "64 bytes from 192.0.2.1: icmp_seq=4 ttl=64 time=22.3 ms\n", "21.3", 4, 2),
}  # fmt: skip


def test_summaries_of_one_path_add_up(tmp_path: Path) -> None:
    """fping -l -Q: 10 pings of 2 ms and 30 of 4 ms have a mean of 3.5 ms."""
    row = "192.0.2.1 : xmt/rcv/%loss = {0}/{0}/0%, min/avg/max = {1}/{2}/{3}\n"
    text = "[09:20:34]\n" + row.format(10, 1, 2, 3) + "[09:20:44]\n" + row.format(30, 2, 4, 9)

    (line,) = measurement_of(written(tmp_path, text)).others

    assert [part for part in ("1 ms", "3.5 ms", "9 ms", "0 of 40") if part not in line] == []


def test_a_code_page_is_read_and_two_hosts_are_not(tmp_path: Path) -> None:
    path = tmp_path / "ping.txt"
    path.write_bytes(
        "Ping wird ausgeführt:\nAntwort von 192.0.2.1: Zeit=9ms TTL=6\n".encode("cp850")
    )
    assert "shortest 9 ms" in measurement_of(path).others[0]

    for text in ("a : [0], 84 bytes, 2.3 ms\nb : [0], 84 bytes, 5.3 ms\n", "a : 12.5\nb : 14.1\n"):
        with pytest.raises(ScenarioError, match="pings of 2 hosts"):
            measurement_of(written(tmp_path, text))


def test_half_of_the_least_ping_is_the_path(tmp_path: Path) -> None:
    found = read(tmp_path, "hw_mode=a\nchannel=36\n", PING)

    assert found["flows"][0]["path"] == [{"delay": "10 ms"}]


@pytest.mark.parametrize(("text", "least", "count", "lost"), [*LOGS, *LOCALES.values()])
def test_logs_of_pings_are_round_trips_in_any_language(
    tmp_path: Path, text: str, least: str, count: int, lost: int
) -> None:
    (line,) = measurement_of(written(tmp_path, text)).others
    assert f"shortest {least.removesuffix(' ms')} ms," in line
    assert f"{lost} of {count} lost" in line
