"""Scenarios of what there is: configurations of access points, and measurements of programs.

    source         a file as text, and the errors about it
    draft          the scenario that is written, key by key, with the reason of each
    options        a verdict on each option of the programs (options.toml)
    hostapd        hostapd.conf; hostapd_radio: what hostapd leaves in use
    uci            OpenWrt's /etc/config/wireless
    iperf3, flent  tests of TCP and UDP; marks: DSCP and access categories
    iw, ping       stations, channels and round trips as tools print them
    survey         site surveys and scans
    table          measured values in a CSV file
    together       several measurements as one
    files          the kind of a file, and the scenarios of several
    capture        captures of frames

Simulates nothing, and knows no keys but those that it writes: a draft is loaded before it is given.
"""
