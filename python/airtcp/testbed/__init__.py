"""Real TCP and real programs through the simulated air, in real time (docs/laboratory/testbed.md).

`site` says which networks, addresses and settings of the kernel a scenario asks for, and what it
asks for that a kernel does not do; `network` makes them; `air` is the thread that carries their
packets; `programs` are what makes the traffic; `bench` puts them together and measures, `shell`
runs any command.
"""
