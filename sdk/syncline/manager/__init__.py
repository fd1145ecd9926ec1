"""Many servers: their connections, one catalogue of what they offer, and who answers what they ask."""
