"""What every test stands on: no network, and one thread to a model, since workers share the cores.

Set before anything imports torch or the hub's client; a subprocess inherits it.
"""

import os

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"
