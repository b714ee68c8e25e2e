"""The vendors' wires: what goes out, what comes back, and what it means.

Each wire is one module of plain functions: ``encode`` builds the request body, ``decode`` reads the response
body, ``assemble`` folds a stream of events into the body that the unary form would have had, ``call`` sends
through the vendor's own client. Facts about vendors come from ``providers/*.toml``.
"""
