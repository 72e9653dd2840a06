"""Create scenarios from configurations of access points and from measurements.

    source         a file as text, and errors about it
    draft          the scenario being written, key by key, with the reason for each
    options        a verdict on each option of the programs (options.toml)
    hostapd        hostapd.conf; hostapd_radio: the radio settings that hostapd really uses
    uci            OpenWrt's wireless configuration; uci_sections: its sections in several forms
    iperf3, flent  tests of TCP and UDP; marks: DSCP and access categories
    iw, ping       stations, channels and round trips as tools print them
    survey         site surveys; scans: the scans of iw, netsh and nmcli
    table          measured values in a CSV file
    files          the kind of a file, and the scenarios and measurements of several files
    capture        captures of frames

A draft is loaded as a scenario before it is returned, to check it.
"""
