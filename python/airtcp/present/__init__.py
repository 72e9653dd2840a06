"""Present results to people: terminal text, pictures, HTML pages.

    summary                   the text on a terminal
    plot, plot_trace          the pictures of a result and of a trace
    report                    the page report.html and the files next to it
    drawing, markup, style    the look of pictures and pages

This package computes no results.
"""
