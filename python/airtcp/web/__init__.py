"""The page: a scenario on sliders, models that follow them, simulation beside.

    serve       the server as a process            limits      what the pages may cost
    app         addresses and statuses             guard       who may ask
    bodies      what a page sends                  uploads     files that a scenario may name
    pool, jobs  workers that answer, and that run  worker      one of them
    turns       whose run is next                  confine     what workers cannot
    work        what they do                       card        a result, to be sent on
    sources     a scenario from the network        written     its TOML
    stores      results of sweeps
    fields      its controls                       views       what a page shows
    static      the page itself: HTML, style sheet, modules of JavaScript

The server itself never reads a scenario: every question and every run is done by a worker process
with bounds on time and memory, so that none of them can keep the others waiting for long. Nothing
but `airtcp.cli` imports this room.
"""
