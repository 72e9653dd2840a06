"""The web page: a scenario on sliders, with models that follow them and simulation on request.

    serve       the server as a process            limits      resource limits of the pages
    app         URLs and status codes              guard       access control
    bodies      request bodies                     uploads     files that a scenario may name
    pool, jobs  workers for questions and runs     worker      a worker process
    turns       which run is next                  confine     restrictions of workers
    work        the work of workers                card        a result to share
    sources     a scenario from the network        written     its TOML
    stores      results of sweeps
    fields      the controls                       views       data for display
    static      the page itself: HTML, style sheet, JavaScript modules

The server itself never reads a scenario: worker processes with limits on time and memory do all
questions and runs, so that none of them can block the others for long. Only `airtcp.cli` imports
this package.
"""
