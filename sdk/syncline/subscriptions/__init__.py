"""Event streams on connections of their own, and a manager of many: rooms for those who make clients."""
