"""The models that users see (provisional)."""
from syncline_wire.v2026_07_28 import *  # noqa
