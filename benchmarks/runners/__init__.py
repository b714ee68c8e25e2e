"""What is measured: each library in an environment of its own, driven as its documentation says.

``NAME.txt`` beside a runner pins what its environment holds; ``make peers`` builds them.
"""
