"""Logging in, done: what a flow of ``syncline.auth`` asks for is fetched, shown to people and kept here."""
