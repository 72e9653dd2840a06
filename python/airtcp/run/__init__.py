"""Simulation: replications on threads, how many, and from when on they count.

    simulate, replications    a scenario through the packet-level core
    warmup                    from when on a run is in its steady state
    flows                     the flow-level simulator, processor sharing

The only room that calls the compiled core. Knows no models and nothing of how results are shown.
"""
