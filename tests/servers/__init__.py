"""A model service on loopback that refuses what the real ones refuse, and plays whatever a script says."""

from tests.servers.loopback import LoopbackServer
from tests.servers.script import Call, Drop, Raw, Refuse, Reply, Step, Wire, load_steps

__all__ = ["Call", "Drop", "LoopbackServer", "Raw", "Refuse", "Reply", "Step", "Wire", "load_steps"]
