"""Many event subscriptions against a server on which everything goes wrong."""
