"""Captures of frames: a scenario of what was on the air, or on the wire beside it.

    blocks       pcap and pcapng as a stream of records
    radiotap     rate, format, channel and FCS of a frame
    frames       IEEE 802.11, Ethernet and IP headers: whose packet it is
    transfers    where one ends and the next begins
    streams      data that follow each other without headers that can be read, and datagrams
    connections  TCP: transfers, windows, ACKs, what was sent again
    network      stations of a basic service set, and what each was seen to do
    laws         sizes and times by the values that were seen, some of them cut off by the end
    groups       stations that are alike
    radio        standard, widths, rates
    draft        the scenario that is written of it

Simulates nothing. What is read is never held as a whole: memory grows with stations, connections
under way and transfers, not with frames.
"""
