"""Records of a replication in columns: the same values, in an eighth of the memory."""

import json
import tracemalloc
from typing import Any

import pytest
from airtcp.results.records import Records, kept

STATIONS: list[dict[str, Any]] = [
    {"name": f"laptop/{index}", "goodput_bps": 1.5 * index, "attempts": index, "mean_cw": mean_cw}
    for index, mean_cw in enumerate([31.0, None, 47.5])
]


def test_records_come_back_as_they_were() -> None:
    records = Records(STATIONS)
    assert records == STATIONS == list(records) == [records[0], *records[1:]]
    assert (records[-1], records[-3], len(records)) == (STATIONS[2], STATIONS[0], 3)
    # Types too: JSON tells 2 from 2.0, None from NaN and True from 1.
    assert json.dumps(records, default=list) == json.dumps(STATIONS)
    for beyond in (3, -4):
        with pytest.raises(IndexError):
            records[beyond]
    # An answer keeps values that are not lists of records.
    answer = {"metrics": {"x": 1.0}, "stations": STATIONS, "flows": [], "series": [1.0, 2.0]}
    compact = kept(answer)
    assert compact == answer
    assert (type(compact["stations"]), type(compact["series"])) == (Records, list)


def test_a_station_takes_less_than_150_bytes_a_replication() -> None:
    """A dictionary of eight numbers took 900. Here they take eight bytes each."""
    count, replications = 500, 20
    numbers = [{f"number{key}": place + 0.5 for key in range(8)} for place in range(count)]
    text = json.dumps([{"name": f"s/{place}", **of} for place, of in enumerate(numbers)])
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    all_records = [Records(json.loads(text)) for _ in range(replications)]
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(all_records) == replications
    # Names are stored once, some 60 bytes each: 3 per replication.
    assert (after - before) / (count * replications) < 8 * (8 + 1) + 15
