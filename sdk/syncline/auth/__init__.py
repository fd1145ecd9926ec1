"""Who we are: what is sent with requests to prove it, and what is done when a server does not take it."""
