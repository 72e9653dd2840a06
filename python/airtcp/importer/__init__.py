"""Scenarios of what there is: configurations of access points, and measurements of programs.

    source     a file as text, and the errors about it
    draft      the scenario that is written, key by key, with the reason of each
    hostapd    hostapd.conf
    uci        OpenWrt's /etc/config/wireless
    iperf3     the JSON of iperf3
    flent      the data files of flent
    table      measured values in a CSV file
    files      the kind of a file, and one scenario of several

Simulates nothing, and knows no keys but those that it writes: a draft is loaded before it is given.
"""
