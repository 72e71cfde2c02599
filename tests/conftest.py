"""What every test stands on: no network, one thread to a model, and no haste.

Workers share the cores. Set before anything imports torch or the hub's client; a subprocess
inherits it. A property that a busy machine tests slowly holds all the same.
"""

import os

from hypothesis import HealthCheck, settings

settings.register_profile("unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unhurried")

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"
