"""Real TCP and real programs over the simulated network, in real time (docs/howto/testbed.md).

`site` maps a scenario to networks, addresses and kernel settings, and lists what a kernel cannot
do. `network` creates the networks. `carrier` is the thread that carries their packets. `programs`
are the traffic generators. `bench` combines them and measures, and `shell` runs any command.
"""
