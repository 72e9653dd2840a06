"""Captures of frames: a scenario of the traffic on the medium, or on the link behind the AP.

    blocks       pcap and pcapng as a stream of records
    radiotap     rate, format, channel and FCS of a frame
    frames       IEEE 802.11, Ethernet and IP headers
    transfers    where one transfer ends and the next begins
    streams      data without readable headers, and datagrams
    connections  TCP: transfers, windows, ACKs, retransmissions
    network      the stations of a basic service set, and their traffic
    laws         empirical distributions of sizes and times, corrected for cut-off values
    groups       stations that are alike
    radio        standard, widths, rates
    draft        the scenario of a capture

A capture is never held in memory as a whole: memory grows with stations, open connections and
transfers, not with frames.
"""
