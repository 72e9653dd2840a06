"""Second opinions: slow, plain programs and stored results of other simulators.

Nothing here imports airtcp, so that nothing here can share a mistake with it.
"""
