"""Real questions to try a cache on, and the order in which people repeat them.

Data is read from the package itself; nothing here downloads, and nothing knows of the cache.
"""
