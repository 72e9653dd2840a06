"""Results for people: words on a terminal, pictures, pages.

    summary                   the text on a terminal
    plot, plot_trace          the pictures of a result and of a trace
    report                    the page report.html and the files beside it
    drawing, markup, style    how pictures and pages look

The only room that knows colours and words. Computes no results.
"""
